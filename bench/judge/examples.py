"""Labelled rows turned into what the model learns from: claims, their sources and their labels."""

from __future__ import annotations

import re
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np
from crowds import crowded
from edits import mark_edits
from rows import judge_rows
from synthetic import synthetic

from ragstone.judges.offline.features import NAMES, features
from ragstone.judges.offline.reading import STOP, Reading, read
from ragstone.judges.offline.statements import statements
from ragstone.judges.offline.tokens import TAGGER_NAMES
from ragstone.judges.offline.verdicts import hurdles_of
from ragstone.text.sentences import split_sentences

FOLDS = 5
"""Of the cross-validation over source documents."""
_PASSAGE = re.compile(r"\n*passage \d+:")


@dataclass
class Example:
    """One labelled row: its claims laid on its sources."""

    row: dict[str, Any]
    claims: list[str]
    sentence: list[int]
    labels: list[int]
    """1 supported, 0 not, -1 unknown (a row that is not supported, without marked spans)."""
    table: np.ndarray[Any, Any] = field(repr=False)
    tokens: np.ndarray[Any, Any] = field(repr=False)
    owner: np.ndarray[Any, Any] = field(repr=False)
    """Which claim each content word stands in."""
    hurdles: list[float]
    """What each claim must reach at least, whatever the response looks like."""
    marks: np.ndarray[Any, Any] = field(repr=False)
    """For each content word 1 inside an unsupported span, 0 outside, -1 unknown."""


def sources_of(row: dict[str, Any]) -> list[str]:
    """The context as chunks: passages where they are marked; every other long text is cut."""
    if "chunks" in row:
        return list(row["chunks"])
    context: str = row["context"]
    if row["set"] == "ragtruth_test" and _PASSAGE.search(context):
        return [part.strip() for part in _PASSAGE.split(context) if part.strip()]
    luck = zlib.crc32(f"{row['group']}{context[:200]}".encode())
    words = len(context.split())
    if words < 160 or luck % 2 or context.lstrip().startswith("{"):
        return [context]
    size = 60 + luck // 2 % 140
    return _chunks(context, size)


def _chunks(text: str, size: int) -> list[str]:
    parts: list[str] = []
    start, count = 0, 0
    for a, b in split_sentences(text, "en"):
        if count >= size:
            parts.append(text[start:a])
            start, count = a, 0
        count += text.count(" ", a, b) + 1
    parts.append(text[start:])
    return parts


def example(row: dict[str, Any]) -> Example:
    """The row cut into claims as the judge cuts them, each with its features."""
    language = "es" if row["set"] == "inferes" else "en"
    text = row["claim"]
    claims, owner, labels, places = [], [], [], []
    spans = [(s["start"], s["end"]) for s in row.get("spans") or []]
    for number, (a, b) in enumerate(split_sentences(text, language)):
        for found in statements(text[a:b], language):
            claims.append(found.text)
            owner.append(number)
            own = [(a + x, a + y) for x, y in found.parts]
            places.append(own)
            if row["label"] == 1:
                labels.append(1)
            elif spans:
                hit = any(_overlap(x, y, s, e) for x, y in own[-1:] for s, e in spans)
                labels.append(0 if hit else 1)
            else:
                labels.append(-1)
    if not claims:
        claims, owner, labels, places = [text], [0], [int(row["label"])], [[(0, len(text))]]
    if row["label"] == 0 and len(claims) == 1:
        labels = [0]
    readings = [read(claim, language) for claim in claims]
    sources = [read(part, language) for part in sources_of(row)]
    table, tokens, laid = features(readings, sources)
    known = row["label"] == 1 or bool(spans)
    marks = [
        _mark(text, places[n], reading, spans if known else None)
        for n, reading in enumerate(readings)
    ]
    kept = laid.claims.kinds != STOP
    return Example(
        row,
        claims,
        owner,
        labels,
        table,
        tokens,
        laid.claims.text[kept],
        [] if row.get("synthetic") else hurdles_of(readings, sources, laid),
        np.concatenate(marks)[kept],
    )


def _mark(
    text: str, places: list[tuple[int, int]], reading: Reading, spans: list[tuple[int, int]] | None
) -> np.ndarray[Any, Any]:
    """Which tokens of a claim stand inside a span of the text it was cut from."""
    marks = np.full(len(reading.ids), -1 if spans is None else 0, np.int8)
    if not spans:
        return marks
    at, part = places[0][0], 0
    for token in range(len(marks)):
        surface = reading.surface(token)
        found = text.find(surface, at, places[part][1])
        while found < 0 and part + 1 < len(places):
            part += 1
            found = text.find(surface, places[part][0], places[part][1])
        if found < 0:
            continue
        at = found + len(surface)
        marks[token] = any(found < end and at > start for start, end in spans)
    return marks


def _overlap(a: int, b: int, s: int, e: int) -> bool:
    shared = min(b, e) - max(a, s)
    return shared >= min(3, e - s)


def examples() -> list[Example]:
    """All rows of the judge sets and the made-up ones, in a fixed order."""
    rows = judge_rows()
    mark_edits(rows)
    rows += synthetic(rows) + crowded(rows, FOLDS)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(example, rows, chunksize=64))


__all__ = ["NAMES", "TAGGER_NAMES", "Example", "example", "examples", "sources_of"]
