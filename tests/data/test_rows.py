"""Rows that nobody expects: a sample, or a sentence that says what is wrong."""

from __future__ import annotations

import random
from typing import Any

from ragstone.data.rows import RowMapper
from ragstone.data.strict_json import BadRow

VALUES: list[Any] = [
    None, "", "text", "  ", 0, 1, 2.5, True, [], {}, ["a"], [""], [None], {"a": 1}, {"a": None}, "es", "x" * 5000,
    [{"id": "d1", "text": "t"}], [{"id": "", "text": "t"}], [{"id": 3, "text": ""}], [{"text": "t"}], [{"id": "d"}],
    [{"id": "d", "text": None}], [{"id": "d", "text": "t", "score": 0.5}], [{"doc_id": "d", "text": "t"}], [["a"]],
    [{"role": "user", "content": "Hi?"}], [{"tool": "search", "result": "found"}], [{"id": "d", "grade": 2}, "e"],
]  # fmt: skip
COLUMNS = [
    "id", "question", "answer", "contexts", "reference", "relevant", "language", "group", "error", "meta", "metadata",
    "messages", "steps", "expected_steps", "latency", "topic",
]  # fmt: skip


def draw_row(dice: random.Random) -> dict[str, Any]:
    columns = dice.sample(COLUMNS, dice.randrange(1, 4))
    usual = {"question": "Why?"} if dice.random() < 0.7 else {}
    return usual | {column: dice.choice(VALUES) for column in columns}


def read(row: dict[str, Any]) -> Any:
    """The sample and whether it has an id, or what is wrong with the row."""
    try:
        return RowMapper({"format": "ragstone"})(row, 7)
    except BadRow as bad:
        return str(bad)


def test_a_row_without_rare_columns_is_read_as_if_they_were_empty() -> None:
    dice = random.Random(3)
    rows = [draw_row(dice) for _ in range(800)]
    assert [read(row) for row in rows] == [
        read(row | {"language": row.get("language")}) for row in rows
    ]
    outcomes = [read(row) for row in rows]
    assert any(isinstance(outcome, str) for outcome in outcomes)
    assert sum(isinstance(outcome, tuple) for outcome in outcomes) > 100
