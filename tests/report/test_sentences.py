"""What is said of a difference: one case for each sentence, and who is left out of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compared import FLOOR, make_comparison, make_run_comparison
from compared import make_difference as make
from ragstone.analysis.comparison import to_exclusion_key
from ragstone.report.comparison import sentences
from ragstone.report.translator import load_translator

SAY = load_translator("en")
UNCLEAR = {"verdict": "unclear", "detectable": 0.06, "effect": 0.03, "needed": 410}
SECONDS = {"metric": "latency", "bounds": None, "resource": True, "before": 2.0}


@pytest.mark.parametrize(
    ("changes", "text", "severity"),
    [
        ({"verdict": "better"}, "better by 0.1", "good"),
        ({"verdict": "worse", "difference": -0.1}, "worse by 0.1", "bad"),
        ({"verdict": "better", "difference": 0.01}, "better by 0.01, less than the 0.02 that matters", "good"),
        ({"verdict": "worse", "difference": -0.02}, "worse by 0.02, less than the 0.02 that matters", "bad"),
        ({"verdict": "better", "difference": -1.0, "margin": 0.1, **SECONDS}, "better by 1.00 (−50%)", "good"),
        ({"verdict": "worse", "difference": 1.0, "margin": 0.1, **SECONDS}, "worse by 1.00 (+50%)", "bad"),
        ({"verdict": "worse", "difference": 1.0, **SECONDS, "before": 0.0}, "worse by 1.00", "bad"),
        ({"verdict": "equivalent"}, "equivalent within ±0.02", "plain"),
        ({"verdict": "identical"}, "identical: the same answers, the same score on each", "plain"),
        (UNCLEAR, "cannot tell: only differences of 0.06 or more could be detected; 0.03 takes about 410 questions", "plain"),
        ({**UNCLEAR, "needed": 100}, "cannot tell: no difference is shown, and one of 0.03 is not ruled out", "plain"),
        ({**UNCLEAR, "needed": 101}, "cannot tell: only differences of 0.06 or more could be detected; 0.03 takes about 101 questions", "plain"),
        ({**UNCLEAR, "detectable": 1.0}, "cannot tell: too few questions to show any difference; 0.03 takes about 410", "plain"),
        ({**UNCLEAR, "unchanged": 100}, "cannot tell: no score changed, and 410 such questions would rule out a difference of 0.03", "plain"),
        ({**UNCLEAR, "detectable": None}, "cannot tell", "plain"),
        ({**UNCLEAR, "needed": None}, "cannot tell", "plain"),
        ({"verdict": "withheld", "pairs": 90, "coverage": 0.9}, "withheld: 90 of 100 samples scored in both runs (90%), under the floor of 95%", "warn"),
        ({"verdict": "withheld", "coverage": 0.95}, "withheld: too few samples scored in both runs", "warn"),
        ({"verdict": "withheld", "coverage": None}, "withheld: too few samples scored in both runs", "warn"),
    ],
)  # fmt: skip
def test_every_verdict_has_its_sentence(changes, text: str, severity: str) -> None:
    remark = sentences.describe_verdict(make(**changes), FLOOR, SAY)
    assert (remark.text, remark.severity) == (text, severity)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (list("abcde"), "a, b, c, d and e"),
        (list("abcdef"), "a, b, c, d, …"),
    ],
)
def test_names_are_listed_and_of_many_the_first(names: list[str], text: str) -> None:
    assert sentences.join_names(names, SAY) == text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"before": 2.0, "after": 3.0, "low": 0.5, "high": 1.5}, ("1.50", "1.25 – 1.75")),
        ({"before": 2.0, "after": 0.1, "low": -2.5, "high": -1.0}, ("0.05", "0 – 0.5")),
        ({"before": 0.0, "after": 1.0}, None),
        ({"low": None}, None),
        ({"high": None}, None),
    ],
)
def test_a_ratio_is_never_below_nothing(changes, said) -> None:
    assert sentences.format_ratio(make(**changes), SAY) == said


def test_moved_samples_are_counted_where_samples_have_a_partner() -> None:
    assert sentences.format_moved(make(), SAY) == "30 / 50 / 20"
    assert sentences.format_moved(make(test="interval"), SAY) == "–"


VERSUS = make_run_comparison(make())
COMPARISON = make_comparison(VERSUS)


def test_excluded_samples_are_said_by_run_and_reason() -> None:
    left_out = {
        to_exclusion_key("before", "judge_error: refusal"): 3,
        to_exclusion_key("after", "not_applicable"): 2,
        to_exclusion_key("both", "missing_field"): 1,
    }
    (remark,) = sentences.describe_exclusions(make(left_out=left_out), VERSUS, COMPARISON, SAY)
    assert remark.text == (
        "Excluded: judge error, refusal in old (×3); not applicable in new (×2); missing field in both (×1)."
    )


@pytest.mark.parametrize(("verdict", "lines"), [("better", ["Warning: few groups"]), ("identical", [])])  # fmt: skip
def test_values_that_are_all_the_same_are_not_warned_of(verdict, lines: list[str]) -> None:
    warned = make(verdict=verdict, warnings=("few groups",))
    said = sentences.describe_exclusions(warned, VERSUS, COMPARISON, SAY)
    assert [remark.text for remark in said] == lines


@pytest.mark.parametrize(
    ("changes", "paired", "lines"),
    [
        ({}, True, ["100 questions in both runs"]),
        ({"only_before": 2}, True, ["100 questions in both runs", "2 questions are only in old and 0 only in new: they do not count"]),
        ({"only_after": 1}, True, ["100 questions in both runs", "0 questions are only in old and 1 only in new: they do not count"]),
        ({"only_before": 7, "only_after": 8}, False, ["7 samples in old and 8 in new, compared as independent sets"]),
        ({"other_questions": tuple("wxyz")}, True, ["100 questions in both runs", "The runs ask different questions under the same id (w, x, y); are they of the same test set?"]),
        ({"only_metrics_before": ("mrr",), "only_metrics_after": ("bleu",)}, True, ["100 questions in both runs", "Only one run has mrr, bleu; not compared."]),
    ],
)  # fmt: skip
def test_pairing_says_what_was_matched_and_what_was_not(changes, paired: bool, lines) -> None:
    run_comparison = replace(VERSUS, **changes)
    comparison = replace(COMPARISON, paired=paired)
    said = sentences.describe_pairing(run_comparison, comparison, SAY)
    assert [remark.text for remark in said] == lines
