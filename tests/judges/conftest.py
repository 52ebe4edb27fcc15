"""Servers that stop with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from faults.server import Behaviour, FaultServer


@pytest.fixture
def serve() -> Iterator[Callable[..., FaultServer]]:
    """Starts servers, and stops them after the test."""
    started: list[FaultServer] = []

    def start(*behave: Behaviour, **more: Any) -> FaultServer:
        started.append(FaultServer(*behave, **more))
        return started[-1]

    yield start
    for server in started:
        server.close()
