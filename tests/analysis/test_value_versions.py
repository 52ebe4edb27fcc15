"""Runs of before and after values became expected shares: what is compared, and the bound of a gate."""

from __future__ import annotations

import pytest

from ragstone.analysis.compare import compare
from ragstone.analysis.value_versions import find_outdated_gates
from ragstone.errors import RagstoneError
from ragstone.types import VALUE_VERSION, Finding, Score

NOW = {"version": 1, "facts": {"value_version": VALUE_VERSION}}


def claim(value: float, probability: float | None = None) -> Score:
    return Score(value, findings=(Finding("c", "supported", probability=probability),))


def test_a_run_of_before_is_refused_and_compared_anyway_with_a_mark(build) -> None:
    old = build("old", {"faithfulness": [1.0, 0.0, 1.0]})
    new = build("new", {"faithfulness": [claim(p, p) for p in (0.8, 0.2, 0.7)]}, plan=NOW)
    with pytest.raises(RagstoneError, match=r"'old' is from before.*faithfulness.*--anyway"):
        compare([old, new])
    compared = compare([old, new], anyway=True)
    assert compared.changed_values == ("faithfulness",)
    assert compared.versus[0]["faithfulness"].pairs == 3


def test_other_metrics_of_such_runs_are_compared_as_ever(build) -> None:
    old = build("old", {"recall@5": [1.0, 0.0], "faithfulness": [1.0, 0.0]})
    new = build("new", {"recall@5": [1.0, 1.0], "faithfulness": [claim(0.7, 0.7)] * 2}, plan=NOW)
    assert compare([old, new], metrics=["recall@5"]).changed_values == ()


def test_a_judge_that_says_yes_or_no_has_the_values_of_before(build) -> None:
    old = build("old", {"faithfulness": [1.0, 0.0]})
    new = build("new", {"faithfulness": [claim(1.0), claim(0.0)]}, plan=NOW)
    assert compare([old, new]).changed_values == ()


def test_a_fit_to_labels_in_one_of_the_runs_is_no_gain(build) -> None:
    facts = {"value_version": VALUE_VERSION, "judge_identity": "j"}
    fit = {"method": "platt", "labels": 40}
    plans = [{"version": 1, "facts": facts | more} for more in ({}, {"calibration": fit})]
    values = {"faithfulness": [claim(0.7, 0.7)] * 3}
    plain, fitted = (build(str(n), values, plan=plan) for n, plan in enumerate(plans))
    with pytest.raises(RagstoneError, match="were fitted to labels in some of these runs"):
        compare([plain, fitted])
    assert compare([plain, fitted], anyway=True).changed_values == ("faithfulness",)
    assert compare([fitted, build("again", values, plan=plans[1])]).changed_values == ()


def test_runs_of_the_same_version_need_no_word(build) -> None:
    runs = [build(name, {"faithfulness": [claim(0.7, 0.7)] * 3}, plan=NOW) for name in ("a", "b")]
    assert compare(runs).changed_values == ()


def test_a_missed_gate_of_before_gets_the_bound_at_the_same_place(build) -> None:
    build("old", {"faithfulness": [1.0, 0.8, 0.9], "recall@5": [1.0] * 3})
    new = build("new", {"faithfulness": [0.8, 0.6, 0.7], "recall@5": [0.0] * 3}, plan=NOW)
    missed = [("faithfulness", "mean >= 0.85"), ("recall@5", ">= 0.9")]
    found = find_outdated_gates(new, missed)
    assert [(gate.metric, gate.suggested) for gate in found] == [("faithfulness", "mean >= 0.65")]


def test_a_gate_is_not_suggested_anew_after_a_run_of_this_version(build) -> None:
    build("old", {"faithfulness": [1.0, 0.8]})
    build("between", {"faithfulness": [0.8, 0.6]}, plan=NOW)
    new = build("new", {"faithfulness": [0.8, 0.6]}, plan=NOW)
    assert find_outdated_gates(new, [("faithfulness", ">= 0.9")]) == ()
