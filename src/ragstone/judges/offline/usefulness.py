"""The `useful` Ask: the chance that a chunk helps with the question or towards a wanted text, and a grade 0, 1 or 2.

A chunk is useful when it answers a part of the question; it gets 2 when it answers all of it. Few figures that mean the
same for any text, weighed by logistic models; bench/judge/usefulness.py fits and measures them. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ragstone.judges.offline.alignment import MOST_SOURCE_TOKENS, Alignment, Tokens, lay
from ragstone.judges.offline.question_kinds import (
    QuestionKind,
    classify_question,
    offers_quantity,
    split_question,
)
from ragstone.judges.offline.reading import NAME, STOP, Floats, Reading, read
from ragstone.judges.offline.statements import statements
from ragstone.judges.offline.view import bounds_of, find_unit_span
from ragstone.locale.messages import compose
from ragstone.text.encoder import encode
from ragstone.text.sentences import split_sentences

QUESTION_WEIGHTS: Mapping[str, float] = {
    "bias": -2.35, "cosine": 4.39, "cover": 3.11, "weakest": 0.88, "offers": 0.65, "across": 0.22, "across_cosine": 1.39,
}  # fmt: skip
TARGET_WEIGHTS: Mapping[str, float] = {"bias": -3.61, "reach": 4.25, "shared": 3.35, "cover": 2.49}
"""Both fitted by bench/judge/usefulness.py, on corpora of this project and RAGTruth; `measure_chunks` and
`measure_towards` give the figures under the same names."""
BARS = {1: (0.5, 0.7), 2: (0.3, 0.5)}
"""Chance from which a chunk helps, and from which it answers all parts, for each wording: strict and lenient."""
KNOWN_WEIGHT = 0.35
"""What a word of a wanted text counts that the question has already: it proves little."""


class Usefulness(NamedTuple):
    """What is known of a chunk: the chance that it helps at all and with everything, and its nearest passage."""

    helps: float
    answers_all: float
    quote: str


def answer_useful(values: Mapping[str, Any], language: str | None) -> Any:
    """Reply with a chance and a grade for each chunk and each target."""
    chunks = [read(chunk["text"], language) for chunk in values["chunks"]]
    low, high = BARS.get(values["wording"], BARS[1])
    rows = []
    for target, text in values["targets"].items():
        if text is None:
            judged = judge_chunks(values["question"], chunks, language)
        else:
            judged = judge_towards(values["question"], text, chunks, language)
        for chunk, useful in zip(values["chunks"], judged, strict=True):
            rows.append(
                {
                    "id": chunk["id"],
                    "target": target,
                    "grade": int(useful.helps >= low) + int(useful.answers_all >= high),
                    "probability": round(useful.helps, 4),
                    "reason": _explain(useful, chunks[0].language),
                }
            )
    return {"grades": rows}


def _explain(useful: Usefulness, language: str) -> str:
    if not useful.quote:
        return compose("no_shared_words", language)
    short = useful.quote if len(useful.quote) <= 120 else useful.quote[:119] + "…"
    return compose(
        "closest_sentence", language, quote=short.rstrip(": "), value=round(useful.helps, 2)
    )


def judge_chunks(
    question: str, chunks: Sequence[Reading], language: str | None
) -> list[Usefulness]:
    """Judge how far each chunk answers the question: its best part, and the weakest of all parts."""
    by_part = [_judge_part(part, chunks, language) for part in split_question(question)]
    judged = []
    for parts in zip(*by_part, strict=True):
        best = max(parts)  # by chance, which comes first
        judged.append(Usefulness(best[0], min(parts)[0], best[1]))
    return judged


def _judge_part(
    part: str, chunks: Sequence[Reading], language: str | None
) -> list[tuple[float, str]]:
    figures = measure_chunks(part, chunks, language)
    return [(_to_chance(QUESTION_WEIGHTS, row), quote) for row, quote in figures]


def _to_chance(weights: Mapping[str, float], figures: Mapping[str, float]) -> float:
    logit = weights["bias"] + sum(weights[name] * value for name, value in figures.items())
    return 1 / (1 + math.exp(-logit))


def measure_chunks(
    part: str, chunks: Sequence[Reading], language: str | None
) -> list[tuple[dict[str, float], str]]:
    """Measure what QUESTION_WEIGHTS weighs, for each chunk, with the passage that has most of the words."""
    asked = read(part, language)
    left = Tokens.of([asked])
    vectors = encode([part, *(chunk.raw for chunk in chunks)])
    cosines = np.maximum(vectors[1:] @ vectors[0], 0.0).tolist()
    kind = classify_question(part)
    rows = []
    for chunk, cosine in zip(chunks, cosines, strict=True):
        passage = _find_passage(left, chunk)
        across = float(asked.language != chunk.language)
        row = {
            "cosine": cosine,
            "cover": passage.cover,
            "weakest": passage.weakest,
            "offers": _offers(kind, part, passage, chunk.language),
            "across": across,
            "across_cosine": across * cosine,
        }
        rows.append((row, passage.quote if passage.cover > 0 else ""))
    return rows


class _Passage(NamedTuple):
    """The one or two sentences of a chunk that hold most of the question's words."""

    cover: float
    """Share of the words that the whole chunk has, rare words counting more."""
    weakest: float
    """How much it has of the word that it has least."""
    quote: str
    has_new_name: bool


