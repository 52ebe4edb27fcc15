"""Candidate passages: the sentences of the sources that may decide a claim, with their neighbours. Versioned by ROUTE_VERSION in judges/hybrid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.view import best_units, bounds_of
from ragstone.text.encoder import encode

WHOLE_CHARS = 1_000
"""Sources up to this length together are shown whole: one common prefix for all claims."""
WHOLE_CHARS_SINGLE = 2_400
"""The same for a single claim, with which nobody shares the prefix."""
PASSAGE_CHARS = 400
"""Characters of longer sources that are shown for one claim."""
MIN_CLOSENESS = 0.4
"""Cosine and covered share of words, added up, that the closest sentence must have to speak of a claim at all: of
supported claims 99 in 100 have more, of claims on sources of another subject 3 in 100."""


class Passages(NamedTuple):
    """What is shown of the sources for one claim."""

    texts: tuple[str, ...]
    """Parts of the sources in their own order."""
    source: int = 0
    """Index of the source with the closest sentence."""
    sentence: str = ""
    """The closest sentence; empty when the sources are."""
    closeness: float = 0.0

    @property
    def speak_of_claim(self) -> bool:
        """Whether the sources say anything about the claim that a model could decide."""
        return self.closeness >= MIN_CLOSENESS


def find_passages(
    claims: Sequence[str], sources: Sequence[str], language: str | None
) -> list[Passages]:
    """Return what to show for each claim: all sources where they are short, else the closest sentences."""
    limit = WHOLE_CHARS if len(claims) > 1 else WHOLE_CHARS_SINGLE
    is_short = sum(map(len, sources)) <= limit
    closest = _rank_sentences(claims, sources, language)
    found = []
    for ranked, closeness in closest:
        texts = tuple(sources) if is_short else _join(_choose(ranked), sources)
        best = ranked[0] if ranked else _Sentence(0, 0, 0, "")
        found.append(Passages(texts, best.source, best.text, closeness))
    return found


class _Sentence(NamedTuple):
    source: int
    start: int
    end: int
    text: str


def _rank_sentences(
    claims: Sequence[str], sources: Sequence[str], language: str | None
) -> list[tuple[list[_Sentence], float]]:
    """Return for each claim all sentences of the sources, the closest first, by shared words and by meaning; and how
    close that one is."""
    readings = [read(source, language) for source in sources]
    sentences = [
        _Sentence(n, start, end, reading.raw[start:end])
        for n, reading in enumerate(readings)
        for start, end in reading.sentences
    ]
    if not sentences:
        return [([], 0.0) for _ in claims]
    laid = align([read(claim, language) for claim in claims], readings)
    cover, _ = best_units(laid, bounds_of(laid, len(claims)))
    vectors = encode([*claims, *(sentence.text for sentence in sentences)])
    closeness = np.maximum(vectors[: len(claims)] @ vectors[len(claims) :].T, 0.0)
    # units are numbered like `sentences`; those without a word are no units
    closeness[:, laid.units] += cover
    orders = np.argsort(-closeness, axis=1, kind="stable").tolist()
    return [
        ([sentences[n] for n in order], float(row[order[0]]))
        for order, row in zip(orders, closeness, strict=True)
    ]


def _choose(ranked: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the closest sentences and the neighbours of the very closest one, as many as fit, in their order."""
    if not ranked:
        return []
    in_order = sorted(ranked)  # by source and start
    at = in_order.index(ranked[0])
    neighbours = [
        sentence
        for sentence in in_order[max(0, at - 1) : at + 2]
        if sentence.source == ranked[0].source
    ]
    chosen = {ranked[0]}
    room = PASSAGE_CHARS - len(ranked[0].text)
    for sentence in (*ranked[1:2], *neighbours, *ranked[2:]):
        if sentence not in chosen and len(sentence.text) <= room:
            chosen.add(sentence)
            room -= len(sentence.text)
    return sorted(chosen)


def _join(sentences: Sequence[_Sentence], sources: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences, those that follow one another as one text."""
    texts: list[tuple[int, int, int]] = []
    for sentence in sentences:
        if texts and texts[-1][0] == sentence.source:
            source, start, end = texts[-1]
            if not sources[source][end : sentence.start].strip():
                texts[-1] = (source, start, sentence.end)
                continue
        texts.append((sentence.source, sentence.start, sentence.end))
    return tuple(sources[source][start:end] for source, start, end in texts)
