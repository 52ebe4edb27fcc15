"""Counts of refusals on their way into the store."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.errors import StoreError
from ragstone.server.app import _flush_counts


async def _begun(intake: Any) -> asyncio.Task[None]:
    task = asyncio.create_task(_flush_counts(intake))
    await asyncio.sleep(0)
    return task


def test_counts_stay_in_sight_until_the_store_has_them() -> None:
    async def check() -> None:
        written: Future[None] = Future()
        intake = SimpleNamespace(
            counts=Counter(refused_token=2), archive=SimpleNamespace(count=lambda _: written)
        )
        task = await _begun(intake)
        assert intake.counts == {"refused_token": 2}
        intake.counts["refused_token"] += 1  # one more meanwhile
        written.set_result(None)
        await task
        assert intake.counts == {"refused_token": 1}

    asyncio.run(check())


def test_a_store_that_is_away_loses_no_count() -> None:
    async def check() -> None:
        written: Future[None] = Future()
        intake = SimpleNamespace(
            counts=Counter(refused_token=2), archive=SimpleNamespace(count=lambda _: written)
        )
        task = await _begun(intake)
        written.set_exception(StoreError("away"))
        with pytest.raises(StoreError):
            await task
        assert intake.counts == {"refused_token": 2}

    asyncio.run(check())
