"""The judge's calls behind a stored sample, found again without asking anybody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from ragstone.asks import Answered, Ask, Reply
from ragstone.config import Plan
from ragstone.data import read
from ragstone.engine.identity import identify_reply
from ragstone.engine.replay import replay_calls
from ragstone.engine.sample_scoring import score_sample
from ragstone.judges.factory import make_judge
from ragstone.metrics import resolve
from ragstone.metrics.scoring import build_starter
from ragstone.store import NewRow, RunInfo, Store, StoredRun, to_metric_record
from ragstone.types import Usage

ROW = {
    "id": "q1",
    "question": "How long may I return it?",
    "answer": "You may return it within 30 days.",
    "contexts": [{"id": "a", "text": "Returns are taken within 30 days of delivery."}],
}
JUDGE = {"model": "openai:big", "base_url": "http://127.0.0.1:9/v1"}


def store_run(store: Store, judge: object, *, payer: str) -> StoredRun:
    """A run whose replies the embedded judge gave, kept as those of the named one."""
    metric = resolve("faithfulness")
    embedded = make_judge("offline")

    class Keeper:
        async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
            answers = await embedded.answer(asks)
            for ask, answer in zip(asks, answers, strict=True):
                assert isinstance(answer, Reply)
                kept = Reply(answer.value, Usage(2, 120, 30, 0.25), seconds=1.25)
                key = identify_reply(ask, make_judge(judge, missing_keys=[]))
                store.save_reply(key, kept, run=payer, kind=ask.kind, judge="openai:big").result()
            return answers

    reading = read([ROW])
    sample = next(iter(reading)).sample
    scores = asyncio.run(
        score_sample(sample, {metric.name: metric}, {metric.name: build_starter(metric)}, Keeper())
    )
    info = RunInfo(
        id="r1", name="r1", created="2026-05-01T10:00:00+00:00", status="running", plan=Plan(judge=judge),  # type: ignore[arg-type]
        shape=reading.shape, source="rows", format=reading.format, metrics=(to_metric_record(metric),), judge="openai:big",
    )  # fmt: skip
    run = store.create(info)
    store.append("r1", [NewRow(1, "q1", None, json.dumps(ROW), scores)]).result()
    return run


def test_calls_are_found_with_prompt_reply_and_cost(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    run = store_run(store, JUDGE, payer="r1")
    calls = replay_calls(run, run.row(1))
    assert [call.ask.kind for call in calls] == ["claims", "support"]
    assert all(call.is_own and call.stored is not None for call in calls)
    support = calls[-1]
    assert support.prompt is not None
    assert "Returns are taken within 30 days" in support.prompt[1]
    assert support.stored is not None
    assert support.stored.usage == Usage(2, 120, 30, 0.25)
    assert support.stored.reply.seconds == 1.25
    assert support.stored.reply.value["verdicts"][0]["verdict"] == "supported"


def test_replies_of_another_run_came_from_the_store(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    run = store_run(store, JUDGE, payer="earlier")
    assert [call.is_own for call in replay_calls(run, run.row(1))] == [False, False]


def test_a_call_without_a_reply_is_shown_as_failed(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    run = store_run(store, JUDGE, payer="r1")
    store.write(lambda db: db.execute_many("DELETE FROM replies WHERE kind = ?", [("support",)])).result()  # fmt: skip
    assert [call.stored is None for call in replay_calls(run, run.row(1))] == [False, True]


def test_judges_on_this_machine_and_code_of_users_are_not_started(tmp_path: Path) -> None:
    for number, judge in enumerate(("offline", "python:os:abort", "gguf:/nowhere/model.gguf")):
        store = Store.open(tmp_path / f"{number}.db")
        run = store_run(store, JUDGE, payer="r1")
        run.info = type(run.info)(**{**{name: getattr(run.info, name) for name in run.info.__slots__}, "plan": Plan(judge=judge)})  # fmt: skip
        assert replay_calls(run, run.row(1)) == []
