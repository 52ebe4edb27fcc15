"""Rows with ids: numbering what is sent, and joining or taking apart what comes back."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragstone.asks.kind import ExtractPart
from ragstone.locale.messages import compose
from ragstone.types import EMPTY, ChatMessage, Chunk


def number_sources(sources: Sequence[Chunk]) -> list[dict[str, str]]:
    """Give sources the ids k1, k2, …"""
    return [{"id": f"k{n}", "text": source.text} for n, source in enumerate(sources, 1)]


def number_cases(
    cases: Iterable[tuple[Sequence[str], Sequence[Chunk]]], name: str, prefix: str
) -> list[dict[str, Any]]:
    """Give texts and sources ids that run through all cases."""
    text_numbers, source_numbers = itertools.count(1), itertools.count(1)
    return [
        {
            name: [{"id": f"{prefix}{next(text_numbers)}", "text": text} for text in texts],
            "sources": [{"id": f"k{next(source_numbers)}", "text": s.text} for s in sources],
        }
        for texts, sources in cases
    ]


def list_messages(history: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """Return the messages of a conversation as values of an Ask."""
    return [{"role": message.role, "content": message.content} for message in history]


def list_texts(items: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the texts of claims, sources or chunks."""
    return tuple([item["text"] for item in items])


def extract_rows(
    field: str,
    key: str,
    ids_of_ask: Mapping[str, Sequence[str]],
    sources: Mapping[str, str] = EMPTY,
) -> ExtractPart:
    """Return a function that keeps the rows of one Ask, with the ids that it gave.

    `field` is the list of rows in the reply, `key` the id in a row. `ids_of_ask` has every id of the merged Ask: a row is
    repeated for each of the Ask's ids, so an empty list drops the rows of other Asks. Rows with an id that is no key are
    kept, so that their reader rejects them. `sources` renames the sources that quotes name."""

    def rename_source(quote: Any) -> Any:
        # as below: the class first, because isinstance of an abstract class is slow
        is_mapping = quote.__class__ is dict or isinstance(quote, Mapping)
        name = quote.get("source") if is_mapping else None
        if isinstance(name, str) and name in sources:
            return {**quote, "source": sources[name]}
        return quote

    def extract(value: Any) -> Any:
        rows = value.get(field) if isinstance(value, Mapping) else None
        if not isinstance(rows, list):
            return value
        kept_rows: list[Any] = []
        for row in rows:
            # the class is compared first because isinstance of an abstract class is slow
            is_mapping = row.__class__ is dict or isinstance(row, Mapping)
            merged_id = row.get(key) if is_mapping else None
            if not isinstance(merged_id, str) or merged_id not in ids_of_ask:
                kept_rows.append(row)
                continue
            evidence = row.get("evidence")
            if sources and isinstance(evidence, list):
                row = {**row, "evidence": [rename_source(quote) for quote in evidence]}
            kept_rows += [{**row, key: ask_id} for ask_id in ids_of_ask[merged_id]]
        return {**value, field: kept_rows}

    return extract


def align_rows(lists: Sequence[Sequence[Any]], *key: str) -> list[list[Any]]:
    """Return the rows about each item, one from each list, in the order of the first list."""
    by_item = [{tuple(row[k] for k in key): row for row in rows} for rows in lists]
    return [[rows[item] for rows in by_item] for item in by_item[0]]


def choose_median(rows: Sequence[Any], field: str) -> Any:
    """Return the row with the median value; the lower one of two in the middle."""
    return sorted(rows, key=lambda row: row[field])[(len(rows) - 1) // 2]


def note_disagreement(split: int, total: int, code: str) -> tuple[str, ...]:
    """Return a note on the items that the jurors did not agree on; none when there are none."""
    return (compose(code, split=split, total=total),) if split else ()
