"""Items out of a document's facts: every kind of question, without an LLM."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Item
from ragstone.testset.offline import plain, swapped, twisted
from ragstone.testset.offline.stock import Stock
from ragstone.testset.offline.styles import styled
from ragstone.testset.sampling import language_of
from ragstone.text.language import LANGUAGES

_MAKERS: dict[str, Callable[[Stock, Document, str, random.Random], Iterator[Item]]] = {
    "factual": plain.factual, "conceptual": plain.conceptual, "detail": plain.detail,
    "multi_document": swapped.multi_document, "out_of_scope": swapped.out_of_scope,
    "near_miss": swapped.near_miss, "distractor": swapped.distractor, "negation": plain.negation,
    "false_premise": swapped.false_premise, "paraphrase": twisted.paraphrase, "typos": twisted.typos,
    "informal": twisted.informal, "two_in_one": twisted.two_in_one,
    "hidden_instruction": swapped.hidden_instruction, "follow_up": twisted.follow_up,
}  # fmt: skip


class OfflineMaker:
    """Makes candidates from the facts of a document, with a look at the rest of the corpus."""

    def __init__(self, index: CorpusIndex, styles: Sequence[str] = ()) -> None:
        self._stock = Stock(index)
        self._styles = tuple(styles)

    def candidates(
        self, document: Document, wanted: Mapping[str, int], rng: random.Random
    ) -> Iterator[Item]:
        """Items of the wanted kinds, as many as the document yields, unproven; the caller stops when it has enough."""
        language = language_of(document.text, document.language)
        if language not in LANGUAGES:
            return
        for kind, most in wanted.items():
            if most > 0:
                for item in _MAKERS[kind](self._stock, document, language, rng):
                    yield styled(item, self._styles)

    def gaps(self, document: Document, rng: random.Random) -> Iterator[Item]:
        """Sentences with a gap, for what no question fits."""
        language = language_of(document.text, document.language)
        if language in LANGUAGES:
            yield from plain.gaps(self._stock, document, language, rng)
