"""Calls of tools against those that were expected."""

from __future__ import annotations

import pytest

from ragstone.errors import NotApplicable
from ragstone.metrics.steps import (
    tool_calls,
    tool_errors,
    tool_order,
    tool_precision,
    tool_recall,
)
from ragstone.types import ToolStep

SEARCH, BOOK = ToolStep("search", {"q": "x", "k": 3}), ToolStep("book", {"day": 1}, error="full")


def test_calls_match_by_name_and_by_the_arguments_that_are_expected():
    expected = (ToolStep("search"), ToolStep("book", {"day": 2}))
    assert tool_precision((SEARCH, BOOK), expected).value == 0.5
    score = tool_recall((SEARCH, BOOK), expected)
    assert [f.verdict for f in score.findings] == ["made", "missing"]
    assert score.value == 0.5
    assert tool_recall((SEARCH,), (ToolStep("search", {"q": "x"}),)).value == 1


def test_a_call_is_matched_once():
    assert tool_precision((SEARCH, SEARCH), (ToolStep("search"),)).value == 0.5
    assert tool_recall((SEARCH,), (ToolStep("search"), ToolStep("search"))).value == 0.5


def test_as_many_as_possible_are_matched():
    made = (ToolStep("f", {"a": 1, "b": 2}), ToolStep("f", {"a": 1}))
    expected = (ToolStep("f", {"a": 1}), ToolStep("f", {"b": 2}))
    assert tool_recall(made, expected).value == 1


def test_the_order_is_the_longest_common_subsequence():
    a, b, c = (ToolStep(name) for name in "abc")
    assert tool_order((a, b, c), (a, b, c)).value == 1
    assert tool_order((b, a, c), (a, b, c)).value == pytest.approx(2 / 3)
    assert tool_order((a, b, c, a), (a, c)).value == 0.5
    assert tool_order((), (a,)).value == 0


def test_errors_and_calls_are_counted():
    score = tool_errors((SEARCH, BOOK))
    assert (score.value, score.findings[1].reason) == (0.5, "full")
    assert tool_calls((SEARCH, BOOK)).value == 2
    assert tool_calls(()).value == 0


def test_where_nothing_is_called_or_expected_there_is_nothing_to_score():
    for scored in (
        lambda: tool_precision((), (SEARCH,)),
        lambda: tool_recall((SEARCH,), ()),
        lambda: tool_order((), ()),
        lambda: tool_errors(()),
    ):
        with pytest.raises(NotApplicable):
            scored()
