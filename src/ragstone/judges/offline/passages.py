"""Passages and quotes: the sentences of sources that are closest to a text."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.judges.offline.alignment import align, index_sources
from ragstone.judges.offline.reading import read
from ragstone.text.encoder import encode

Passage = tuple[int, int, int]
"""Index of the source, start and end."""


MAX_QUOTES = 5
"""Sentences among which a quote is looked for."""


def choose_passages(
    texts: Sequence[str], sources: Sequence[str], language: str | None, max_chars: int
) -> list[str]:
    """Return the sources; where they are longer than that together, their sentences closest to the texts."""
    if sum(map(len, sources)) <= max_chars:
        return list(sources)
    ranked = [rank_sentences(text, sources, language) for text in texts]
    chosen: set[Passage] = set()
    room = max_chars
    for rank in range(max(map(len, ranked), default=0)):
        for order in ranked:
            passage = order[rank][0]
            size = passage[2] - passage[1]
            if passage not in chosen and size <= room:
                chosen.add(passage)
                room -= size
    return _join(sorted(chosen), sources)


def find_evidence(text: str, sources: Sequence[str], language: str | None) -> list[tuple[int, str]]:
    """Return the closest sentences of the sources, the closest first: index of the source, and the quote."""
    ranked = rank_sentences(text, sources, language)[:MAX_QUOTES]
    return [(source, sources[source][start:end]) for (source, start, end), _ in ranked]


def rank_sentences(
    text: str, sources: Sequence[str], language: str | None
) -> list[tuple[Passage, float]]:
    """All sentences with how near they are, the nearest first: the share of the words plus the
    cosine of the encoder."""
    indexed = index_sources(tuple(read(source, language) for source in sources))
    if not indexed.units:
        return []
    alignment = align(read(text, language), indexed)
    vectors = encode([text, *(unit.text for _, unit in indexed.units)])
    ranked = [
        (
            (source, unit.start, unit.end),
            alignment.held.get(number, 0) / max(len(alignment.words), 1)
            + max(float(vectors[number + 1] @ vectors[0]), 0.0),
        )
        for number, (source, unit) in enumerate(indexed.units)
    ]
    return sorted(ranked, key=lambda row: -row[1])


def _join(passages: Sequence[Passage], sources: Sequence[str]) -> list[str]:
    """Return the passages, those that follow one another as one text."""
    joined: list[Passage] = []
    for source, start, end in passages:
        last = joined[-1] if joined else None
        if last is not None and last[0] == source and not sources[source][last[2] : start].strip():
            joined[-1] = (source, last[1], end)
        else:
            joined.append((source, start, end))
    return [sources[source][start:end] for source, start, end in joined]
