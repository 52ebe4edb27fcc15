"""A cascade: the second judge is asked where the first is unsure, and at random where it is sure."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate, report
from ragstone.analysis.cascade import WeighedVerdict, find_bounds
from ragstone.asks import Ask, Case, Reply, claims, rate, support, useful
from ragstone.cli.dry_run import _list_questions
from ragstone.config import load
from ragstone.errors import ConfigError, JudgeFailed, OutOfBudget, RagstoneError
from ragstone.experiments.cascade_bounds import resolve_bounds
from ragstone.judges.cascade import Cascade
from ragstone.judges.factory import make_judge
from ragstone.judges.scale import fingerprint_judge, measure_scale
from ragstone.report.terminal import render
from ragstone.store import Store, save_scales
from ragstone.types import Chunk, Sample, chunks
from scripted import ScriptedJudge

SOURCE = Chunk("a", "Fact one holds. Fact two holds. Fact three holds.")
CHANCE = re.compile(r"chance (\d+)")


def judge_by_text(ask: Ask) -> Any:
    """Claims carry the chance that the first judge gives them: `Fact 7 of chance 93.`"""
    if ask.kind == "claims":
        rows = []
        for text in ask.values["texts"]:
            for n, sentence in enumerate(text["sentences"]):
                rows.append({"text_id": text["id"], "sentence": n, "claim": sentence})
        return {"claims": rows}
    if ask.kind == "useful":
        return {
            "grades": [
                {"id": chunk["id"], "target": name, "grade": 0, "reason": "", "probability": 0.5}
                for chunk in ask.values["chunks"]
                for name in ask.values["targets"]
            ]
        }
    rows = []
    for case in ask.values["cases"]:
        for claim in case["claims"]:
            chance = int(CHANCE.findall(claim["text"])[0]) / 100
            row = decide(claim, case, chance >= 0.5) | {"probability": chance}
            rows.append(row | {"certain": True} if "certainly" in claim["text"] else row)
    return {"verdicts": rows, "case_probabilities": [0.4] * len(ask.values["cases"])}


def refuse_all(ask: Ask) -> Any:
    """The second judge finds nothing supported."""
    if ask.kind == "useful":
        rows = judge_by_text(ask)["grades"]
        return {"grades": [row | {"grade": 2} for row in rows]}
    return {
        "verdicts": [decide(c, case, False) for case in ask.values["cases"] for c in case["claims"]]
    }


def decide(claim: Any, case: Any, supported: bool) -> dict[str, Any]:
    quote = [{"source": case["sources"][0]["id"], "quote": claim["text"]}]
    verdict = "supported" if supported else "not_found"
    return {"id": claim["id"], "verdict": verdict, "evidence": quote * supported, "reason": ""}


def build(second: Any = refuse_all, **settings: Any) -> tuple[Cascade, ScriptedJudge]:
    strong = ScriptedJudge(second, name="strong")
    cheap = ScriptedJudge(judge_by_text, name="cheap", local=True)
    return Cascade(cheap, strong, **({"check": 0.0} | settings)), strong


def put(cascade: Cascade, ask: Ask) -> Any:
    (answer,) = asyncio.run(cascade.answer([ask]))
    return answer


def about(*texts: str) -> Ask:
    return support(Case(texts, (SOURCE,)), language="en")


def list_asked(judge: ScriptedJudge) -> list[str]:
    return [
        c["text"] for ask in judge.asked for case in ask.values["cases"] for c in case["claims"]
    ]


def test_only_what_the_first_is_unsure_of_is_asked() -> None:
    cascade, strong = build()
    reply = put(cascade, about("A chance 10.", "B chance 60.", "C chance 90.", "D chance 20."))
    assert list_asked(strong) == ["B chance 60."]
    rows = {row["id"]: row for row in reply.value["verdicts"]}
    assert [rows[f"c{n}"]["verdict"] for n in (1, 2, 3, 4)] == [
        "not_found", "not_found", "supported", "not_found",
    ]  # fmt: skip
    assert rows["c2"]["cascade"] == {
        "first": "supported", "second": "not_found", "chance": 1.0, "probability": 0.6,
    }  # fmt: skip
    assert rows["c3"]["cascade"]["second"] == ""
    assert reply.usage.calls == 2


def test_a_first_judge_without_chances_leaves_everything_to_the_second() -> None:
    cascade, strong = build()
    cascade.first = ScriptedJudge(refuse_all, name="no chances")
    assert isinstance(put(cascade, about("A chance 1.", "B chance 99.")), Reply)
    assert len(list_asked(strong)) == 2


def test_the_random_check_depends_on_claim_and_seed_alone() -> None:
    texts = [f"Fact {n} of chance 95." for n in range(400)]
    drawn = []
    for order, seed in ((texts, 1), (texts[::-1], 1), (texts, 2)):
        cascade, strong = build(check=0.2, seed=seed)
        for start in range(0, 400, 50):
            put(cascade, about(*order[start : start + 50]))
        drawn.append(frozenset(list_asked(strong)))
    assert drawn[0] == drawn[1] != drawn[2]
    assert 50 <= len(drawn[0]) <= 112  # 80 ± 4 standard errors


def test_useful_chunks_are_cascaded_and_kinds_without_chances_go_to_one_judge() -> None:
    cascade, strong = build()
    ask = useful("Why?", [Chunk("a", "One."), Chunk("b", "Two.")], {"question": None})
    assert [row["grade"] for row in put(cascade, ask).value["grades"]] == [2, 2]
    put(cascade, claims("One. Two."))
    assert [asked.kind for asked in strong.asked] == ["useful"]
    strong.reply = lambda ask: {"level": 1, "reason": ""}
    put(cascade, rate({"answer": "x"}, "tone", "How?", ["a", "b"]))
    assert [asked.kind for asked in strong.asked] == ["useful", "rate"]


@pytest.mark.parametrize("failure", [JudgeFailed("refusal", "heuristic"), OutOfBudget("heuristic")])
def test_a_second_judge_that_fails_is_never_replaced_by_the_first(failure: Any) -> None:
    cascade, strong = build()

    async def fail(asks: Any) -> list[Any]:
        return [failure for _ in asks]

    strong.answer = fail  # type: ignore[method-assign]
    assert put(cascade, about("A chance 60.", "B chance 99.")) is failure
    assert isinstance(put(cascade, about("B chance 99.")), Reply)


def test_a_second_judge_that_leaves_items_out_is_incomplete() -> None:
    cascade, _ = build(lambda ask: {"verdicts": []})
    answer = put(cascade, about("A chance 60."))
    assert isinstance(answer, JudgeFailed)
    assert answer.kind == "incomplete"


def test_a_first_judge_that_fails_leaves_the_question_to_the_second() -> None:
    cascade, strong = build()
    cascade.first = ScriptedJudge(lambda ask: JudgeFailed("unsupported", "heuristic"))
    reply = put(cascade, about("A chance 1."))
    assert reply.value["verdicts"][0]["cascade"] == {
        "first": "",
        "second": "not_found",
        "chance": 1.0,
    }
    assert list_asked(strong) == ["A chance 1."]
    assert any("first failed" in note for note in reply.notes)


def make_samples(count: int = 60) -> list[Sample]:
    """Three sure claims a sample, and one unsure one in every third sample; the judges differ on what is `odd`."""
    samples = []
    for n in range(count):
        texts = [f"Fact {n}{x} {'odd' if n % 4 == 0 else ''} of chance 95." for x in "abc"]
        texts += [f"Fact {n}d of chance 55."] if n % 3 == 0 else []
        text = " ".join(texts)
        samples.append(Sample(str(n), "Q?", text, chunks({"id": "k", "text": text})))
    return samples


def refuse_odd(ask: Ask) -> Any:
    return {
        "verdicts": [
            decide(claim, case, "odd" not in claim["text"])
            for case in ask.values["cases"]
            for claim in case["claims"]
        ]
    }


def test_a_run_says_what_was_asked_saved_and_how_far_the_two_agree(tmp_path: Path) -> None:
    cascade, strong = build(refuse_odd, check=0.4)
    run = evaluate(make_samples(), ["faithfulness"], judge=cascade, store=str(tmp_path / "s.db"))
    summary = run.summary()["faithfulness"].cascade
    assert summary is not None
    assert (summary.items, summary.unsure, summary.samples) == (200, 20, 60)
    assert summary.asked == len(list_asked(strong))
    assert summary.disagreement is not None
    assert summary.low is not None
    assert summary.high is not None
    assert summary.low < 0.25 < summary.high  # a quarter of the samples is odd
    second = summary.second_mean
    assert second is not None
    assert second.judge_mean == pytest.approx(1.0)
    assert second.sample_low < 0.771 < second.sample_high  # what the second alone gives
    shown = render(report.open_page(run), details=True)
    assert "sure items checked" in " ".join(shown.split())
    page = report.write(run, tmp_path / "run.html").read_text("utf-8")
    assert "first judge: supported; second judge: not found" in page
    assert "first judge alone" in page
    asked = len(strong.asked)
    again = evaluate(make_samples(), ["faithfulness"], judge=cascade, store=str(tmp_path / "s.db"))
    assert len(strong.asked) == asked  # every reply came from the store
    assert again.summary()["faithfulness"].cascade == summary


def test_bounds_are_the_narrowest_that_reach_the_target() -> None:
    verdicts = [WeighedVerdict(p / 100, p not in (60, 65, 40), 1.0) for p in range(100)]
    assert find_bounds(verdicts, 0.97) == ((0.5, 0.5), 0.0)
    bounds, share = find_bounds(verdicts, 1.0) or ((0, 0), 0)
    assert bounds == (0.39, 0.66)
    assert share == pytest.approx(0.26)
    assert find_bounds([WeighedVerdict(1.0, False, 1.0)], 0.9) is None


def test_settings_of_a_cascade_are_checked(tmp_path: Path) -> None:
    both = {"first": "offline", "then": "offline"}
    cascade = make_judge({**both, "unsure": "0.3..0.6", "check": "10 %", "seed": 4})
    assert isinstance(cascade, Cascade)
    assert (cascade.unsure, cascade.check, cascade.seed) == ((0.3, 0.6), 0.1, 4)
    assert cascade.identity(about("A chance 1."))["unsure"] == [0.3, 0.6]
    target = make_judge({**both, "agree": 0.9})
    assert isinstance(target, Cascade)
    assert target.unsure == (0.1, 0.9)
    for wrong in (
        {"first": "offline"},
        {"then": "offline", "model": "offline"},
        {**both, "unsure": "0.8..0.2"},
        {**both, "unsure": 0.5},
        {**both, "check": 2},
        {**both, "agree": "much"},
        {**both, "agree": 0.9, "unsure": "0.1..0.9"},
        {**both, "unsure": "measured"},
    ):
        with pytest.raises(RagstoneError):
            make_judge(wrong)
    config = tmp_path / "c.yaml"
    config.write_text("judge: {first: offline, then: offline, unsure: 0.8..0.2}\n")
    with pytest.raises(ConfigError, match="unsure"):
        load(config)


def test_measured_bounds_come_from_the_store_before_the_run(tmp_path: Path) -> None:
    from dataclasses import replace

    store = Store.open(str(tmp_path / "s.db"))
    spec = {"first": "python:json:loads", "then": "offline", "unsure": "measured"}
    with pytest.raises(RagstoneError, match="judge measure"):
        resolve_bounds(spec, store)
    scale = measure_scale(
        [0.9, 0.8], [0.1, 0.2], judge=fingerprint_judge(make_judge("python:json:loads")), name="x",
        language="en", metric="faithfulness", reply_rate=1.0, source="labels", measured="2026-01-01",
    )  # fmt: skip
    assert scale is not None
    save_scales(store, [replace(scale, unsure=(0.31, 0.72))])
    assert resolve_bounds(spec, store)["unsure"] == "0.31..0.72"
    assert resolve_bounds("offline", store) == "offline"


def test_a_dry_run_counts_what_the_second_judge_would_be_asked() -> None:
    cascade, _ = build()
    ask = about("A chance 10.", "B chance 60.")
    reply = Reply(judge_by_text(ask))
    questions = _list_questions(cascade, ask, reply)
    assert [judge.name for judge, _ in questions] == ["cheap", "strong"]
    assert [c["text"] for c in questions[1][1].values["cases"][0]["claims"]] == ["B chance 60."]
