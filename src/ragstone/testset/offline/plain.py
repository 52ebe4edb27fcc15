"""Plain questions: a fact asked as it stands, and as a last resort a sentence with a gap."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

from ragstone.data.documents import Document
from ragstone.testset.items import Item
from ragstone.testset.offline.cloze import gapped, pieces
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.framing import called, owner
from ragstone.testset.offline.stock import CONCEPTUAL, FACTUAL, Stock, item_of
from ragstone.testset.offline.walk import apart
from ragstone.testset.prose import prose, read_sentences


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
    text = prose(document.text)
    spans = [
        piece
        for a, b in read_sentences(document.text, language)
        for c, d in apart(text, a, b)
        for piece in pieces(text, c, d)
    ]
    rng.shuffle(spans)
    asked_already = {fact.start for fact in stock.known(document, language)}
    whose = called(owner(document.title), language)
    again: list[Fact] = []
    for a, b in sorted(spans, key=lambda span: span[0] in asked_already):
        found = gapped(text[a:b], a, language, whose)
        for fact in islice(found, 1):
            yield item_of(document, fact, "detail", language, how="cloze")
        again += islice(found, 1)
    for fact in again:  # a second gap only when every sentence has had its first
        yield item_of(document, fact, "detail", language, how="cloze")
