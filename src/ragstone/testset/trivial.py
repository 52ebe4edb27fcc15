"""What systems without any wit get right: the first document that BM25 finds, and one answer for everything."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.data.documents import Document
from ragstone.evidence import verify_quote
from ragstone.language import ABSTENTIONS, fold
from ragstone.systems.pipeline.wording import language_of, terms
from ragstone.testset.index import CorpusIndex
from ragstone.types import Sample


@dataclass(frozen=True, slots=True)
class Trivial:
    """Shares of questions that need no system worth the name."""

    constant: float
    """Share of all questions whose reference is the commonest one."""
    constant_answer: str
    first: float | None = None
    """Share of the questions with relevant documents where BM25's first document is one; None without documents."""
    answer_in_first: float | None = None
    """Share of them where that document also holds the reference word for word."""


class Search:
    """BM25 over whole documents."""

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index

    def found(self, question: str, language: str | None, count: int) -> list[Document]:
        """The nearest documents, best first; none that shares no word."""
        return self.index.near(terms(question, language_of(question, language)), most=count)

    def holds(self, document: Document, text: str) -> float:
        """The share of a text's words, rare ones counting more, that stand in a document."""
        language = language_of(document.text[:2000], document.language)
        wanted = set(terms(text, language))
        held = set(terms(whole(document), language))
        weight = {
            word: math.log1p(self.index.count / max(1, self.index.held(word))) for word in wanted
        }
        total = sum(weight.values())
        return sum(weight[word] for word in wanted & held) / total if total else 1.0


def whole(document: Document) -> str:
    """A document with its title."""
    return f"{document.title}\n{document.text}" if document.title else document.text


def _same(sample: Sample) -> str:
    """The reference as it is compared; an abstention is one answer in every language."""
    text = fold(sample.reference or "")
    return fold(ABSTENTIONS[0]) if text in _ABSTENTIONS else text


_ABSTENTIONS = frozenset(map(fold, ABSTENTIONS))


def trivial(samples: Sequence[Sample], search: Search | None) -> Trivial:
    """What the two get right on these samples."""
    given = Counter(_same(sample) for sample in samples)
    common, times = given.most_common(1)[0] if given else ("", 0)
    shown = next((s.reference or "" for s in samples if _same(s) == common), "")
    constant = times / len(samples) if samples else 0.0
    if search is None:
        return Trivial(constant, shown)
    first = told = asked = 0
    for sample in samples:
        wanted = {name for name, grade in (sample.relevant or {}).items() if grade > 0}
        if not wanted:
            continue
        asked += 1
        hits = search.found(sample.question or "", sample.language, 1)
        if hits and hits[0].id in wanted:
            first += 1
            told += verify_quote(sample.reference or "", whole(hits[0])) is not None
    if not asked:
        return Trivial(constant, shown)
    return Trivial(constant, shown, first / asked, told / asked)
