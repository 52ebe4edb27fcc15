"""Answers of two runs side by side: who wins, and what a judge that turns with the order is worth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.scoring import settings
from faults.server import FaultServer
from paged import compare_page
from ragstone import Sample, evaluate
from ragstone.analysis.preferences import PairPreference, PreferenceStudy, choose_vote
from ragstone.asks import Ask, Reply, prefer
from ragstone.errors import JudgeFailed
from ragstone.experiments.compare import compare
from ragstone.experiments.preferences import compare_answers
from ragstone.judges.factory import make_judge
from ragstone.judges.jury import Jury
from ragstone.labels import Label, add_labels, attach_content
from ragstone.report import markdown
from ragstone.store import Store, StoredRun
from ragstone.types import Chunk
from scripted import ScriptedJudge

Serve = Callable[..., FaultServer]


def prefer_long(ask: Ask) -> Any:
    """The longer answer is better."""
    a, b = len(ask.values["A"]), len(ask.values["B"])
    return {"reason": "length", "better": "A" if a > b else "B" if b > a else "tie"}


def prefer_a(ask: Ask) -> Any:
    return {"reason": "first", "better": "A"}


@pytest.fixture
def runs(tmp_path: Path) -> list[StoredRun]:
    """Three runs of 60 questions; the second has the longer answer on 45 of them and the shorter on none."""
    store = Store.open(str(tmp_path / "s.db"))
    stored = []
    for name, make in (
        ("old", lambda n: "short"),
        ("new", lambda n: "quite long" if n % 4 else "short"),
        ("third", lambda n: "mid-way" if n % 3 else "a very long one"),
    ):
        samples = [Sample(str(n), f"Q{n}?", make(n), reference="x") for n in range(60)]
        stored.append(evaluate(samples, ["token_f1"], store=store, name=name).stored)
    return stored


def judge_pair(runs: list[StoredRun], reply: Any) -> PairPreference:
    (pair,) = compare_answers(runs[:2], ScriptedJudge(reply)).pairs
    return pair


def test_an_answer_wins_that_is_preferred_in_both_orders(runs: list[StoredRun]) -> None:
    pair = judge_pair(runs, prefer_long)
    assert pair.counts["second"] == 45
    assert pair.counts["same"] == 15  # the same answer is not put to the judge
    assert pair.difference.after == pytest.approx((45 + 7.5) / 60)
    assert pair.difference.verdict == "better"
    low, high = pair.win_interval or (0, 0)
    assert 0.5 < low < 0.875 < high < 1


@pytest.mark.parametrize("reply", ["A", "B"])
def test_a_judge_that_goes_by_the_order_makes_ties_and_is_named(
    runs: list[StoredRun], reply: str
) -> None:
    pair = judge_pair(runs, lambda ask: {"reason": "", "better": reply})
    assert pair.difference.after == 0.5
    assert pair.difference.verdict == "unclear"
    assert pair.order_p is not None
    assert pair.order_p < 0.001
    (warning,) = pair.difference.warnings
    assert "prefers what is shown " + ("first" if reply == "A" else "second") in warning


def test_a_judge_without_opinion_makes_ties_without_an_order_effect(runs: list[StoredRun]) -> None:
    pair = judge_pair(runs, lambda ask: {"reason": "", "better": "tie"})
    assert pair.counts["tie"] == 45
    assert pair.difference.verdict not in ("better", "worse")
    assert pair.difference.warnings == ()


def test_two_runs_with_the_same_answers_are_identical(runs: list[StoredRun]) -> None:
    samples = [Sample(str(n), f"Q{n}?", "short", reference="x") for n in range(60)]
    again = evaluate(samples, ["token_f1"], store=runs[0].store, name="again").stored
    judge = ScriptedJudge(prefer_a)
    (pair,) = compare_answers([runs[0], again], judge).pairs
    assert pair.difference.verdict == "identical"
    assert judge.asked == []


def test_a_failing_judge_withholds_the_verdict_and_the_embedded_one_says_what_to_do(
    runs: list[StoredRun],
) -> None:
    pair = judge_pair(runs, lambda ask: JudgeFailed("refusal", "heuristic"))
    assert pair.failed == 45
    assert pair.difference.verdict == "withheld"
    (pair,) = compare_answers(runs[:2], make_judge("offline")).pairs
    assert pair.difference.verdict == "withheld"
    assert "--judge openai:MODEL" in next(b.explanation for b in pair.ballots if b.vote is None)


def test_replies_are_cached(runs: list[StoredRun]) -> None:
    judge = ScriptedJudge(prefer_long)
    assert compare_answers(runs[:2], judge).pairs == compare_answers(runs[:2], judge).pairs
    assert len(judge.asked) == 90


def test_several_runs_are_ranked(runs: list[StoredRun]) -> None:
    study = compare_answers(runs, ScriptedJudge(prefer_long))
    assert [study.names[entry.run] for entry in study.ranking] == ["third", "new", "old"]
    best, second, last = study.ranking
    assert best.rate > second.rate > last.rate
    assert best.low <= best.rate <= best.high
    assert best.tied
    assert not last.tied
    report = show(runs, study)
    assert "Bradley–Terry" in report
    assert "Questions that third wins" in report


def show(runs: list[StoredRun], study: PreferenceStudy) -> str:
    result = compare(runs)
    by_id = {run.id: run for run in runs}
    return markdown.render(compare_page(result.comparison, by_id.values(), preferences=study))


def test_votes_are_measured_by_preferences_of_people(runs: list[StoredRun]) -> None:
    old, _new, _ = runs
    labels = [Label(str(n), "preference", 0.0, "second", item="new") for n in range(20)]
    attached, _ = attach_content(old, labels)
    add_labels(old.store, attached)
    agreement = judge_pair(runs, prefer_long).agreement
    assert agreement is not None
    assert (agreement.items, agreement.same) == (20, 15)  # the other five are the same answer


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_server_prefers_on_both_routes(serve: Serve, small: bool, language: str) -> None:
    server = serve()
    judge = make_judge(settings(server, small=small))
    sources = [Chunk("k", "Some source.")]
    asks = [
        prefer("Q?", answers, reference="r", sources=sources, language=language)
        for answers in (("long answer", "short"), ("short", "long answer"), ("same", "even"))
    ]

    async def answer() -> list[Any]:
        try:
            return list(await judge.answer(asks))
        finally:
            await judge.close()

    replies = asyncio.run(answer())
    assert [reply.value["better"] for reply in replies] == ["A", "B", "tie"]
    assert ("probability" in replies[0].value) == small


def test_votes_of_both_orders() -> None:
    assert choose_vote("A", "B") == "first"
    assert choose_vote("B", "A") == "second"
    assert choose_vote("A", "A") == "first_shown"
    assert choose_vote("B", "B") == "second_shown"
    assert choose_vote("A", "tie") == choose_vote("tie", "tie") == "tie"


def test_a_jury_prefers_by_majority() -> None:
    members = [
        ScriptedJudge(lambda ask, b=better: {"reason": b, "better": b})
        for better in ("A", "A", "B")
    ]
    ask = prefer("Q?", ("x", "y"))
    (reply,) = asyncio.run(Jury(members).answer([ask]))
    assert isinstance(reply, Reply)
    assert reply.value["better"] == "A"
    (reply,) = asyncio.run(Jury([members[0], members[2]]).answer([ask]))
    assert isinstance(reply, Reply)
    assert reply.value["better"] == "tie"
