"""What a comparison comes to: a sentence for each outcome, a badge that claims no more than it shows, and the method."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compared import make_comparison, make_difference, make_resource, make_run_comparison
from ragstone.analysis.percentiles import PercentileChange
from ragstone.report.comparison import opening
from ragstone.report.translator import load_translator

SAY = load_translator("en")
UNCLEAR = {"verdict": "unclear", "detectable": 0.06, "effect": 0.03, "needed": 410}
WORSE = {"verdict": "worse", "difference": -0.1, "low": -0.15, "high": -0.05}


def open_run(*differences, **changes) -> list[tuple[str, str]]:
    run = make_run_comparison(*differences, **changes)
    remarks = opening.describe_run_verdicts(run, make_comparison(run), SAY)
    return [(remark.text, remark.severity) for remark in remarks]


def test_what_is_worse_comes_first_and_what_answers_take_last() -> None:
    assert open_run(
        make_resource(),
        make_difference("a", "withheld"),
        make_difference("b", "equivalent"),
        make_difference("c"),
        make_difference("d", **WORSE),
        make_difference("e", **WORSE, family="primary"),
    ) == [
        ("new is worse than old in e −0.100 (−0.150 – −0.050) and d −0.100 (−0.150 – −0.050).", "bad"),
        ("new is better than old in c +0.100 (+0.050 – +0.150).", "good"),
        ("No difference that matters in b.", "plain"),
        ("No verdict on a: too few samples are scored.", "warn"),
        ("Per answer: latency × 1.50 (1.25 – 1.75).", "warn"),
    ]  # fmt: skip


def test_cheaper_answers_are_good_and_unclear_ones_are_not_mentioned() -> None:
    cheaper = make_resource(verdict="better", after=1.0, difference=-1.0, low=-1.5, high=-0.5)
    assert open_run(cheaper, make_resource("cost", "unclear")) == [
        ("Per answer: latency × 0.5 (0.25 – 0.75).", "good")
    ]


def test_the_same_answers_are_said_to_be_so_once() -> None:
    assert open_run(make_difference(verdict="identical"), same_answers=True) == [
        ("new and old gave the same answers to the 100 questions asked: there is no difference in quality to look for.", "plain")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([UNCLEAR | {"difference": 0.05, "low": -0.01}], "Undecided: m0 +0.050 (−0.010 – +0.150) on 100 questions may be chance; about 148 would tell."),
        ([UNCLEAR | {"difference": 0.01}], "m0 is undecided: only a difference of 0.06 or more could be detected, and 0.03 takes about 410 questions."),
        ([UNCLEAR | {"difference": 0.01}, UNCLEAR], "Undecided: m0 and m1. In m0 only a difference of 0.06 or more could be detected, and 0.03 takes about 410 questions."),
        ([UNCLEAR | {"detectable": 1.2}], "About m0 these questions cannot tell: in m0 they are too few to show any difference, and 0.03 takes about 410."),
        ([UNCLEAR | {"needed": 90}], "About m0 these questions cannot tell: in m0 no difference is shown, and one of 0.03 is not ruled out."),
        ([UNCLEAR | {"needed": None}], "About m0 these questions cannot tell."),
        ([UNCLEAR | {"detectable": None}], "About m0 these questions cannot tell."),
    ],
)  # fmt: skip
def test_what_cannot_be_told_says_what_would_decide(rows, text: str) -> None:
    differences = [make_difference(f"m{number}", **row) for number, row in enumerate(rows)]
    assert open_run(*differences) == [(text, "plain")]


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (make_difference(low=None), "recall +0.100"),
        (make_difference(), "recall +0.100 (+0.050 – +0.150)"),
        (make_resource(), "latency × 1.50 (1.25 – 1.75)"),
        (make_resource(before=0.0), "latency +1.000 (+0.500 – +1.500)"),
    ],
)
def test_an_item_is_a_ratio_only_where_there_is_one(difference, text: str) -> None:
    assert opening.describe_item(difference, SAY) == text


@pytest.mark.parametrize(
    ("differences", "text", "severity"),
    [
        ([make_difference(**WORSE)], "1 regression: recall", "bad"),
        ([make_difference(**WORSE), make_difference("f1", **WORSE)], "2 regressions: recall and f1", "bad"),
        ([make_difference()], "No regression shown.", "good"),
        ([make_difference(verdict="equivalent"), make_difference("f1", "equivalent", margin=0.05)], "No regression shown. Losses of more than 0.05 in recall and f1 are ruled out.", "good"),
        ([make_difference(verdict="identical")], "No regression shown. The answers are the same.", "good"),
        ([make_difference(**UNCLEAR), make_difference("f1", **UNCLEAR | {"detectable": 0.2})], "No regression shown. A loss of 0.2 in f1 would have been found 4 times in 5; smaller ones may have been missed.", "plain"),
        ([make_difference(**UNCLEAR, family="primary"), make_difference("f1", **UNCLEAR | {"detectable": 0.2})], "No regression shown. A loss of 0.06 in recall would have been found 4 times in 5; smaller ones may have been missed.", "plain"),
        ([make_difference(**UNCLEAR | {"detectable": 1.0})], "No regression shown. The questions are too few to show any difference in recall.", "plain"),
        ([make_difference(**UNCLEAR | {"detectable": None})], "No regression shown. What may have been missed cannot be told: no interval can be given for recall.", "plain"),
        ([make_difference(), make_resource()], "No regression in quality shown. But worse in latency, which fails nothing unless named with -m.", "warn"),
        ([make_difference(verdict="withheld")], "No regression shown. No verdict on recall.", "warn"),
    ],
)  # fmt: skip
def test_the_badge_says_what_is_shown_and_what_may_be_missed(
    differences, text, severity: str
) -> None:
    remark = opening.describe_state(make_comparison(make_run_comparison(*differences)), SAY)
    assert (remark.text, remark.severity) == (text, severity)


def test_of_several_runs_a_regression_names_its_run() -> None:
    runs = [make_run_comparison(make_difference(**WORSE), run=name) for name in ("x", "y")]
    said = opening.describe_state(make_comparison(*runs), SAY).text
    assert said == "2 regressions: recall in x and recall in y"


@pytest.mark.parametrize(
    ("changes", "clusters", "said", "unsaid"),
    [
        ({}, None, ["after minus before", "samples count as independent", "McNemar", "the two always agree"], ["Holm", "groups count"]),
        ({}, 7, ["groups count as independent"], ["samples count"]),
        ({"paired": False}, None, ["independent sets of samples", "exclude 0"], ["McNemar"]),
        ({"tests": {"primary": 1, "quality": 3}, "primary": "recall"}, None, ["Tested in families: recall first and alone; quality (3 tests).", "corrected by Holm"], ["Bonferroni"]),
        ({"tests": {"quality": 2}, "correction": "bonferroni"}, None, ["(Bonferroni)"], ["Holm"]),
    ],
)  # fmt: skip
def test_the_method_is_the_one_that_was_used(changes, clusters, said, unsaid) -> None:
    run = make_run_comparison(make_difference(clusters=clusters))
    text = opening.describe_method(make_comparison(run, **changes), SAY)
    assert [part for part in said if part not in text] == []
    assert [part for part in unsaid if part in text] == []
    plain = opening.describe_method(make_comparison(run), SAY, plain_intervals=True)
    assert plain.endswith("verdicts and p are corrected.")


def test_percentiles_have_their_ratio_and_an_interval_where_there_is_one() -> None:
    changes = (
        PercentileChange("p50", 1.0, 2.0, 2.0, 1.5, 2.5),
        PercentileChange("p95", 2.0, 3.0, 1.5),
        PercentileChange("p99", 0.0, 3.0),
    )
    difference = make_resource(percentiles=changes)
    assert opening.describe_percentiles(difference, SAY) == (
        "Percentiles of latency: p50 1.000 → 2.000 (× 2.00; 1.50 – 2.50), "
        "p95 2.000 → 3.000 (× 1.50, too few samples for an interval). Each interval is that of one ratio alone."
    )
    assert opening.describe_percentiles(replace(difference, verdict="identical"), SAY) == ""
    assert opening.describe_percentiles(make_resource(), SAY) == ""
