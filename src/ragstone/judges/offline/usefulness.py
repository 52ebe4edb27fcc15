"""The `useful` Ask: how far a chunk helps with the question or towards a wanted text, 0, 1 or 2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ragstone.judges.offline.alignment import MOST_SOURCE_TOKENS, Tokens, align, lay
from ragstone.judges.offline.reading import NAME, NUMBER, STOP, Reading, read
from ragstone.judges.offline.statements import statements
from ragstone.judges.offline.view import best_units, bounds_of, unit_text
from ragstone.locale.messages import compose
from ragstone.text.encoder import encode
from ragstone.text.sentences import split_sentences

QUESTION_BARS = {1: (0.42, 0.62), 2: (0.34, 0.52)}
"""Relevance from which a chunk gets 1 and 2, for each wording of the question: strict and lenient."""
ACROSS = 1.4
"""What relevance is raised by when question and chunk are in different languages."""
TARGET_BARS = (0.45, 0.75)
"""The same for a chunk that is to lead to a given text."""


def answer_useful(values: Mapping[str, Any], language: str | None) -> Any:
    """A grade for each chunk and each target."""
    chunks = [read(chunk["text"], language) for chunk in values["chunks"]]
    rows = []
    for target, text in values["targets"].items():
        if text is None:
            found = relevances(values["question"], chunks, language)
            low, high = QUESTION_BARS.get(values["wording"], QUESTION_BARS[1])
        else:
            found = _reached(values["question"], text, chunks, language)
            low, high = TARGET_BARS
        for chunk, (value, quote) in zip(values["chunks"], found, strict=True):
            grade = int(value >= low) + int(value >= high)
            rows.append(
                {
                    "id": chunk["id"],
                    "target": target,
                    "grade": grade,
                    "reason": _reason(value, quote, chunks[0].language),
                }
            )
    return {"grades": rows}


def _reason(value: float, quote: str, language: str) -> str:
    if not quote:
        return compose("no_shared_words", language)
    short = (quote if len(quote) <= 120 else quote[:119] + "…").rstrip(": ")
    return compose("closest_sentence", language, quote=short, value=round(value, 2))


def relevances(
    question: str, chunks: Sequence[Reading], language: str | None
) -> list[tuple[float, str]]:
    """How much each chunk has to do with the question, 0..1, and its closest sentence."""
    asked = read(question, language)
    vectors = encode([question, *(chunk.raw for chunk in chunks)])
    alike = vectors[1:] @ vectors[0]
    wants = _wants(question)
    found = []
    for n, chunk in enumerate(chunks):
        cover, quote, near = _covered([asked], chunk)
        kind = _offers(wants, near)
        cosine = max(float(alike[n]), 0.0)
        value = 0.5 * cosine + 0.4 * cover + 0.1 * kind
        if asked.language != chunk.language:  # fewer shared words to be had
            value *= ACROSS
        found.append((value, quote))
    return found


_WANTS = (
    (
        re.compile(
            r"\bhow (?:many|much|long|old|far|tall|big|often|high|fast)\b|\bcost|\bprice|\bcuánt|\bage\b"
        ),
        NUMBER,
    ),
    (re.compile(r"\bwhen\b|\bwhat year\b|\bcuándo\b|\bqué año\b|\bdate\b|\bfecha\b"), NUMBER),
    (re.compile(r"\bwho\b|\bwhose\b|\bquién|\bwhere\b|\bdónde\b|\bcity\b|\bcountry\b"), NAME),
)


def _wants(question: str) -> int:
    """The kind of token an answer must have, STOP when any will do."""
    low = question.lower()
    return next((kind for pattern, kind in _WANTS if pattern.search(low)), STOP)


def _offers(wants: int, near: Sequence[int]) -> float:
    return 1.0 if wants == STOP or wants in near else 0.0


def _covered(wanted: Sequence[Reading], chunk: Reading) -> tuple[float, str, list[int]]:
    """Weighted share of the wanted words that the chunk has, its best sentence, and what kinds stand in it."""
    laid = align(wanted, [chunk], around=False)
    if not len(laid.units) or not len(laid.claims.ids):
        return 0.0, "", []
    weight = np.where(laid.claims.kinds == STOP, 0.0, laid.claims.weights)
    if not weight.sum():
        return 0.0, "", []
    cover = float((laid.most * weight).sum() / weight.sum())
    _, best = best_units(laid, bounds_of(laid, len(wanted)))
    unit = int(best[0])
    fresh = ~laid.exact[:, laid.unit_starts[unit] : laid.unit_ends[unit]].any(axis=0)
    kinds = laid.sources.kinds[laid.unit_starts[unit] : laid.unit_ends[unit]][fresh]
    return cover, unit_text([chunk], laid, unit) if cover > 0 else "", kinds.tolist()


def _reached(
    question: str, text: str, chunks: Sequence[Reading], language: str | None
) -> list[tuple[float, str]]:
    """How much of a wanted text each chunk holds: the best of its statements, words the question has not."""
    parts = [text[a:b] for a, b in split_sentences(text, language)] or [text]
    said = [one.text for part in parts for one in statements(part)] or [text]
    wanted = [read(one, language) for one in said]
    known = set(read(question, language).ids.tolist())
    left = Tokens.of(wanted)
    weight = np.where(left.kinds == STOP, 0.02, left.weights)
    repeated = np.array([word in known for word in left.ids.tolist()], np.bool_)
    weight = weight * np.where(repeated, 0.35, 1.0)  # what the question says proves little
    found = []
    for chunk in chunks:
        laid = lay(left, Tokens.of([chunk], MOST_SOURCE_TOKENS), around=False)
        if not len(laid.units):
            found.append((0.0, ""))
            continue
        bounds = bounds_of(laid, len(wanted))
        _, best = best_units(laid, bounds)
        values = []
        for claim, (a, b) in enumerate(pairwise(bounds)):
            mine = weight[a:b]
            both = 0.5 * (laid.most[a:b] + laid.soft[a:b, int(best[claim])])
            share = np.add.reduce(both * mine) / max(float(np.add.reduce(mine)), 1e-6)
            values.append((float(share), unit_text([chunk], laid, int(best[claim]))))
        found.append(max(values) if values else (0.0, ""))
    return found
