"""The least that makes and proves items: one question a sentence, so that the rest of a generation can be tested alone."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from ragstone.data.documents import Document
from ragstone.testset.items import UNANSWERABLE, Evidence, Item, Rejection, make_item_id
from ragstone.testset.parts import Parts
from ragstone.testset.sources import Corpus

SENTENCE = re.compile(r"[^.!?\n]{10,}[.!?]")


class TinyMaker:
    """`factual` from every sentence, `detail` from sentences with a number, `near_miss` from nothing."""

    def make_candidates(
        self, document: Document, wanted: Mapping[str, int], rng: random.Random
    ) -> Iterator[Item]:
        found = list(SENTENCE.finditer(document.text))
        rng.shuffle(found)
        for kind in wanted:
            for match in found:
                words = match[0].split()
                if kind not in ("factual", "detail", "near_miss"):
                    continue
                if kind == "detail" and not any(word.isdigit() for word in words):
                    continue
                yield item(document, match, kind)


def item(document: Document, match: re.Match[str], kind: str) -> Item:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    quote = document.text[start : match.end()]
    evidence = (Evidence(document.id, quote, start, match.end()),)
    question = f"{kind}: what does {document.id} say of {' '.join(quote.split()[:3])}?"
    answerable = kind not in UNANSWERABLE
    return Item(
        make_item_id(question, evidence),
        question,
        quote.split()[-1] if answerable else None,
        {document.id: 1.0} if answerable else {},
        evidence,
        kind,
        "easy",
        document.language or "en",
        "tiny",
    )


class TinyProver:
    """Refuses a question it has let through before, and one about a sentence that starts with "Alas"."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def check_item(self, item: Item) -> Item | Rejection:
        if item.question in self.known:
            return Rejection("duplicate", item)
        if item.evidence and item.evidence[0].quote.startswith("Alas"):
            return Rejection("ambiguous", item, "alas")
        self.remember_item(item)
        return item

    def remember_item(self, item: Item) -> None:
        self.known.add(item.question)


def tiny_parts(
    corpus: Corpus, *, judged: bool, small: bool = False, styles: Sequence[str] = ()
) -> Parts:
    """In place of `build_parts`."""

    def nearest(text: str, count: int, without: frozenset[str]) -> Sequence[tuple[str, str]]:
        wanted = set(re.findall(r"\w{4,}", text.lower()))
        rows = [
            (len(wanted & set(re.findall(r"\w{4,}", one.text.lower()))), one.id, one.text)
            for one in corpus
            if one.id not in without
        ]
        return [(name, text) for shared, name, text in sorted(rows, reverse=True)[:count] if shared]

    return Parts(TinyProver(), nearest, TinyMaker)
