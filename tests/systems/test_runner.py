"""Systems are asked once, in order, with patience; what they break stays theirs."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import Dataset, read
from ragstone.errors import DataError
from ragstone.experiments.run import evaluate
from ragstone.store import Store
from ragstone.systems import (
    AnswerProgress,
    SystemFault,
    SystemReply,
    SystemRunner,
    answer_dataset,
    make_system,
)
from ragstone.types import Sample
from waiting import LIMIT_SECONDS


@pytest.fixture
def store() -> Iterator[Store]:
    opened = Store.open(":memory:")
    yield opened
    opened.close()


def questions(count: int = 12) -> list[dict[str, Any]]:
    return [
        {"id": f"q{n}", "question": f"What is {n}?", "reference": f"{n}", "relevant": [f"d{n}"]}
        for n in range(count)
    ]


def answered(system: Any, store: Store, run: str = "r", **options: Any) -> Dataset:
    rows = options.pop("rows", None) or questions()
    source = read(rows)
    return asyncio.run(
        answer_dataset(source, SystemRunner(make_system(system), store, run, **options))
    )


def right(question: str) -> dict[str, Any]:
    number = question.removeprefix("What is ").removesuffix("?")
    return {"answer": number, "contexts": [{"id": f"d{number}", "text": f"It is {number}."}]}


def test_answers_come_in_the_order_of_the_questions(store: Store) -> None:
    async def slow(question: str) -> dict[str, Any]:
        await asyncio.sleep(random.random() / 50)
        return right(question)

    samples = [record.sample for record in answered(slow, store, concurrency=6)]
    assert [sample.answer for sample in samples] == [str(n) for n in range(12)]
    assert [sample.contexts.ids for sample in samples if sample.contexts] == [
        [f"d{n}"] for n in range(12)
    ]


def test_no_more_questions_are_under_way_than_allowed(store: Store) -> None:
    lock, now, most = threading.Lock(), 0, 0
    three = threading.Barrier(3)

    def busy(question: str) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        three.wait()  # until two others are under way; a fourth would be counted
        with lock:
            now -= 1
        return question

    answered(busy, store, concurrency=3)
    assert most == 3


def test_a_second_run_does_not_ask_again(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "counted.py"
    path.write_text(
        "calls = []\ndef ask(question):\n    calls.append(question)\n    return question\n"
    )
    first = list(answered(f"{path}:ask", store))
    system = make_system(f"{path}:ask")
    filling = SystemRunner(system, store, "another run")
    second = list(asyncio.run(answer_dataset(read(questions()), filling)))
    assert filling.asked == 0
    assert [record.row for record in first] == [record.row for record in second]


def test_an_edited_system_is_asked_again(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    path.write_text("def ask(question):\n    return 'old'\n")
    before = make_system(f"{path}:ask")
    asyncio.run(answer_dataset(read(questions()), SystemRunner(before, store, "a")))
    path.write_text("def ask(question):\n    return 'new'\n")
    again = SystemRunner(make_system(f"{path}:ask"), store, "b")
    asyncio.run(answer_dataset(read(questions()), again))
    assert again.asked == 12


def test_other_parameters_are_another_system(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "tuned.py"
    path.write_text("def ask(question, *, top_k=3):\n    return f'{top_k}'\n")
    answers = [
        next(iter(answered(make_system(f"{path}:ask", top_k=k), store))).sample.answer
        for k in (3, 5)
    ]
    assert answers == ["3", "5"]


def test_the_same_question_is_asked_once_in_a_run(store: Store) -> None:
    calls = []

    async def ask(question: str) -> str:
        calls.append(question)
        await asyncio.sleep(0.01)
        return f"{len(calls)}"

    rows = [{"id": str(n), "question": "Again?"} for n in range(20)]
    samples = [record.sample for record in answered(ask, store, rows=rows)]
    assert len(calls) == 1
    assert {sample.answer for sample in samples} == {"1"}


def test_a_system_never_sees_what_is_wanted(store: Store) -> None:
    seen: list[Sample] = []

    def look(question: str, sample: Sample) -> str:
        seen.append(sample)
        return "x"

    answered(look, store)
    assert {sample.id for sample in seen} == {f"q{n}" for n in range(12)}
    assert all(sample.reference is None and sample.relevant is None for sample in seen)


# ── planted faults ────────────────────────────────────────────────────────────────────────


def outcomes(system: Callable[..., Any], store: Store, **options: Any) -> dict[str, Any]:
    reading = answered(system, store, timeout=options.pop("timeout", 5), **options)
    run = evaluate(reading, ["token_f1", "recall", "mrr", "abstention_accuracy"], store=store)
    return {metric.metric: metric for metric in run.summary().metrics}


def test_a_system_that_raises_fails_its_samples_and_no_more(store: Store) -> None:
    def sometimes(question: str) -> dict[str, Any]:
        if "1" in question:
            raise ValueError("one is\nnot liked")
        return right(question)

    found = outcomes(sometimes, store)["token_f1"]
    assert (found.scored, found.mean) == (9, 1.0)
    assert found.outcomes == {"system_error": 3}
    assert list(found.reasons) == ["ValueError: one is not liked"]


def test_a_system_that_hangs_is_given_up(store: Store) -> None:
    never = threading.Event()

    def hang(question: str) -> dict[str, Any]:
        if "5" in question:
            never.wait(LIMIT_SECONDS)
        return right(question)

    found = outcomes(hang, store, timeout=3)["token_f1"]
    assert found.outcomes == {"system_error": 1}
    assert list(found.reasons) == ["no answer within 3 s"]
    never.set()


def test_an_async_system_that_hangs_is_given_up(store: Store) -> None:
    async def hang(question: str) -> str:
        await asyncio.sleep(60)
        return question

    found = outcomes(hang, store, timeout=0.1)["token_f1"]
    assert found.outcomes == {"system_error": 12}


def test_a_system_that_exits_does_not_end_the_run(store: Store) -> None:
    def leave(question: str) -> str:
        raise SystemExit(3)

    found = outcomes(leave, store, retries=0)["token_f1"]
    assert found.outcomes == {"system_error": 12}


def test_retrieving_nothing_is_a_score_of_zero_not_an_error(store: Store) -> None:
    found = outcomes(lambda question: {"answer": "x", "contexts": []}, store)
    assert (found["recall"].mean, found["recall"].scored) == (0.0, 12)


def test_always_refusing_is_counted_as_false_refusals(store: Store) -> None:
    found = outcomes(lambda question: "It is not mentioned in the document.", store)
    assert found["abstention_accuracy"].labels["false_refusal"] == 12


def test_inventing_and_shuffling_show_in_their_own_metrics(store: Store) -> None:
    def invents(question: str) -> dict[str, Any]:
        return {**right(question), "answer": "seventeen purple elephants"}

    def shuffled(question: str) -> dict[str, Any]:
        wrong = [{"id": f"x{n}", "text": "no"} for n in range(4)]
        return {**right(question), "contexts": [*wrong, *right(question)["contexts"]]}

    invented, moved = outcomes(invents, store), outcomes(shuffled, store)
    assert (invented["token_f1"].mean, invented["recall"].mean) == (0.0, 1.0)
    assert (moved["token_f1"].mean, moved["recall"].mean, moved["mrr"].mean) == (1.0, 1.0, 0.2)


# ── patience ──────────────────────────────────────────────────────────────────────────────


def test_a_fault_that_passes_is_asked_again(store: Store) -> None:
    calls: dict[str, int] = {}

    def flaky(question: str) -> str:
        calls[question] = calls.get(question, 0) + 1
        if calls[question] < 3:
            raise ConnectionError("busy")
        return "x"

    samples = [one.sample for one in answered(flaky, store, rows=questions(2), retries=2)]
    assert [sample.error for sample in samples] == [None, None]
    assert set(calls.values()) == {3}


def test_a_programming_error_is_not_asked_again(store: Store) -> None:
    calls = []

    def broken(question: str) -> str:
        calls.append(question)
        raise KeyError("contexts")

    answered(broken, store, retries=5)
    assert len(calls) == 12


def test_what_failed_is_kept_for_its_run_and_asked_again_by_another(store: Store) -> None:
    class Once:
        name, concurrency = "once", 4
        parameters: dict[str, Any] = {}  # noqa: RUF012
        broken = True

        def identity(self) -> dict[str, Any]:
            return {"once": 1}

        def shown(self, sample: Sample) -> dict[str, Any]:
            return {}

        async def answer(self, question: str, sample: Sample) -> SystemReply:
            if self.broken:
                raise SystemFault("down")
            return SystemReply("up")

        async def close(self) -> None:
            return None

    system = Once()
    failed = list(answered(system, store, "a"))
    system.broken = False
    resumed, fresh = list(answered(system, store, "a")), list(answered(system, store, "b"))
    assert [record.row for record in resumed] == [record.row for record in failed]
    assert {record.sample.error for record in failed} == {"down"}
    assert {record.sample.answer for record in fresh} == {"up"}


def test_an_interrupted_filling_goes_on_where_it_was(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "counted2.py"
    path.write_text("def ask(question):\n    return question\n")

    async def stopped() -> int:
        filling = SystemRunner(make_system(f"{path}:ask"), store, "r", concurrency=1)
        async for _ in filling.answer_records(read(questions()), {"format": "ragstone"}):
            if filling.done == 5:
                break
        return filling.asked

    before = asyncio.run(stopped())
    after = SystemRunner(make_system(f"{path}:ask"), store, "r")
    assert len(list(asyncio.run(answer_dataset(read(questions()), after)))) == 12
    assert 5 <= before < 12
    assert 12 - before - 1 <= after.asked <= 12 - 5


# ── rows ──────────────────────────────────────────────────────────────────────────────────


def test_a_row_keeps_its_columns_and_loses_an_older_answer(store: Store) -> None:
    rows = [
        {"question": "What is 1?", "answer": "old", "latency": 9, "topic": "n", "meta": {"a": 1}}
    ]
    (record,) = answered(right, store, rows=rows)
    row = json.loads(record.row)
    assert (row["answer"], row["topic"], row["meta"]["a"]) == ("1", "n", 1)
    assert record.sample.meta["topic"] == "n"
    assert 0 <= record.sample.meta["latency"] < 5


def test_given_answers_can_be_kept(store: Store) -> None:
    rows = [{"question": "What is 1?", "answer": "old"}, {"question": "What is 2?"}]
    samples = [one.sample for one in answered(right, store, rows=rows, keep_answers=True)]
    assert [sample.answer for sample in samples] == ["old", "2"]


def test_other_formats_leave_as_our_columns(store: Store) -> None:
    rows = [{"user_input": "What is 1?", "reference": "1", "reference_context_ids": ["d1"]}]
    (record,) = answered(right, store, rows=rows)
    assert record.sample.question == "What is 1?"
    assert record.sample.relevant == {"d1": 1}
    assert json.loads(record.row)["answer"] == "1"


def test_bad_rows_are_still_counted(store: Store) -> None:
    rows = [{"question": "What is 1?"}, {"question": ["no"]}, {"question": "What is 2?"}]
    source = read(rows, skip_bad_rows=True)
    reading = asyncio.run(answer_dataset(source, SystemRunner(make_system(right), store, "r")))
    assert len(list(reading)) == 2
    assert reading.bad_count == 1


def test_progress_is_told(store: Store) -> None:
    told: list[AnswerProgress] = []
    answered(right, store, on_progress=told.append)
    assert told[-1] == AnswerProgress(done=12, failures=0, asked=12)


def test_care_that_makes_no_sense_is_refused(store: Store) -> None:
    with pytest.raises(DataError, match="give a timeout above 0"):
        SystemRunner(make_system(right), store, "r", timeout=0)
