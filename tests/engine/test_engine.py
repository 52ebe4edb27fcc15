"""The engine with a scripted judge: order, single asking, resuming, outcomes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import RagstoneError, Run, Sample, aevaluate, engine, evaluate, metric, report
from ragstone.asks import Ask, Asking, ask_all, embed, rate
from ragstone.data import Record
from ragstone.engine import Progress
from ragstone.errors import DataError, JudgeFailed, NotApplicable
from ragstone.metrics import resolve
from ragstone.metrics.scoring import build_starter
from ragstone.store import Store
from ragstone.types import Score, Usage
from scripted import ScriptedJudge, level_by_hash, rated

ONE = rated("one_round")
THREE = rated("three_rounds", rounds=3)


def samples(count: int, distinct: int | None = None) -> list[Sample]:
    return [Sample(f"s{n}", answer=f"answer {n % (distinct or count)}") for n in range(count)]


def exported(run: Run, folder: Path) -> bytes:
    path = folder / f"{run.id}.jsonl"
    report.write(run, path)
    return path.read_bytes()


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_results_are_the_same_bytes_at_any_concurrency(concurrency: int, tmp_path: Path) -> None:
    dice = random.Random(concurrency)
    calm = evaluate(samples(60), [ONE, THREE], judge=ScriptedJudge(), store=tmp_path / "a.db")
    hasty = ScriptedJudge(delay=lambda ask: dice.random() / 100, concurrency=concurrency)
    wild = evaluate(samples(60), [ONE, THREE], judge=hasty, store=tmp_path / "b.db")
    assert exported(wild, tmp_path) == exported(calm, tmp_path)
    assert hasty.most_in_flight <= concurrency
    assert list(wild.scores()) == [f"s{n}" for n in range(60)]


def test_a_question_under_way_is_not_put_again() -> None:
    judge = ScriptedJudge(delay=lambda ask: 0.01)
    evaluate(samples(40, distinct=5), [ONE], judge=judge)
    assert len(judge.asked) == 5


def test_a_stored_reply_says_how_long_it_took(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    evaluate(samples(2), [ONE], judge=ScriptedJudge(delay=lambda ask: 0.05), store=store)
    keys = [key for (key,) in store.read("SELECT key FROM replies")]
    seconds = [stored.reply.seconds for stored in store.stored_replies(keys).values()]
    assert len(seconds) == 2
    assert all(taken is not None and taken > 0.04 for taken in seconds)


def test_what_two_metrics_ask_is_asked_once_and_the_first_pays() -> None:
    twin = rated("one_round_twin")
    judge = ScriptedJudge()
    run = evaluate(samples(3), [ONE, twin], judge=judge)
    assert len(judge.asked) == 3
    scores = run.scores()["s0"]
    assert scores["one_round"].value == scores["one_round_twin"].value
    assert scores["one_round"].usage.calls == 1
    assert scores["one_round_twin"].usage.calls == 0


def test_a_second_run_asks_nothing_and_gives_the_same_bytes(tmp_path: Path) -> None:
    first = evaluate(samples(20), [THREE], judge=ScriptedJudge())
    again = ScriptedJudge()
    second = evaluate(samples(20), [THREE], judge=again)
    assert again.asked == []
    assert exported(second, tmp_path) == exported(first, tmp_path)
    assert second.info.usage.calls == 0
    assert first.info.usage.calls == 60
    assert first.summary()["three_rounds"].usage.hits == 0
    assert second.summary()["three_rounds"].usage == Usage(hits=60)


def test_another_judge_is_asked_anew() -> None:
    evaluate(samples(2), [ONE], judge=ScriptedJudge(name="a"))
    other = ScriptedJudge(name="b")
    evaluate(samples(2), [ONE], judge=other)
    assert len(other.asked) == 2


def test_a_local_judge_is_given_batches_and_its_replies_are_not_stored() -> None:
    judge = ScriptedJudge(batch=16, concurrency=1, local=True)
    evaluate(samples(64), [ONE], judge=judge)
    assert max(judge.batches) == 16
    assert len(judge.batches) <= 8
    evaluate(samples(64), [ONE], judge=judge)
    assert len(judge.asked) == 128


def test_a_slow_reply_delays_only_its_own_sample() -> None:
    finished: list[str] = []

    def reply(ask: Ask) -> Any:
        finished.append(ask.values["texts"]["answer"])
        return level_by_hash(ask)

    slow = ScriptedJudge(
        reply,
        delay=lambda ask: 0.3 if ask.values["texts"]["answer"] == "answer 0" else 0.001,
        concurrency=4,
    )
    run = evaluate(samples(50), [ONE], judge=slow)
    assert finished[-1] == "answer 0"
    assert next(iter(run.scores())) == "s0"


@pytest.mark.parametrize("is_local", [True, False])
def test_only_an_encoder_of_this_process_waits_for_no_slot(is_local: bool) -> None:
    answered: list[str] = []

    def reply(ask: Ask) -> Any:
        answered.append(ask.kind)
        return {"vectors": [[1.0]]} if ask.kind == "embed" else level_by_hash(ask)

    judge: Any = ScriptedJudge(reply, delay=lambda ask: 0.05, concurrency=1)
    judge.embeddings = ScriptedJudge(local=is_local)

    async def ask_three() -> None:
        rates = [rate({"answer": str(n)}, "tone", "How good?", list("abcde")) for n in range(2)]
        async with engine.AskBroker(judge, Store.open(":memory:"), "run") as broker:
            await broker.answer([*rates, embed("a text")])

    asyncio.run(ask_three())
    assert judge.most_in_flight == (2 if is_local else 1)
    assert answered.index("embed") == (1 if is_local else 2)


def test_few_samples_are_open_while_many_pass() -> None:
    most = 0

    def reply(ask: Ask) -> Any:
        nonlocal most
        most = max(most, len(asyncio.all_tasks()))
        return level_by_hash(ask)

    evaluate(samples(3000), [ONE], judge=ScriptedJudge(reply, concurrency=4))
    assert most < 100


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (JudgeFailed("refusal", "it declined"), "judge_error"),
        (ValueError("bug"), "judge_error"),
    ],
)
def test_a_failing_judge_is_an_outcome_not_a_number(raised: Exception, outcome: str) -> None:
    def reply(ask: Ask) -> Any:
        if isinstance(raised, JudgeFailed):
            return raised
        raise raised

    run = evaluate(samples(3), [ONE], judge=ScriptedJudge(reply))
    for scores in run.scores().values():
        assert scores["one_round"].outcome == outcome
        assert scores["one_round"].value is None
    assert run.summary().exit_code == 3


def test_failures_are_asked_again_on_request_and_only_they(tmp_path: Path) -> None:
    def moody(ask: Ask) -> Any:
        if ask.values["texts"]["answer"] == "answer 1":
            return JudgeFailed("transport", "gone")
        return level_by_hash(ask)

    first = evaluate(samples(4), [ONE], judge=ScriptedJudge(moody))
    assert first.scores()["s1"]["one_round"].outcome == "judge_error"
    healed = ScriptedJudge()
    second = evaluate(samples(4), [ONE], judge=healed, retry_errors=True)
    assert second.id == first.id
    assert len(healed.asked) == 1
    clean = evaluate(samples(4), [ONE], judge=ScriptedJudge(), store=tmp_path / "clean.db")
    assert exported(second, tmp_path) == exported(clean, tmp_path)


class Stop(Exception):
    """Thrown in the middle of a run."""


def stop_at(count: int) -> Any:
    """A watcher that stops the run once so many samples are done."""

    def watch(progress: Progress) -> None:
        if progress.done >= count:
            raise Stop

    return watch


def test_a_run_resumes_where_it_stopped(tmp_path: Path) -> None:
    slow = ScriptedJudge(delay=lambda ask: 0.02)
    with pytest.raises(Stop):
        evaluate(samples(200), [ONE], judge=slow, run_id="r", watch=stop_at(40))
    stored = Run.open("r")
    assert stored.info.status == "running"
    before = stored.stored.count()
    assert 40 <= before < 200
    judge = ScriptedJudge()
    run = evaluate(samples(200), [ONE], judge=judge, run_id="r", resume=True)
    assert run.info.status == "done"
    assert run.stored.count() == 200
    assert len(judge.asked) <= 200 - before
    whole = evaluate(samples(200), [ONE], judge=ScriptedJudge(), store=tmp_path / "w.db")
    assert exported(run, tmp_path) == exported(whole, tmp_path)


def test_resuming_on_other_data_is_refused() -> None:
    tokens = ["token_f1"]
    rows = [Sample(str(n), answer="a", reference="a") for n in range(2000)]
    with pytest.raises(Stop):
        evaluate(rows, tokens, run_id="r", watch=stop_at(1))
    changed = [Sample("0", answer="b", reference="a"), *rows[1:]]
    with pytest.raises(DataError, match=r"sample 1 of .* has changed since run r"):
        evaluate(changed, tokens, run_id="r", resume=True)


def test_resuming_with_another_plan_is_refused() -> None:
    rows = [Sample("1", answer="a", reference="a")]
    evaluate(rows, ["token_f1"], run_id="r")
    with pytest.raises(RagstoneError, match="metrics has changed"):
        evaluate(rows, ["exact_match"], run_id="r", resume=True)


def test_a_metric_that_breaks_is_an_outcome_of_its_sample() -> None:
    @metric(name="fragile")
    def fragile(answer: str) -> float:
        """Breaks in every way."""
        if answer == "nan":
            return float("nan")
        if answer == "big":
            return 7.0
        if answer == "none":
            return None  # type: ignore[return-value]
        if answer == "na":
            raise NotApplicable("nothing here")
        return 1 / len(answer)

    answers = ["nan", "big", "none", "na", "", "ok"]
    run = evaluate([Sample(a or "empty", answer=a) for a in answers], [fragile])
    outcomes = {name: scores["fragile"].outcome for name, scores in run.scores().items()}
    assert outcomes == {
        "nan": "metric_error",
        "big": "metric_error",
        "none": "metric_error",
        "na": "not_applicable",
        "empty": "metric_error",
        "ok": "ok",
    }


def test_a_sample_whose_system_failed_has_no_score() -> None:
    run = evaluate([Sample("1", reference="a", error="timed out after 30 s")], ["token_f1"])
    score = run.scores()["1"]["token_f1"]
    assert (score.outcome, score.reason) == ("system_error", "timed out after 30 s")


def test_evaluate_works_inside_a_running_loop() -> None:
    async def notebook() -> Run:
        return evaluate(samples(5), [ONE], judge=ScriptedJudge())

    assert len(asyncio.run(notebook()).scores()) == 5


def test_aevaluate_leaves_the_loop_to_others() -> None:
    async def both() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        rows = [Sample(str(n), answer="a", reference="a b") for n in range(2000)]
        run = await aevaluate(rows, ["token_f1"])
        task.cancel()
        assert len(run.scores()) == 2000
        return turns

    assert asyncio.run(both()) > 5


def test_a_metric_may_ask_several_things_at_once() -> None:
    @metric(name="two_at_once")
    def two(answer: str) -> Asking[Score]:
        """Mean of two ratings."""
        first, second = yield from ask_all(
            rate({"answer": answer}, "a", "?", list("abcde")),
            rate({"answer": answer + "!"}, "b", "?", list("abcde")),
        )
        return Score((first["level"] + second["level"]) / 8)

    judge = ScriptedJudge(delay=lambda ask: 0.01, concurrency=2)
    evaluate(samples(1), [two], judge=judge)
    assert judge.most_in_flight == 2


def test_a_judge_that_loses_replies_is_incomplete() -> None:
    class Lossy(ScriptedJudge):
        async def answer(self, asks: Any) -> Any:
            return []

    run = evaluate(samples(2), [ONE], judge=Lossy())
    assert run.scores()["s0"]["one_round"].kind == "incomplete"


def test_progress_is_told() -> None:
    seen = []
    evaluate(samples(50), [ONE], judge=ScriptedJudge(), watch=seen.append)
    assert seen[-1].done == 50
    assert seen[-1].total == 50
    assert seen[-1].usage.calls == 50


def test_failed_calls_cost_too() -> None:
    def reply(ask: Ask) -> Any:
        failed = JudgeFailed("refusal", "it declined")
        failed.usage = Usage(calls=2, usd=0.25)
        return failed

    run = evaluate(samples(2), [ONE], judge=ScriptedJudge(reply))
    assert run.scores()["s1"]["one_round"].usage == Usage(calls=2, usd=0.25)
    assert run.summary()["one_round"].usage.usd == 0.5
    assert run.info.usage == Usage(calls=4, usd=0.5)  # what failed is on the run's bill too


@pytest.mark.parametrize("group", [1, 7, 256])
def test_unjudged_samples_give_the_same_bytes_in_groups_of_any_size(
    group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Sample(str(n), answer=f"a b {n % 3}", reference="b a 1") for n in range(300)]
    whole = evaluate(rows, ["token_f1", "recall"], store=tmp_path / "a.db")
    monkeypatch.setattr(engine, "YIELD_SAMPLES", group)
    cut = evaluate(rows, ["token_f1", "recall"], store=tmp_path / "b.db")
    assert exported(cut, tmp_path) == exported(whole, tmp_path)


def test_what_was_scored_before_a_bad_row_is_stored(tmp_path: Path) -> None:
    def read_rows() -> Iterator[tuple[int, Record]]:
        for n in range(1, 301):
            yield n, Record(Sample(str(n), answer="a", reference="a"), "{}")
        raise DataError("line 301")

    starts = {"token_f1": build_starter(resolve("token_f1"))}
    groups = list(engine._score_unjudged(read_rows(), starts, None))
    assert [row.position for rows, _ in groups for row in rows] == list(range(1, 301))
    assert [str(error) for _, error in groups if error is not None] == ["line 301"]
