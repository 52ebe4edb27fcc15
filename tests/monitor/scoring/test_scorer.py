"""Which interactions are judged, in which order, within which budget, and what a failing judge leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget, StoreError
from ragstone.judges.factory import make_judge
from ragstone.judges.limits import Budget
from ragstone.metrics import resolve
from ragstone.monitor import Archive, Feedback, Interaction
from ragstone.monitor.archive import ScoredInteraction
from ragstone.monitor.drift.references import load_value_change
from ragstone.monitor.scoring import queue as queue_module
from ragstone.monitor.scoring import scorer as module
from ragstone.monitor.scoring.queue import (
    claim_batch,
    count_waiting,
    decide_sampling,
    release_claims,
    requeue_unscored,
)
from ragstone.monitor.scoring.sampling import SamplingPolicy, hash_to_unit
from ragstone.monitor.scoring.scorer import Scorer
from ragstone.store import Store
from ragstone.types import Chunk, Ranked, Score, Usage

AT = 1_780_000_000_000_000


def one(id: str, **more: Any) -> Interaction:
    return replace(
        Interaction(id, AT, "q?", Ranked((Chunk("d", "text", 0.5),)), f"answer {id}"), **more
    )


def some(count: int, **more: Any) -> list[Interaction]:
    return [one(f"i{n}", **more) for n in range(count)]


@pytest.fixture
def archive(place: str) -> Archive:
    return Archive(Store.open(place))


class Judge:
    """Rates everything; may fail, and pays from a budget."""

    name = "scripted"
    batch = 1
    concurrency = 4
    local = True

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self.failing = False
        self.asked: list[str] = []

    def identity(self, ask: Ask) -> dict[str, str]:
        return {"name": self.name}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        return [self._one(ask) for ask in asks]

    def _one(self, ask: Ask) -> Answered:
        if self.budget is not None:
            try:
                self.budget.reserve(0.01)
            except OutOfBudget as spent:
                return spent
            self.budget.settle(0.01, Usage(1, 10, 5, 0.01))
        self.asked.append(str(ask.values))
        if self.failing:
            return JudgeFailed("transport", "no answer")
        return Reply({"level": 4, "reason": ""}, Usage(1, 10, 5, 0.01))

    async def close(self) -> None:
        return None


def scorer(archive: Archive, judge: Judge, **more: Any) -> Scorer:
    policy = more.pop("policy", SamplingPolicy(rate=1.0))
    budget = judge.budget
    return Scorer(archive, [resolve("coherence")], judge, policy, budget=budget, **more)


def values(archive: Archive) -> dict[str, tuple[Any, ...]]:
    rows = archive.store.read(
        "SELECT i.id, s.value, s.outcome, s.drawn, s.weight FROM monitor_scores s"
        " JOIN interactions i ON i.number = s.number"
    )
    return {row[0]: tuple(row[1:]) for row in rows}


def test_the_share_depends_on_the_id_alone_and_is_the_share() -> None:
    policy = SamplingPolicy(rate=0.2)
    chosen = {n.id for n in some(5000) if policy.decide(n).wanted}
    assert chosen == {n.id for n in reversed(some(5000, meta={"x": 1})) if policy.decide(n).wanted}
    assert 0.17 < len(chosen) / 5000 < 0.23
    more = SamplingPolicy(rate=0.4)
    assert chosen <= {n.id for n in some(5000) if more.decide(n).wanted}  # raising it adds


def test_slices_have_shares_of_their_own() -> None:
    policy = SamplingPolicy(
        rate=0.0, rates={"model": {"new": 1.0, "old": 0.5}, "tenant": {"t": 0.75}}
    )
    assert policy.get_rate(one("a", meta={"model": "new", "tenant": "t"})) == 1.0
    assert policy.get_rate(one("a", meta={"model": "old", "tenant": "t"})) == 0.75
    assert policy.get_rate(one("a", meta={"model": "other"})) == 0.0
    assert not policy.decide(one("a")).wanted


def test_what_went_badly_is_always_judged_and_stands_for_itself_alone() -> None:
    policy = SamplingPolicy(rate=0.0, score_below=0.6)
    assert policy.decide(one("a", feedback=0.0)).wanted
    assert policy.decide(one("a")).wanted  # its best chunk has 0.5
    assert not policy.decide(one("a", contexts=Ranked((Chunk("d", "t", 0.7),)))).wanted
    assert not policy.decide(one("a", contexts=Ranked((Chunk("d", "t"),)), feedback=1.0)).wanted
    choice = policy.decide(one("a", feedback=0.0))
    assert (choice.drawn, choice.weight) == (False, 1.0)


def test_weights_make_the_judged_stand_for_all() -> None:
    """Bad answers are judged more often; the weighted mean still says how good all are."""
    policy = SamplingPolicy(rate=0.2)
    everyone = [one(f"x{n}", feedback=0.0 if n % 10 == 0 else None) for n in range(20_000)]
    chosen = [(n, policy.decide(n)) for n in everyone]
    total = sum(choice.weight for _, choice in chosen if choice.wanted)
    bad = sum(choice.weight for n, choice in chosen if choice.wanted and n.feedback == 0.0)
    assert bad / total == pytest.approx(0.1, abs=0.01)
    plain = [n for n, choice in chosen if choice.wanted]
    assert sum(n.feedback == 0.0 for n in plain) / len(plain) > 0.3  # without weights: misled


def test_scores_are_kept_and_nothing_waits_afterwards(archive: Archive) -> None:
    archive.add(some(70)).result()
    done = asyncio.run(scorer(archive, Judge()).run_until_idle())
    assert (done.decided, done.scored, done.failed) == (70, 70, 0)
    assert set(values(archive).values()) == {(1.0, "ok", 1, 1.0)}
    assert count_waiting(archive) == (0, 0)
    assert archive.store.read("SELECT bucket FROM monitor_dirty")


def test_only_the_share_is_judged_and_bad_feedback_later_brings_more(archive: Archive) -> None:
    policy = SamplingPolicy(rate=0.3)
    archive.add(some(50)).result()
    work = scorer(archive, Judge(), policy=policy)
    asyncio.run(work.run_until_idle())
    drawn = {f"i{n}" for n in range(50) if hash_to_unit(f"i{n}") < 0.3}
    assert set(values(archive)) == drawn
    left = sorted({f"i{n}" for n in range(50)} - drawn)[0]
    known = sorted(drawn)[0]
    said = [Feedback(id, AT, 0.0) for id in (left, known)]
    archive.add_feedback([*said, Feedback(sorted(drawn)[1], AT, 1.0)]).result()
    asyncio.run(work.run_until_idle())
    found = values(archive)
    assert set(found) == drawn | {left}
    assert found[left] == (1.0, "ok", 0, 1.0)
    assert found[known] == (1.0, "ok", 1, 1.0)  # judged before, now one of those judged in any case
    assert found[sorted(drawn)[1]][3] == pytest.approx(1 / 0.3)


def test_the_newest_come_first_and_the_oldest_are_not_starved(archive: Archive) -> None:
    for n in range(100):
        archive.add([one(f"n{n:03}")]).result()
    assert decide_sampling(archive, SamplingPolicy(rate=1.0)) == 100
    taken = [waits.interaction.id for waits in claim_batch(archive, 10, 0.7)]
    assert taken == [f"n{n:03}" for n in (99, 98, 97, 96, 95, 94, 93, 2, 1, 0)]
    again = [waits.interaction.id for waits in claim_batch(archive, 10, 0.7)]
    assert again == [f"n{n:03}" for n in (92, 91, 90, 89, 88, 87, 86, 5, 4, 3)]  # not claimed twice


def test_a_claim_runs_out_and_can_be_given_back(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.add(some(2)).result()
    decide_sampling(archive, SamplingPolicy(rate=1.0))
    first = claim_batch(archive, 1, 1.0)
    release_claims(archive, [first[0].number])
    assert claim_batch(archive, 1, 1.0) == first
    now = queue_module.now_micros()
    monkeypatch.setattr(
        queue_module, "now_micros", lambda: now + queue_module.CLAIM_MICROS + 1_000_000
    )
    # whoever had it died, of it perhaps: it comes alone
    assert [len(claim_batch(archive, 5, 1.0)) for _ in range(3)] == [1, 1, 0]


def test_a_judge_that_fails_is_noted_as_such_and_asked_again(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_RETRY_MICROS", 0)
    judge = Judge()
    judge.failing = True
    archive.add(some(3)).result()
    work = scorer(archive, judge)
    assert asyncio.run(work.step()) == 6  # decided on three, asked about three
    assert set(values(archive).values()) == {(None, "judge_error", 1, 1.0)}
    assert count_waiting(archive) == (0, 3)
    judge.failing = False
    asyncio.run(work.run_until_idle())
    assert set(values(archive).values()) == {(1.0, "ok", 1, 1.0)}
    assert count_waiting(archive) == (0, 0)


def test_a_judge_that_always_fails_is_left_alone_in_the_end(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_RETRY_MICROS", 0)
    judge = Judge()
    judge.failing = True
    archive.add(some(1)).result()
    asyncio.run(scorer(archive, judge).run_until_idle())
    assert len(judge.asked) == module.MAX_ATTEMPTS
    assert values(archive) == {"i0": (None, "judge_error", 1, 1.0)}


def test_after_a_failure_the_judge_has_a_rest(archive: Archive) -> None:
    judge = Judge()
    judge.failing = True
    archive.add(some(2)).result()
    asyncio.run(scorer(archive, judge).run_until_idle())
    assert len(judge.asked) == 2
    assert count_waiting(archive) == (0, 2)


class BatchJudge(Judge):
    """Takes many questions at once, and raises if one is about the answer `poison`."""

    batch = 16

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        if any("poison" in str(ask.values) for ask in asks):
            raise MemoryError("too long")
        return await super().answer(asks)


def test_a_question_that_the_judge_raises_on_takes_no_other_along(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_RETRY_MICROS", 0)
    archive.add([*some(10), one("bad", answer="poison")]).result()
    work = scorer(archive, BatchJudge())
    asyncio.run(work.step())
    found = values(archive)
    assert found.pop("bad")[:2] == (None, "judge_error")
    assert [value[:2] for value in found.values()] == [(1.0, "ok")] * 10
    asyncio.run(work.run_until_idle())
    assert count_waiting(archive) == (0, 0)
    assert (work.progress.set_aside, archive.counters()["set_aside"]) == (1, 1)


@pytest.mark.parametrize("error", [MemoryError(), StoreError("away"), ValueError("\x00\udc80")])
def test_an_interaction_whose_scoring_fails_is_set_aside_after_its_tries(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(module, "FIRST_RETRY_MICROS", 0)

    class Choosy(Judge):
        def identity(self, ask: Ask) -> dict[str, str]:
            if "poison" in str(ask.values):
                raise error
            return super().identity(ask)

    archive.add([*some(10), one("bad", answer="poison")]).result()
    asyncio.run(scorer(archive, Choosy()).step())
    assert count_waiting(archive) == (0, 1)
    asyncio.run(scorer(archive, Choosy()).run_until_idle())  # as after a restart
    found = values(archive)
    assert found.pop("bad")[:2] == (None, "metric_error")
    assert [value[:2] for value in found.values()] == [(1.0, "ok")] * 10
    assert type(error).__name__ in str(archive.scores("bad")["coherence"].reason)
    assert archive.counters()["set_aside"] == 1
    assert asyncio.run(scorer(archive, Choosy()).step()) == 0  # not for ever
    assert requeue_unscored(archive, AT, AT + 1) == 0


def test_scores_that_cannot_be_stored_keep_no_others_from_the_store(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = archive.save_scores

    def picky(scored: Any, counts: Any = None) -> Any:
        for item in scored:
            if item.interaction == "i3" and item.scores["coherence"].outcome == "ok":
                raise ValueError("not that one")
        return save(scored, counts)

    monkeypatch.setattr(archive, "save_scores", picky)
    archive.add(some(10)).result()
    judge = Judge(Budget(max_calls=100))
    asyncio.run(scorer(archive, judge).step())
    found = values(archive)
    assert found.pop("i3")[:2] == (None, "metric_error")
    assert [value[:2] for value in found.values()] == [(1.0, "ok")] * 9
    assert archive.counters()["judge_calls"] == 10


def test_an_interaction_that_ends_the_process_is_claimed_alone_and_set_aside_in_the_end(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deadly(Judge):
        def identity(self, ask: Ask) -> dict[str, str]:
            if "answer i1" in str(ask.values):
                raise SystemExit
            return super().identity(ask)

    archive.add(some(3)).result()
    start, deaths = queue_module.now_micros(), 0
    for life in range(2 * module.MAX_ATTEMPTS):
        now = start + life * (queue_module.CLAIM_MICROS + 1)
        monkeypatch.setattr(queue_module, "now_micros", lambda now=now: now)
        try:
            asyncio.run(scorer(archive, Deadly()).run_until_idle())
        except SystemExit:
            deaths += 1
    assert deaths == module.MAX_ATTEMPTS
    found = values(archive)
    assert found["i1"][:2] == (None, "metric_error")
    assert {found["i0"][:2], found["i2"][:2]} == {(1.0, "ok")}
    assert count_waiting(archive) == (0, 0)


def test_a_damaged_row_does_not_stop_the_scorer(archive: Archive) -> None:
    archive.add(some(5)).result()
    archive.run(
        lambda db: db.execute("UPDATE interactions SET meta = '{' WHERE id = 'i2'") and None
    ).result()
    asyncio.run(scorer(archive, Judge()).run_until_idle())
    assert sorted(values(archive)) == ["i0", "i1", "i3", "i4"]
    assert archive.counters()["set_aside"] == 1


@pytest.mark.parametrize("limit", [{"max_calls": 10}, {"max_usd": 0.1}])
def test_the_budget_of_a_day_holds_over_restarts_and_a_new_day_starts_anew(
    archive: Archive, limit: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.add(some(40)).result()
    first, second = Judge(Budget(**limit)), Judge(Budget(**limit))
    done = asyncio.run(scorer(archive, first).run_until_idle())
    assert (len(first.asked), done.scored, done.out_of_budget) == (10, 10, True)
    assert set(values(archive).values()) == {(1.0, "ok", 1, 1.0)}  # the rest is no outcome at all
    assert count_waiting(archive) == (0, 30)
    again = scorer(archive, second)
    assert asyncio.run(again.run_until_idle()).scored == 0
    later = module.now_micros() + 86_400_000_000
    monkeypatch.setattr(module, "now_micros", lambda: later)
    monkeypatch.setattr(queue_module, "now_micros", lambda: later)
    assert asyncio.run(again.run_until_idle()).scored == 10


def test_metrics_without_a_judge_need_none(archive: Archive) -> None:
    archive.add(some(3, latency=0.5)).result()
    work = Scorer(archive, [resolve("latency")], None, SamplingPolicy(rate=1.0))
    asyncio.run(work.run_until_idle())
    assert {found[0] for found in values(archive).values()} == {0.5}


def test_what_was_not_chosen_can_be_considered_again(archive: Archive) -> None:
    archive.add(some(20)).result()
    asyncio.run(scorer(archive, Judge(), policy=SamplingPolicy(rate=0.0)).run_until_idle())
    assert values(archive) == {}
    assert requeue_unscored(archive, AT, AT + 1) == 20
    asyncio.run(scorer(archive, Judge()).run_until_idle())
    assert len(values(archive)) == 20
    assert requeue_unscored(archive, AT, AT + 1) == 0


def test_two_scorers_share_the_work(place: str) -> None:
    archives = [Archive(Store.open(place)) for _ in range(2)]
    archives[0].add(some(100)).result()
    judges = [Judge(), Judge()]

    async def both() -> None:
        await asyncio.gather(
            *(scorer(a, j).run_until_idle() for a, j in zip(archives, judges, strict=True))
        )

    asyncio.run(both())
    asyncio.run(
        scorer(archives[0], judges[0]).run_until_idle()
    )  # one may have stopped before the other
    assert len(values(archives[0])) == 100
    assert sum(len(judge.asked) for judge in judges) == 100


def test_two_scorers_spend_one_budget_between_them(place: str) -> None:
    archives = [Archive(Store.open(place)) for _ in range(2)]
    archives[0].add(some(200)).result()
    judges = [Judge(Budget(max_calls=64)) for _ in range(2)]
    works = [scorer(a, j) for a, j in zip(archives, judges, strict=True)]

    async def in_turns() -> None:
        for work in works * 4:
            await work.step()

    asyncio.run(in_turns())
    assert [len(judge.asked) for judge in judges] == [32, 32]
    assert all(work.progress.out_of_budget for work in works)


def test_what_could_not_be_billed_still_counts(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.add(some(100)).result()
    judge = Judge(Budget(max_calls=40))
    work = scorer(archive, judge)
    save = archive.save_scores

    def away(*given: Any) -> Any:
        raise StoreError("away")

    monkeypatch.setattr(archive, "save_scores", away)
    with pytest.raises(StoreError):
        asyncio.run(work.step())
    monkeypatch.setattr(archive, "save_scores", save)
    asyncio.run(work.run_until_idle())
    assert len(judge.asked) == 40
    assert archive.counters()["judge_calls"] == 40


def test_following_outlives_a_store_that_is_away_and_is_quick_again_afterwards(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = scorer(archive, Judge())
    faults = iter([True, False, False])
    pauses: list[float] = []

    def report() -> None:
        if next(faults):
            raise StoreError("away")

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise asyncio.CancelledError

    monkeypatch.setattr(work, "_save_status", report)
    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work.run_forever(0.5))
    assert pauses == [5.0, 0.5, 0.5]


def test_the_first_probabilities_after_older_scores_mark_a_change_of_values(
    archive: Archive,
) -> None:
    older, *newer = some(3, answer="The text is short.")
    archive.add([older]).result()
    score = Score(1.0)
    archive.save_scores([ScoredInteraction(older.id, {"faithfulness": score})]).result()
    assert load_value_change(archive) == (0, frozenset())
    archive.add(newer).result()
    offline = make_judge("offline")
    metrics = [resolve("faithfulness")]
    asyncio.run(Scorer(archive, metrics, offline, SamplingPolicy(rate=1.0)).run_until_idle())
    changed_at, names = load_value_change(archive)
    assert changed_at > 0
    assert names == {"faithfulness"}
