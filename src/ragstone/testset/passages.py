"""Passages of the corpus nearest to a text, document by document."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.text.language import detect_language
from ragstone.text.terms import extract_terms

LONGEST = 800
"""Characters of a passage."""
_WORDS = 16
"""Words of a text that count: the rarest ones."""
_ALONE, _EACH = 6, 6
"""Words that are looked up by themselves, and documents that each may bring."""


def nearest(
    index: CorpusIndex, text: str, count: int, without: frozenset[str]
) -> list[tuple[str, str]]:
    """Id and text of the passages that share most with the text, from other documents than these.

    Documents come up by the rarest words, together and one by one; which of them is nearest is decided by all words."""
    language = detect_language(text)
    # a word that only the left-out documents have finds nothing
    least = 1 + bool(without)
    known = [
        stem for stem in dict.fromkeys(extract_terms(text, language)) if index.held(stem) >= least
    ]
    wanted = index.rarest(known, _WORDS)
    weight = {stem: math.log1p(index.count / index.held(stem)) for stem in wanted}
    documents: dict[str, Document] = {}
    for stems in ([wanted[:2]] if len(wanted) > 1 else []) + [[stem] for stem in wanted[:_ALONE]]:
        hits = index.holding(stems, but=sorted(without), most=_EACH)
        documents.update({document.id: document for document in hits})

    def likeness(document: Document) -> float:
        spoken = detect_language(document.text[:2000], document.language)
        held = set(extract_terms(f"{document.title} {document.text}", spoken))
        return sum(weight[stem] for stem in wanted if stem in held)

    order = sorted(documents.values(), key=lambda document: (-likeness(document), document.id))
    return [(document.id, passage(document, wanted)) for document in order[:count]]


def passage(document: Document, wanted: Sequence[str]) -> str:
    """The part of a document that holds most of the wanted stems: whole lines, as many as fit."""
    text = document.text
    if len(text) <= LONGEST:
        return text
    language = detect_language(text[:2000], document.language)
    stems = set(wanted)
    lines: list[tuple[int, int, int]] = []
    at = 0
    for line in text.split("\n"):
        lines.append((at, at + len(line), len(stems.intersection(extract_terms(line, language)))))
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
