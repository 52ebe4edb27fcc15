"""What the makers of all kinds share: the facts of documents, the order in which they are taken, and how one becomes an item."""

from __future__ import annotations

import hashlib
import random
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Difficulty, Evidence, Item, item_id
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.framing import framed
from ragstone.testset.offline.walk import facts_of
from ragstone.testset.vocabulary import word_set

FACTUAL = word_set("number money date duration place person name percent thing")
CONCEPTUAL = frozenset(["definition", "reason", "means", "condition", "outcome", "claim"])
_KEPT = 96
"""Documents whose facts are kept: those of a step and of its neighbours."""
_FEW = 12
"""Documents of a corpus in which a short question is clear enough."""
_EASY = 17
"""Words of a question that is read in one go; longer ones come later."""


class Stock:
    """The facts of the documents that are asked about, and a look at the rest of the corpus."""

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index
        self._facts: OrderedDict[str, list[Fact]] = OrderedDict()

    def known(self, document: Document, language: str) -> list[Fact]:
        """The facts of a document, each question made to stand on its own."""
        if document.id in self._facts:
            self._facts.move_to_end(document.id)
            return self._facts[document.id]
        found: dict[str, Fact] = {}
        few = self.index.count <= _FEW
        for fact in facts_of(document, language):
            whole = framed(fact, document, language, few=few)
            if whole is not None:
                found.setdefault(whole.question, whole)
        self._facts[document.id] = list(found.values())
        while len(self._facts) > _KEPT:
            self._facts.popitem(last=False)
        return self._facts[document.id]

    def picked(
        self, document: Document, language: str, rng: random.Random, *, twisted: bool = False
    ) -> list[Fact]:
        """The facts in random order, one a sentence and short ones first; plain and twisted kinds begin with different thirds."""
        facts = list(self.known(document, language))
        rng.shuffle(facts)
        seen: dict[int, int] = {}
        turns: list[tuple[bool, bool, int, int]] = []
        for fact in facts:
            turn = seen[fact.start] = seen.get(fact.start, -1) + 1
            third = (
                hashlib.sha256(fact.question.encode("utf-8", "surrogatepass")).digest()[0] % 3 == 0
            )
            long = len(fact.question.split()) > _EASY
            turns.append((third != twisted, long, turn, len(turns)))
        return [facts[at] for *_, at in sorted(turns)]


def quoted(document: Document, fact: Fact) -> Evidence:
    """The sentence of a fact, letter by letter as the document has it."""
    end = fact.start + len(fact.sentence)
    return Evidence(document.id, document.text[fact.start : end], fact.start, end)


def item_of(
    document: Document, fact: Fact, kind: str, language: str, question: str = "", *,
    reference: str = "", difficulty: Difficulty = "medium", how: str = "", style: str = "",
    history: tuple[str, ...] = (), proof: Mapping[str, Any] | None = None,
) -> Item:  # fmt: skip
    """A fact as an item of this kind; what is not given is taken from the fact."""
    asks = question or fact.question
    evidence = (quoted(document, fact),)
    return Item(
        item_id(asks, evidence, history), asks, reference or fact.answer, {document.id: 1.0}, evidence, kind,
        difficulty, language, how or f"template:{fact.sort}", style, history, dict(proof or {}),
    )  # fmt: skip
