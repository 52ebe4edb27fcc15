"""How differences and p-values are written: digits, signs, and no figure that reads as nothing."""

from __future__ import annotations

import pytest

from ragstone.report import amounts
from ragstone.report.translator import load_translator

EN, ES = load_translator("en"), load_translator("es")


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (None, "–"),
        (0.0, "<0.001"),
        (0.0004, "<0.001"),
        (0.001, "0.001"),
        (0.0432, "0.043"),
        (0.1, "0.10"),
        (0.432, "0.43"),
        (1.0, "1.00"),
    ],
)
def test_a_p_value_has_as_many_digits_as_mean_something(p, text: str) -> None:
    assert amounts.format_p_value(p, EN) == text
    assert amounts.format_p_value(p, ES) == text.replace(".", ",")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.000"),
        (0.2, "+0.200"),
        (-0.2, "−0.200"),
        (9.5, "+9.500"),
        (12.3, "+12.30"),
        (-1234.0, "−1234.0"),
    ],
)
def test_a_difference_has_its_sign(value, text: str) -> None:
    assert amounts.format_signed(value, EN) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(-0.1, 0.25, "−0.100 – +0.250"), (None, 0.2, "–"), (-0.1, None, "–")],
)
def test_the_ends_of_an_interval_are_signed_or_there_is_none(low, high, text: str) -> None:
    assert amounts.format_signed_interval(low, high, EN) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.00042, "0.0004"),
        (0.001, "0.001"),
        (0.0123, "0.012"),
        (0.5, "0.5"),
        (1.0, "1.00"),
        (9.876, "9.88"),
        (10.0, "10.0"),
        (123.45, "123.5"),
    ],
)
def test_a_size_has_two_digits_that_count(value: float, text: str) -> None:
    assert amounts.format_amount(value, EN) == text
    assert amounts.format_amount(value, ES) == text.replace(".", ",")
