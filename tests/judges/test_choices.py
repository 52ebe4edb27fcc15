"""Reading one option from tokens and their log-probabilities."""

from __future__ import annotations

import math

import pytest

from ragstone.judges.choices import PairLabel, find_option, merge_windows, weigh_options

ABC = ("A", "B", "C")


def test_spellings_of_one_option_are_added_up_and_others_left_out() -> None:
    tokens = [("A", math.log(0.3)), (" a", math.log(0.1)), ("B", math.log(0.4)), ("The", -2.0)]
    weights = weigh_options(tokens, ("A", "B"))
    assert weights == pytest.approx({"A": 0.5, "B": 0.5})


def test_an_option_that_is_not_listed_gets_at_most_the_least_listed_weight() -> None:
    weights = weigh_options([("A", math.log(0.9)), ("x", math.log(0.01))], ABC)
    assert weights is not None
    assert weights["B"] == weights["C"] == pytest.approx(0.01 / 0.92)


@pytest.mark.parametrize("logprob", [float("nan"), float("inf"), 3.0])
def test_what_is_no_log_probability_gives_no_probability(logprob: float) -> None:
    assert weigh_options([("A", -0.1), ("B", logprob)], ABC) is None


@pytest.mark.parametrize(
    "tokens", [[], [("Yes", -0.1)], [("A", -math.inf), ("B", -math.inf), ("C", -math.inf)]]
)
def test_without_any_option_there_is_no_probability(tokens: list[tuple[str, float]]) -> None:
    assert weigh_options(tokens, ABC) is None


@pytest.mark.parametrize(("mass", "chosen"), [(0.19, False), (0.21, True)])
def test_options_that_are_unlikely_together_were_not_chosen(mass: float, chosen: bool) -> None:
    tokens = [("A", math.log(mass / 2)), ("B", math.log(mass / 2)), ("The", math.log(1 - mass))]
    assert (weigh_options(tokens, ABC) is not None) is chosen


@pytest.mark.parametrize("text", ["A", " a\n", "**A**", "(A) it says so", "A.", "▁A"])
def test_an_option_is_read_however_it_is_written(text: str) -> None:
    assert find_option(text, ABC) == "A"


def test_a_token_may_be_the_beginning_of_a_word() -> None:
    weights = weigh_options([(" un", math.log(0.6)), ("True", math.log(0.2))], ("true", "unknown"))
    assert weights == pytest.approx({"true": 0.25, "unknown": 0.75})
    assert find_option("Un", ("true", "unknown")) == "unknown"


def test_an_accent_may_be_left_out() -> None:
    tokens = [("S", math.log(0.3)), ("Si", math.log(0.3)), ("No", math.log(0.4))]
    assert weigh_options(tokens, ("sí", "no")) == pytest.approx({"sí": 0.6, "no": 0.4})
    assert find_option("Si.", ("sí", "no")) == "sí"


@pytest.mark.parametrize("text", ["", "  ", "D", "Answer", "AB", "I think A"])
def test_what_is_no_option_is_none(text: str) -> None:
    assert find_option(text, ABC) is None


def test_the_window_that_speaks_of_the_claim_decides() -> None:
    silent: dict[PairLabel, float] = {"supported": 0.05, "contradicted": 0.05, "not_found": 0.9}
    contrary: dict[PairLabel, float] = {"supported": 0.1, "contradicted": 0.8, "not_found": 0.1}
    assert merge_windows([silent, contrary, silent]) == contrary
