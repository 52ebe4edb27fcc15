"""The league of configurations on paper and screen: what it says, how wide it is, and no name printed over another."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from paged import print_text
from ragstone import bench
from ragstone.analysis.pareto import Candidate, TradeOff, find_front
from ragstone.analysis.recommend import CostRatio, Recommendation
from ragstone.experiments.compare import ComparisonResult, compare
from ragstone.report import html, markdown, open_page
from ragstone.report.comparison.advice import describe_recommendation
from ragstone.report.drawing.charts import draw_pareto
from ragstone.report.drawing.labels import FONT_SIZE
from ragstone.report.drawing.shapes import NARROW, WIDE, Caption, text_width
from ragstone.report.translator import load_translator
from ragstone.types import Score


@pytest.fixture
def result(build, a_case) -> ComparisonResult:
    """Four configurations: one clearly better and slower, one as good as the baseline, one worse."""
    dice = random.Random(2)
    runs = []
    for name, gain, slower in (("baseline", 0.0, 1), ("hybrid with a rather long name", 0.2, 2), ("same", 0.0, 1), ("poor", -0.2, 1)):  # fmt: skip
        cases = []
        for n in range(90):
            row, scores = a_case(n)
            score = min(1.0, max(0.0, 0.3 + n % 7 / 20 + gain + dice.gauss(0, 0.05)))
            scores = {
                "recall@5": Score(score),
                "token_f1": Score(score / 2),
                "latency": Score(slower * dice.lognormvariate(0, 0.2)),
            }
            cases.append((row, scores))
        metrics = tuple(
            {"name": name, "family": name.split("@")[0], "higher_is_better": name != "latency",
             "bounds": None if name == "latency" else [0.0, 1.0], "binary": False, "judged": False,
             "labels": [], "meaning": ""}
            for name in ("recall@5", "token_f1", "latency")
        )  # fmt: skip
        runs.append(build(cases, name=name, metrics=metrics))
    return compare(runs, primary="recall@5")


@pytest.mark.parametrize("width", [60, 80, 120, 160])
@pytest.mark.parametrize("language", ["en", "es"])
def test_it_opens_with_the_choice_and_fits_the_terminal(result, language: str, width: int) -> None:
    text = print_text(open_page(result, language), width, details=True)
    assert all(len(line) <= width for line in text.splitlines())
    flat = " ".join(text.split())
    head = {"en": "Choose hybrid with a rather long name: recall@5 +0.", "es": "Elige hybrid with a rather long name: recall@5 +0,"}[language]  # fmt: skip
    assert head in flat
    assert flat.index(head) < flat.index("★") < flat.index("same")
    if language == "es":
        for english in ("Choose", "Keep", "questions", "may be as good", "Estimate"):
            assert english not in flat


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_each_part_of_a_wide_table_names_the_configurations(tmp_path, width: int) -> None:
    metrics = ["answer_correctness", "context_relevance", "context_recall", "answer_relevance", "faithfulness", "completeness", "exact_match", "token_f1"]  # fmt: skip
    rows = [
        {"id": str(n), "question": f"How tall is tower {n}?", "contexts": [f"Tower {n} is {n} metres tall."], "reference": f"{n} metres"}
        for n in range(12)
    ]  # fmt: skip
    systems = {
        "first": lambda question: f"It is {question.split()[-1].rstrip('?')} metres tall.",
        "second": lambda question: "It is small.",
    }
    benched = bench(rows, systems, metrics, store=tmp_path / "s.db", judge="offline")
    assert benched.result is not None
    text = print_text(open_page(benched), width, details=True)
    league = text[: text.index("★ best mean")]
    assert (
        league.count("Configuration ") == league.count("\nfirst") == league.count("\nsecond") >= 1
    )


def test_every_format_has_the_league(result) -> None:
    document = open_page(result)
    page, text = html.render(document), markdown.render(document)
    for shown in (page, text):
        assert "Choose hybrid" in shown
        assert "latency" in shown
    assert "latency (s)" in page
    data = result.to_dict()
    assert data["recommendation"]["choice"] == "hybrid with a rather long name"
    assert len(data["league"]["columns"]) == 3


ADVICE = Recommendation(
    advice="choose", metric="recall", choice="hybrid", against="baseline", difference=0.04, low=0.01,
    high=0.07, questions=200, margin=0.02, costs=(CostRatio("latency", 2.0, 1.8, 2.2),), needed=900,
)  # fmt: skip


@pytest.mark.parametrize(
    ("advice", "said"),
    [
        (ADVICE, "Choose hybrid: recall +0.040 (+0.010 – +0.070) against baseline, for 2.00 × the latency (1.80 – 2.20)."),
        (replace(ADVICE, advice="keep", costs=()), "Keep hybrid: it is better in recall than every other configuration, +0.040 (+0.010 – +0.070) against the next, baseline."),
        (replace(ADVICE, advice="cheaper", choice="light", against="hybrid"), "Choose light: in recall it is within ±0.02 of the best, hybrid, for 2.00 × the latency (1.80 – 2.20)."),
        (replace(ADVICE, advice="equal", rivals=("a", "b")), "recall does not decide: hybrid, a and b are within ±0.02 of the best, and none is shown to be cheaper or faster. Choose by another metric."),
        (replace(ADVICE, advice="leader", rivals=("a",)), "Choose hybrid: no other is better in recall, cheaper or faster; a is within ±0.02 of it."),
        (replace(ADVICE, advice="undecided", low=-0.01, rivals=("baseline", "c")), "No choice yet: hybrid leads in recall by +0.040 (−0.010 – +0.070) over baseline, but 200 questions do not show that it is better. It is not clearly better than c either. A difference of 0.02 would show with about 900 questions, 700 more than now."),
        (replace(ADVICE, advice="undecided", difference=0.0, low=-0.05, high=0.05, needed=None), "No choice yet: hybrid and baseline are level in recall; with 200 questions a difference may still be there (−0.050 – +0.050)."),
    ],
)  # fmt: skip
def test_each_advice_is_a_sentence(advice: Recommendation, said: str) -> None:
    assert describe_recommendation(advice, load_translator("en"))[0].text == said


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("seed", range(4))
def test_no_name_of_a_point_is_printed_over_another(width: int, seed: int) -> None:
    dice = random.Random(seed)
    # in two heaps, as configurations of one system are
    points = [(1 + 0.05 * dice.random() + n % 2, 0.8 + 0.01 * dice.random() + 0.1 * (n % 2)) for n in range(12)]  # fmt: skip
    flags = find_front(points)
    offers = tuple(
        Candidate(f"configuration {n}", *point, flag)
        for n, (point, flag) in enumerate(zip(points, flags, strict=True))
    )
    drawing = draw_pareto(TradeOff("recall", "latency", offers), load_translator("en"), width)
    names = [s for s in drawing.shapes if isinstance(s, Caption) and s.text.startswith("configur")]
    assert len(names) >= (12 if width == WIDE else 8)
    boxes = [(c.x, c.y - FONT_SIZE + 1, c.x + text_width(c.text), c.y + 3) for c in names]
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert right <= width
        for other in boxes[at + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    assert any(isinstance(s, Caption) and s.text == "latency (s)" for s in drawing.shapes)
