"""Gates: what may be written, and what each compares."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.config.gates import Gate, check_gate, parse_gate


def figures(**changes: Any) -> Any:
    known = {
        "metric": "recall@5",
        "mean": 0.78,
        "median": 0.9,
        "low": 0.712,
        "high": 0.834,
        "scored": 120,
        "applicable": 125,
    }
    return SimpleNamespace(**(known | changes))


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        (">= 0.8", Gate("interval", ">=", 0.8)),
        ("  >0.8 ", Gate("interval", ">", 0.8)),
        ("<= 0.1", Gate("interval", "<=", 0.1)),
        ("< .1", Gate("interval", "<", 0.1)),
        ("≥ 0.8", Gate("interval", ">=", 0.8)),
        ("mean >= 0.8", Gate("mean", ">=", 0.8)),
        ("Mean>=80%", Gate("mean", ">=", 0.8)),
        ("median < 2e3", Gate("median", "<", 2000.0)),
        ("coverage >= 99 %", Gate("coverage", ">=", 0.99)),
        (">= -0.5", Gate("interval", ">=", -0.5)),
    ],
)
def test_rules_as_people_write_them(text: str, gate: Gate) -> None:
    assert parse_gate(text) == gate


@pytest.mark.parametrize(
    "text",
    ["", "0.8", "=> 0.8", "== 0.8", "average >= 0.8", ">= high", ">= nan", ">= 0.8 0.9", ">="],
)
def test_anything_else_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"write '>= 0\.8'") as caught:
        parse_gate(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", [">= 1e999", "coverage >= 95"])
def test_limits_that_cannot_be_meant_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="compares"):
        parse_gate(text)


def test_a_gate_prints_as_it_is_read() -> None:
    for text in (">= 0.8", "mean < 0.25", "coverage >= 0.99"):
        assert str(parse_gate(text)) == text
        assert parse_gate(str(parse_gate(text))) == parse_gate(text)


def test_at_least_compares_the_lower_end_of_the_interval() -> None:
    result = check_gate(parse_gate(">= 0.8"), figures())
    assert result.passed is False
    assert (
        result.sentence == "recall@5 >= 0.8: lower end of the interval is 0.712 (mean 0.78, n 120)"
    )
    assert check_gate(parse_gate(">= 0.7"), figures()).passed is True


def test_at_most_compares_the_upper_end_of_the_interval() -> None:
    assert check_gate(parse_gate("<= 0.8"), figures()).passed is False
    result = check_gate(parse_gate("<= 0.84"), figures())
    assert result.passed is True
    assert "upper end of the interval is 0.834" in result.sentence


def test_mean_median_and_coverage_compare_themselves() -> None:
    assert check_gate(parse_gate("mean >= 0.75"), figures()).passed is True
    assert check_gate(parse_gate("median > 0.9"), figures()).passed is False
    result = check_gate(parse_gate("coverage >= 0.97"), figures())
    assert result.passed is False
    assert result.sentence == "recall@5 coverage >= 0.97: coverage is 0.96 (120 of 125 scored)"


def test_without_a_figure_nothing_is_decided() -> None:
    nothing = figures(mean=None, median=None, low=None, high=None, scored=0, applicable=0)
    for rule in (">= 0.8", "mean >= 0.8", "median >= 0.8", "coverage >= 0.8"):
        result = check_gate(parse_gate(rule), nothing)
        assert result.passed is None
        assert "nothing was scored" in result.sentence
    single = check_gate(parse_gate(">= 0.8"), figures(low=None, high=None, scored=1))
    assert single.passed is None
    assert "there is no lower end of the interval" in single.sentence


def test_the_sentence_shows_digits_enough_to_see_who_is_right() -> None:
    result = check_gate(parse_gate(">= 0.8"), figures(low=0.79996))
    assert result.passed is False
    assert "is 0.79996 (" in result.sentence
