"""Items without an LLM: every kind that can be made well from the facts of a document."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Item
from ragstone.testset.offline import plain, unanswerable
from ragstone.testset.offline.stock import FactStock
from ragstone.testset.offline.styles import apply_style
from ragstone.testset.sampling import language_of
from ragstone.text.language import LANGUAGES

KindMaker = Callable[[FactStock, Document, str, random.Random], Iterator[Item]]

MAKERS: dict[str, KindMaker] = {
    "factual": plain.make_factual, "conceptual": plain.make_conceptual, "how_to": plain.make_how_to,
    "detail": plain.make_detail, "near_miss": unanswerable.make_near_miss, "distractor": unanswerable.make_distractor,
    "typos": plain.make_typos, "informal": plain.make_informal, "two_in_one": plain.make_two_in_one,
    "follow_up": plain.make_follow_up, "hidden_instruction": unanswerable.make_hidden_instruction,
}  # fmt: skip
"""Kinds that rules make; the others need a judge."""


class OfflineMaker:
    """Makes candidates from the facts of a document, with a look at the rest of the corpus."""

    def __init__(self, index: CorpusIndex, styles: Sequence[str] = ()) -> None:
        self._stock = FactStock(index)
        self._styles = tuple(styles)

    def candidates(
        self, document: Document, wanted: Mapping[str, int], rng: random.Random
    ) -> Iterator[Item]:
        """Items of the wanted kinds, as many as the document yields, unproven; the caller stops when it has enough."""
        language = language_of(document.text, document.language)
        if language not in LANGUAGES:
            return
        for kind, most in wanted.items():
            if most > 0 and kind in MAKERS:
                for item in MAKERS[kind](self._stock, document, language, rng):
                    yield apply_style(item, self._styles)
