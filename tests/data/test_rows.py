"""Rows of usual shape take short cuts: they give what the long way gives, also for rows that nobody expects."""

from __future__ import annotations

import random
from typing import Any

from ragstone.data.field_values import _to_chunk, to_chunks
from ragstone.data.rows import compile_shape
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
        return compile_shape({"format": "ragstone"})(row, 7)
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


def test_chunks_are_those_of_the_long_way() -> None:
    def convert(items: list[Any], is_long: bool) -> Any:
        try:
            if is_long:
                return tuple(_take_long_way(item, rank) for rank, item in enumerate(items, 1))
            return tuple(to_chunks(items, "contexts"))
        except BadRow as bad:
            return str(bad)

    items = [item for value in VALUES for item in (value if isinstance(value, list) else [value])]
    dice = random.Random(4)
    for _ in range(500):
        drawn = dice.choices(items, k=dice.randrange(4))
        assert convert(drawn, False) == convert(drawn, True), drawn


def _take_long_way(item: Any, rank: int) -> Any:
    # a text of its own is the only thing that the long way leaves to the short cut
    return _to_chunk({"text": item} if item and isinstance(item, str) else item, "contexts", rank)
