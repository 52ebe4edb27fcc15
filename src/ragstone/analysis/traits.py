"""Traits of a sample that nobody tagged: lengths, rank of the evidence, languages, words of the question."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from ragstone.text.content import find_content_words
from ragstone.text.language import detect_language, is_in_language
from ragstone.types import Sample

CUTS: Mapping[str, tuple[int, ...]] = {
    "question_words": (4, 6, 8, 10, 12, 14, 16, 20, 25, 30, 40, 60),
    "context_words": (50, 100, 200, 300, 400, 600, 800, 1200, 1600, 2400, 3200, 6400),
    "chunks": (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20),
    "evidence_rank": (1, 2, 3, 4, 5, 8, 10, 20),
}
"""For each counted trait where samples are parted: up to the number, and above it."""

MAX_TOPIC_CHARS = 30
_WORD = re.compile(r"[^\W\d_]{3,}")
"""Three letters or more, of any script."""


def count_traits(sample: Sample) -> Iterator[tuple[str, int]]:
    """Each counted trait with its number; a trait that the sample cannot have is left out."""
    if sample.question:
        yield "question_words", len(sample.question.split())
    if sample.contexts is not None:
        yield "chunks", len(sample.contexts)
        if any(chunk.text for chunk in sample.contexts):
            yield "context_words", sum(len(chunk.text.split()) for chunk in sample.contexts)
    rank = find_evidence_rank(sample)
    if rank is not None:
        yield "evidence_rank", rank


def find_evidence_rank(sample: Sample) -> int | None:
    """The rank of the first relevant document, each counted once; None when none was retrieved or known."""
    if sample.contexts is None or not sample.relevant:
        return None
    ids = list(dict.fromkeys(sample.contexts.ids))
    ranks = [
        ids.index(name) + 1 for name, grade in sample.relevant.items() if grade > 0 and name in ids
    ]
    return min(ranks, default=None)


def name_languages(sample: Sample) -> str | None:
    """The languages of question and answer, `es → en`, where both can be told."""
    if not sample.question or not sample.answer:
        return None
    asked = (sample.language or detect_language(sample.question)).split("-")[0]
    is_same = is_in_language(sample.answer, asked)
    if is_same is None:
        return None
    return f"{asked} → {asked if is_same else detect_language(sample.answer)}"


def list_topics(sample: Sample) -> dict[str, str]:
    """The content words of the question: in lower case → as it stands there."""
    topics: dict[str, str] = {}
    for word in _WORD.findall(sample.question or ""):
        if len(word) <= MAX_TOPIC_CHARS and find_content_words(word):
            topics.setdefault(word.lower(), word)
    return topics


def find_bin(trait: str, number: int) -> int:
    """The index of the first cut that the number does not exceed."""
    return bisect_left(CUTS[trait], number)