def _find_passage(left: Tokens, chunk: Reading) -> _Passage:
    laid = lay(left, Tokens.of([chunk], MOST_SOURCE_TOKENS))
    content = left.kinds != STOP
    if not len(laid.units) or not content.any():
        return _Passage(0.0, 0.0, chunk.raw, False)
    weights = np.where(content, left.weights, 0.0)
    cover = float((laid.most * weights).sum() / weights.sum())
    first = last = int((weights @ laid.soft).argmax())
    pairs = weights @ np.maximum(laid.soft[:, 1:], laid.soft[:, :-1])
    if len(pairs) and pairs.max() > (weights @ laid.soft[:, first]):
        first = int(pairs.argmax())
        last = first + 1
    _, start, _ = find_unit_span([chunk], laid, first)
    _, _, end = find_unit_span([chunk], laid, last)
    low, high = int(laid.unit_starts[first]), int(laid.unit_ends[last])
    new = ~laid.exact[:, low:high].any(axis=0)
    has_new_name = bool((laid.sources.kinds[low:high][new] == NAME).any())
    return _Passage(cover, float(laid.most[content].min()), chunk.raw[start:end], has_new_name)


def _offers(kind: QuestionKind, part: str, passage: _Passage, language: str) -> float:
    """1 when the passage has the kind of thing that the question asks for, -1 when it lacks it, 0 when nothing tells."""
    if kind.quantities:
        return 1.0 if offers_quantity(passage.quote, kind.quantities, language) else -1.0
    if kind.name:
        return 1.0 if passage.has_new_name else -1.0
    if _WHY.search(part):
        return 1.0 if _REASON.search(passage.quote) else 0.0
    return 0.0


_WHY = re.compile(
    r"\bwhy\b|\bpor qué\b|\bcauses?\b|\bcausas?\b|\breasons?\b|\bmotivos?\b", re.IGNORECASE
)
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|as a result|caused?|causes|so that|in order to|therefore|after|reasons?|led to|"
    r"porque|ya que|debido a|puesto que|a causa de|caus[aó]|para que|por eso|tras|después de|motivos?|gracias a)\b",
    re.IGNORECASE,
)


def judge_towards(
    question: str, text: str, chunks: Sequence[Reading], language: str | None
) -> list[Usefulness]:
    """Judge how far each chunk leads to a wanted text."""
    judged = []
    for figures, quote in measure_towards(question, text, chunks, language):
        chance = _to_chance(TARGET_WEIGHTS, figures)
        judged.append(Usefulness(chance, chance, quote))
    return judged


def measure_towards(
    question: str, text: str, chunks: Sequence[Reading], language: str | None
) -> list[tuple[dict[str, float], str]]:
    """Measure what TARGET_WEIGHTS weighs: how much of the best statement of the text a chunk has, how much of that
    sentence the text has, and the question's words."""
    parts = [text[a:b] for a, b in split_sentences(text, language)] or [text]
    claims = [one.text for part in parts for one in statements(part)] or [text]
    wanted = [read(one, language) for one in claims]
    left = Tokens.of(wanted)
    asked = read(question, language)
    weights = np.where(left.kinds == STOP, 0.02, left.weights)
    weights = weights * np.where(np.isin(left.ids, asked.ids), KNOWN_WEIGHT, 1.0)
    rows = []
    for chunk in chunks:
        laid = lay(left, Tokens.of([chunk], MOST_SOURCE_TOKENS))
        reach, shared, quote = _reach(laid, weights, len(wanted), chunk)
        cover = _find_passage(Tokens.of([asked]), chunk).cover
        rows.append(({"reach": reach, "shared": shared, "cover": cover}, quote))
    return rows


def _reach(
    laid: Alignment, weights: Floats, count: int, chunk: Reading
) -> tuple[float, float, str]:
    """Share of the best statement that one sentence has, share of that sentence that the statements have, the sentence."""
    if not len(laid.units) or not len(laid.claims.ids):
        return 0.0, 0.0, ""
    best = (0.0, 0)
    for a, b in pairwise(bounds_of(laid, count)):
        covers = weights[a:b] @ laid.soft[a:b] / max(float(weights[a:b].sum()), 1e-6)
        unit = int(covers.argmax())
        best = max(best, (float(covers[unit]), unit))
    unit = best[1]
    low, high = int(laid.unit_starts[unit]), int(laid.unit_ends[unit])
    content_weights = np.where(
        laid.sources.kinds[low:high] == STOP, 0.0, laid.sources.weights[low:high]
    )
    shared = laid.exact[:, low:high].any(axis=0)
    _, start, end = find_unit_span([chunk], laid, unit)
    return (
        best[0],
        float((content_weights * shared).sum() / max(float(content_weights.sum()), 1e-6)),
        chunk.raw[start:end],
    )
