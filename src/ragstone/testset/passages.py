"""Passages of the corpus nearest to a text, at most one of each document."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.text.language import detect_language
from ragstone.text.terms import extract_terms

MAX_PASSAGE_CHARS = 800
"""Characters of a passage."""
_COUNTED_WORDS = 16
"""Words of a text that count: the rarest ones."""
_SINGLE_WORDS, _DOCUMENTS_PER_SEARCH = 6, 6
"""Words that are searched for one by one, and documents that each search may bring."""


def find_nearest_passages(
    index: CorpusIndex, text: str, count: int, without: frozenset[str]
) -> list[tuple[str, str]]:
    """Id and text of the passages that share most with the text, from other documents than these.

    Documents come up by the rarest words, together and one by one; which of them is nearest is decided by all
    words."""
    language = detect_language(text)
    # a word in one document only may be in the left-out one, and would find nothing
    least = 1 + bool(without)
    known = [
        stem
        for stem in dict.fromkeys(extract_terms(text, language))
        if index.count_documents(stem) >= least
    ]
    wanted = index.sort_rarest(known, _COUNTED_WORDS)
    weight = {stem: math.log1p(index.count / index.count_documents(stem)) for stem in wanted}
    documents: dict[str, Document] = {}
    for stems in ([wanted[:2]] if len(wanted) > 1 else []) + [
        [stem] for stem in wanted[:_SINGLE_WORDS]
    ]:
        hits = index.find_with_all(stems, but=sorted(without), most=_DOCUMENTS_PER_SEARCH)
        documents.update({document.id: document for document in hits})

    def measure_likeness(document: Document) -> float:
        document_language = detect_language(document.text[:2000], document.language)
        held = set(extract_terms(f"{document.title} {document.text}", document_language))
        return sum(weight[stem] for stem in wanted if stem in held)

    order = sorted(
        documents.values(), key=lambda document: (-measure_likeness(document), document.id)
    )
    return [(document.id, cut_passage(document, wanted)) for document in order[:count]]


def cut_passage(document: Document, wanted: Sequence[str]) -> str:
    """The part of a document that holds most of the wanted stems: whole lines, as many as fit."""
    text = document.text
    if len(text) <= MAX_PASSAGE_CHARS:
        return text
    language = detect_language(text[:2000], document.language)
    stems = set(wanted)
    lines: list[tuple[int, int, int]] = []  # start, end, wanted stems
    at = 0
    for line in text.split("\n"):
        lines.append((at, at + len(line), len(stems.intersection(extract_terms(line, language)))))
        at += len(line) + 1
    best = max(range(len(lines)), key=lambda n: (lines[n][2], -n))
    first = last = best
    # grow by whole lines, each time in the direction that adds less text
    while True:
        before = lines[last][1] - lines[first - 1][0] if first else MAX_PASSAGE_CHARS + 1
        after = (
            lines[last + 1][1] - lines[first][0] if last + 1 < len(lines) else MAX_PASSAGE_CHARS + 1
        )
        if min(before, after) > MAX_PASSAGE_CHARS:
            break
        if after <= before:
            last += 1
        else:
            first -= 1
    # one line alone may be longer than the limit; it is cut at twice that
    return text[lines[first][0] : min(lines[last][1], lines[first][0] + 2 * MAX_PASSAGE_CHARS)]
