"""Plain questions: a fact asked as it stands, and as a last resort a sentence with a gap."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ragstone.data.documents import Document
from ragstone.language import sentences
from ragstone.testset.items import Item
from ragstone.testset.offline.cloze import gapped, pieces
from ragstone.testset.offline.framing import called, owner
from ragstone.testset.offline.stock import CONCEPTUAL, FACTUAL, Stock, item_of
from ragstone.testset.offline.walk import apart


def factual(stock: Stock, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng):
        if fact.sort in FACTUAL and not fact.deep and not fact.negated:
            yield item_of(document, fact, "factual", language, difficulty="easy")


def conceptual(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng):
        if fact.sort in CONCEPTUAL and not fact.negated:
            yield item_of(document, fact, "conceptual", language)


def detail(stock: Stock, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
    """What stands in a subordinate part, lists first; then what else the document tells."""
    later = []
    for fact in stock.picked(document, language, rng):
        if fact.negated or fact.sort in CONCEPTUAL:
            continue
        if fact.deep or fact.sort in ("list", "initials"):
            yield item_of(document, fact, "detail", language)
        else:
            later.append(fact)
    for fact in later:
        yield item_of(document, fact, "detail", language)


def negation(stock: Stock, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng):
        if fact.negated:
            yield item_of(document, fact, "negation", language)


def gaps(stock: Stock, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
    """A sentence with a gap, for documents whose sentences no template fits."""
    text = document.text
    spans = [
        piece
        for a, b in sentences(text, language)
        for c, d in apart(text, a, b)
        for piece in pieces(text, c, d)
    ]
    rng.shuffle(spans)
    asked_already = {fact.start for fact in stock.known(document, language)}
    for a, b in sorted(spans, key=lambda span: span[0] in asked_already):
        fact = gapped(text[a:b], a, language, called(owner(document.title), language))
        if fact is not None:
            yield item_of(document, fact, "detail", language, how="cloze")
