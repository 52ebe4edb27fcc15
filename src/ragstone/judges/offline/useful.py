"""The `useful` Ask: the chance that a chunk helps with the question or towards a wanted text, and a
grade 0, 1 or 2.

A chunk is useful when it answers a part of the question; it gets 2 when it answers all of it.
Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.judges.offline.alignment import Alignment, align, index_sources
from ragstone.judges.offline.questions import split_question
from ragstone.judges.offline.reading import Reading, read
from ragstone.locale.messages import compose
from ragstone.text.claims import split_claims
from ragstone.text.encoder import encode
from ragstone.text.sentences import split_sentences

WEIGHTS = {"bias": -2.7, "cosine": 3.5, "cover": 4.1}
"""Of a question: nearness in meaning, and the share of its words. Fitted on MS MARCO, CLAP NQ and
XQuAD, where either alone is worse; `python -m bench.judge` measures them."""
TARGET_WEIGHTS = {"bias": -3.7, "cosine": 3.5, "cover": 5.0}
"""The same of the best sentence of a wanted text."""
BARS = {1: (0.5, 0.7), 2: (0.3, 0.5)}
"""Chance from which a chunk helps, and from which it answers all parts, for each wording: strict
and lenient."""
KNOWN_WEIGHT = 0.3
"""What a word of a wanted text counts that the question has already: it proves little."""


class _Usefulness(NamedTuple):
    helps: float
    answers_all: float
    quote: str
    """The sentence that holds most of what was wanted."""


def answer_useful(values: Mapping[str, Any], language: str | None) -> Any:
    """A chance and a grade for each chunk and each target."""
    chunks = [read(chunk["text"], language) for chunk in values["chunks"]]
    low, high = BARS.get(values["wording"], BARS[1])
    rows = []
    for target, text in values["targets"].items():
        for chunk, found in zip(
            values["chunks"], _judge(values["question"], text, chunks, language), strict=True
        ):
            rows.append(
                {
                    "id": chunk["id"],
                    "target": target,
                    "grade": int(found.helps >= low) + int(found.answers_all >= high),
                    "probability": round(found.helps, 4),
                    "reason": _explain(found, chunks[0].language),
                }
            )
    return {"grades": rows}


def _judge(
    question: str, text: str | None, chunks: Sequence[Reading], language: str | None
) -> list[_Usefulness]:
    """Towards the question, whose parts are judged one by one, or towards a text."""
    if text is None:
        parts, weights, known = split_question(question), WEIGHTS, frozenset[str]()
    else:
        sentences = [text[a:b] for a, b in split_sentences(text, language)] or [text]
        parts = [claim for each in sentences for claim in split_claims(each)] or [text]
        weights = TARGET_WEIGHTS
        known = frozenset(word.key for word in read(question, language).words)
    vectors = encode([*parts, *(chunk.raw for chunk in chunks)])
    cosines = vectors[: len(parts)] @ vectors[len(parts) :].T
    judged = []
    for number, chunk in enumerate(chunks):
        sources = index_sources((chunk,))
        chances = []
        for part, row in zip(parts, cosines, strict=True):
            alignment = align(read(part, language), sources)
            logit = weights["bias"] + weights["cosine"] * max(float(row[number]), 0.0)
            # words of another language are not met, but their sense is
            is_foreign = alignment.claim.language != chunk.language
            cover = 2 * float(row[number]) if is_foreign else _measure_cover(alignment, known)
            logit += weights["cover"] * min(max(cover, 0.0), 1.0)
            chances.append((1 / (1 + math.exp(-logit)), _find_quote(alignment)))
        best = max(chances)
        # of a wanted text a chunk need not have all
        lowest = min(chances)[0] if text is None else best[0]
        judged.append(_Usefulness(best[0], lowest, best[1]))
    return judged


def _measure_cover(alignment: Alignment, known: frozenset[str]) -> float:
    """Share of the words that stand in the chunk."""
    weights = [KNOWN_WEIGHT if word.key in known else 1.0 for word in alignment.words]
    found = [weight for weight, units in zip(weights, alignment.places, strict=True) if units]
    return sum(found) / max(sum(weights), 1e-6)


def _find_quote(alignment: Alignment) -> str:
    return alignment.sources.quote(alignment.best, alignment.best)[1] if alignment.held else ""


def _explain(found: _Usefulness, language: str) -> str:
    if not found.quote:
        return compose("no_shared_words", language)
    short = found.quote if len(found.quote) <= 120 else found.quote[:119] + "…"
    return compose(
        "closest_sentence", language, quote=short.rstrip(": "), value=round(found.helps, 2)
    )
