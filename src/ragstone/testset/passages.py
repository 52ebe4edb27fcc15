"""Passages of the corpus nearest to a text, document by document."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.data.documents import Document
from ragstone.systems.pipeline.wording import language_of, terms
from ragstone.testset.index import CorpusIndex

LONGEST = 800
"""Characters of a passage."""
_WORDS = 16
"""Words of a text that are looked for: the rarest ones."""


def nearest(
    index: CorpusIndex, text: str, count: int, without: frozenset[str]
) -> list[tuple[str, str]]:
    """Id and text of the passages that share most with the text, from other documents than these."""
    language = language_of(text)
    # a word that only the left-out documents have finds nothing
    least = 1 + bool(without)
    known = [stem for stem in dict.fromkeys(terms(text, language)) if index.held(stem) >= least]
    wanted = index.rarest(known, _WORDS)
    found = index.near(wanted, but=sorted(without), most=count)
    return [(one.id, passage(one, wanted)) for one in found]


def passage(document: Document, wanted: Sequence[str]) -> str:
    """The part of a document that holds most of the wanted stems: whole lines, as many as fit."""
    text = document.text
    if len(text) <= LONGEST:
        return text
    language = language_of(text[:2000], document.language)
    stems = set(wanted)
    lines: list[tuple[int, int, int]] = []
    at = 0
    for line in text.split("\n"):
        lines.append((at, at + len(line), len(stems.intersection(terms(line, language)))))
        at += len(line) + 1
    best = max(range(len(lines)), key=lambda n: (lines[n][2], -n))
    first = last = best
    while True:
        before = lines[last][1] - lines[first - 1][0] if first else LONGEST + 1
        after = lines[last + 1][1] - lines[first][0] if last + 1 < len(lines) else LONGEST + 1
        if min(before, after) > LONGEST:
            break
        if after <= before:
            last += 1
        else:
            first -= 1
    return text[lines[first][0] : min(lines[last][1], lines[first][0] + 2 * LONGEST)]
