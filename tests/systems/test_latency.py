"""Latency is the system's: measured around its own call, after a warm-up, whatever else is going on."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from ragstone.data import read
from ragstone.experiments.bench import bench
from ragstone.experiments.run import evaluate
from ragstone.store import Store
from ragstone.systems import SystemReply, SystemRunner, answer_dataset, make_system
from ragstone.systems.calls import call_function
from ragstone.types import Sample

TEXT = "The library opens at nine. It closes at five, and on Sunday it stays closed. " * 4


def questions(count: int = 6) -> list[dict[str, Any]]:
    return [{"id": f"q{n}", "question": f"When does it open on day {n}?"} for n in range(count)]


class Loading:
    """Loads for a while at its first call, as what holds a model does."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, question: str) -> str:
        self.asked.append(question)
        time.sleep(0.3 if len(self.asked) == 1 else 0.01)
        return "At nine."


def test_the_first_call_is_reported_apart() -> None:
    system = Loading()
    run = evaluate(questions(), ["latency"], system=system, store=":memory:")
    assert run.info.facts.cold_start is not None
    assert run.info.facts.cold_start >= 0.3
    assert system.asked == ["When does it open on day 0?", *(q["question"] for q in questions())]
    latency = run.summary()["latency"]
    assert latency.scored == 6
    assert latency.mean is not None
    assert latency.mean < run.info.facts.cold_start / 2


def test_without_warmup_nothing_is_asked_twice() -> None:
    system = Loading()
    run = evaluate(
        questions(), ["latency"], system=system, settings={"warmup": 0}, store=":memory:"
    )
    assert len(system.asked) == 6
    assert run.info.facts.cold_start is None


def test_a_warm_up_that_fails_costs_no_question() -> None:
    calls = []

    def fails_first(question: str) -> str:
        calls.append(question)
        if len(calls) == 1:
            raise ValueError("cold")
        return "x"

    run = evaluate(questions(), ["latency"], system=fails_first, store=":memory:")
    assert run.summary()["latency"].scored == 6
    assert run.info.facts.cold_start is None


def test_functions_are_asked_one_at_a_time_unless_told() -> None:
    for settings, most in (({}, 1), ({"concurrency": 3}, 3)):
        now, seen = 0, 0

        async def busy(question: str) -> str:
            nonlocal now, seen
            now += 1
            seen = max(seen, now)
            await asyncio.sleep(0.01)
            now -= 1
            return "x"

        evaluate(
            questions(12), ["latency"], system=busy, settings=settings, store=":memory:",
            concurrency=8,
        )  # fmt: skip
        assert seen == most


def test_waiting_for_the_event_loop_is_not_the_functions_time() -> None:
    def quick(question: str) -> str:
        return "x"

    def hold_up() -> None:
        time.sleep(0.4)  # of the event loop, as by a judge at work

    async def run() -> float:
        call = asyncio.create_task(call_function(quick, "?"))
        await asyncio.sleep(0)
        hold_up()
        return (await call).seconds

    assert asyncio.run(run()) < 0.2


@pytest.mark.parametrize("is_async", [False, True])
def test_the_first_token_is_timed(is_async: bool) -> None:
    def parts(question: str) -> Iterator[str]:
        yield ""
        time.sleep(0.05)
        yield "At"
        time.sleep(0.2)
        yield " nine."

    async def async_parts(question: str) -> AsyncIterator[str]:
        for part in parts(question):
            yield part

    function: Any = async_parts if is_async else parts
    run = evaluate(questions(2), ["exact_match"], system=function, store=":memory:")
    first, whole = (run.summary()[name].mean for name in ("first_token", "latency"))
    assert first is not None
    assert whole is not None
    assert 0.05 <= first < whole
    assert whole - first >= 0.2


def test_times_that_a_system_reports_win() -> None:
    reply = {"answer": "x", "latency": 7, "first_token": 3}
    run = evaluate(questions(2), ["exact_match"], system=lambda q: reply, store=":memory:")
    assert (run.summary()["latency"].mean, run.summary()["first_token"].mean) == (7, 3)


def test_a_sleep_is_measured_as_when_timed_alone_beside_judged_metrics() -> None:
    def sleeps(question: str) -> dict[str, Any]:
        time.sleep(0.05)
        return {"answer": "It opens at nine.", "contexts": [TEXT]}

    def time_alone() -> float:
        started = time.perf_counter()
        sleeps("?")
        return time.perf_counter() - started

    alone = statistics.median(time_alone() for _ in range(9))
    metrics = ["faithfulness", "answer_relevance", "context_relevance", "hallucination_rate"]
    run = evaluate(questions(9), metrics, system=sleeps, store=":memory:")
    # the median: a machine that is busy for a moment delays single calls, alone or not
    measured = statistics.median(scores["latency"].value or 0 for scores in run.scores().values())
    assert measured <= 1.2 * alone


def test_systems_of_a_benchmark_are_asked_in_turn() -> None:
    order: list[str] = []

    def build(name: str) -> Any:
        def answer(question: str) -> str:
            order.append(name)
            return "x"

        return answer

    systems = {"a": build("a"), "b": build("b")}
    bench(questions(20), systems, ["exact_match"], store=":memory:")
    counted = list(order)
    assert counted.count("a") == counted.count("b") == 21
    blocks = [counted[at : at + 2] for at in range(0, 40, 2)]
    assert {"".join(block) for block in blocks if set(block) == {"a", "b"}} == {"ab", "ba"}


def test_a_runner_asks_a_block_at_once_and_stores_it() -> None:
    store = Store.open(":memory:")
    runner = SystemRunner(make_system(lambda question: "x", version="1"), store, "r")
    asyncio.run(runner.ask_samples([Sample("1", "One?"), Sample("2", "Two?"), Sample("3")]))
    assert (runner.asked, runner.done) == (2, 2)
    assert runner.load_reply(Sample("9", "One?")) is not None
    answered = asyncio.run(answer_dataset(read([{"question": "Two?"}]), runner))
    assert [record.sample.answer for record in answered] == ["x"]
    assert runner.asked == 2
    store.close()


@pytest.mark.slow
def test_equal_systems_get_a_verdict_rarely() -> None:
    """A/A: two equal systems, one of which loads at its first call; at most 8 verdicts in 100."""

    def build(load: float) -> Any:
        calls = []

        def answer(question: str) -> SystemReply:
            calls.append(question)
            time.sleep(load if len(calls) == 1 else 0.001)
            return SystemReply("x")

        return answer

    verdicts = 0
    for _ in range(100):
        systems = {"a": build(0.02), "b": build(0.0)}
        result = bench(questions(20), systems, ["latency"], store=":memory:")
        assert result.comparison is not None
        (versus,) = result.comparison.versus
        verdicts += versus["latency"].verdict in ("better", "worse")
    assert verdicts <= 8
