"""Who may ask a question that another worker has claimed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.judges.limits import Budget
from ragstone.scale import coordinator
from ragstone.scale.coordinator import BUSY, YOURS, Coordinator

WAIT_SECONDS = 0.05


def wait_for_other(monkeypatch: pytest.MonkeyPatch, alive: list[set[str]]) -> str:
    """What worker b is told of a question that worker a has claimed; `alive` are the workers at each look, the last for all later ones."""
    monkeypatch.setattr(coordinator, "CLAIM_WAIT_SECONDS", WAIT_SECONDS)
    monkeypatch.setattr(coordinator, "LIVENESS_CHECK_SECONDS", WAIT_SECONDS / 5)
    looks = iter(alive)
    last = alive[-1]
    store: Any = SimpleNamespace(replies=lambda keys, run: {})
    job: Any = SimpleNamespace(run="r")
    shared = Coordinator(job, store, "judge", Budget(), lambda: next(looks, last))

    async def claim() -> str:
        assert await shared._claim_questions(shared.token, "a", ["key"]) == [[YOURS]]
        status: str = (await shared._wait_for_worker(shared.token, "b", "key"))[0]
        return status

    return asyncio.run(claim())


def test_a_worker_that_joins_late_keeps_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wait_for_other(monkeypatch, [{"b"}, {"b"}, {"a", "b"}]) == BUSY


def test_the_question_of_a_worker_that_died_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wait_for_other(monkeypatch, [{"a", "b"}, {"b"}]) == YOURS


def test_a_worker_that_nobody_ever_saw_is_given_up_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert wait_for_other(monkeypatch, [{"b"}]) == YOURS
