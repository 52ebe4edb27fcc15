"""The facts of documents, cached; the order in which makers take them; and how a fact becomes an item."""

from __future__ import annotations

import hashlib
import random
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Difficulty, Evidence, Item, make_item_id
from ragstone.testset.offline.definitions import find_definitions
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import open_page
from ragstone.testset.offline.records import find_record_facts
from ragstone.testset.offline.sections import find_section_facts
from ragstone.testset.offline.tables import find_table_facts
from ragstone.testset.question_terms import extract_content_stems
from ragstone.testset.sampling import language_of

CACHED_DOCUMENTS = 256
MAX_FACT_CHARS = 400_000
"""Characters of a document that facts are looked for in: some 150 pages, more than any set asks about one document."""
_BROKEN_WORD = re.compile(r"[a-zA-Z][-‐]\n\s*[a-zA-Z]")
# patterns without a key that are records all the same: see describe_source
_STRUCTURED = ("purpose_line", "question")


class FactStock:
    """Facts of documents, least recently used ones dropped, and the index of the corpus."""

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index
        self._facts: OrderedDict[str, list[Fact]] = OrderedDict()

    def load_facts(self, document: Document, language: str) -> list[Fact]:
        """The facts of a document, no question twice."""
        if document.id in self._facts:
            self._facts.move_to_end(document.id)
            return self._facts[document.id]
        # offsets in the beginning of a document are offsets in the document
        beginning = replace(document, text=document.text[:MAX_FACT_CHARS])
        folders = self.index.folders
        page = open_page(beginning, language, folders.find_product(document.id), shares_title=folders.shares_title(document))  # fmt: skip
        facts: dict[str, Fact] = {}
        answers: dict[str, set[str]] = {}
        # of two facts with the same question and answer the first is kept, so the order matters
        for source in (find_definitions, find_record_facts, find_table_facts, find_section_facts):
            for fact in source(page):
                if not _is_cut(document.text, fact):
                    facts.setdefault(fact.question, fact)
                    answers.setdefault(fact.question, set()).add(fact.reference)
        # a heading that stands twice, a term that is explained twice: neither is the whole answer
        self._facts[document.id] = [
            fact for fact in facts.values() if len(answers[fact.question]) == 1
        ]
        while len(self._facts) > CACHED_DOCUMENTS:
            self._facts.popitem(last=False)
        return self._facts[document.id]


@dataclass(frozen=True, slots=True)
class Turn:
    """One document's turn to give items, with what the makers of items need."""

    stock: FactStock
    document: Document
    language: str
    rng: random.Random

    def pick_facts(self, *, dressed: bool = False) -> list[Fact]:
        """The facts in random order; `dressed` is for kinds that change a plain question (typos, chat, pairs).

        Plain and dressed kinds begin with different facts, so that they seldom use the same one."""
        facts = list(self.stock.load_facts(self.document, self.language))
        # a copy is shuffled: the cached list must stay in the document's order
        self.rng.shuffle(facts)
        # stable: those meant for this sort of kind first, each part still in random order
        return sorted(facts, key=lambda fact: _is_reserved(fact) != dressed)

    def find_neighbours(self, text: str, count: int = 6) -> list[Document]:
        """Other documents in the same language that share rare words with a text."""
        index = self.stock.index
        stems = index.sort_rarest(extract_content_stems(text, self.language), 6)
        documents = index.find_with_any(stems, but=(self.document.id,), most=count)
        return [
            document
            for document in documents
            if language_of(document.text, document.language) == self.language
        ]

    def quote_fact(self, fact: Fact) -> Evidence:
        """The evidence of a fact, letter by letter as the document has it."""
        text = self.document.text[fact.start : fact.end]
        return Evidence(self.document.id, text, fact.start, fact.end)

    def build_item(
        self,
        fact: Fact,
        kind: str,
        question: str = "",
        *,
        difficulty: Difficulty = "medium",
        history: tuple[str, ...] = (),
        proof: Mapping[str, Any] | None = None,
    ) -> Item:
        """A fact as an item of this kind; `question` is another wording of the fact's question, empty for its own."""
        claim = (
            {"claim": fact.claim, "about": "" if fact.framed else fact.subject}
            if fact.claim
            else {}
        )
        asks, evidence = question or fact.question, (self.quote_fact(fact),)
        return Item(
            make_item_id(asks, evidence, history), asks, fact.reference, {self.document.id: 1.0}, evidence, kind, difficulty,
            self.language, describe_source(fact), "", history, {**claim, **(proof or {})},
        )  # fmt: skip


def _is_cut(text: str, fact: Fact) -> bool:
    """Whether the evidence ends inside a word (`CACHEDIR.TAG`), or has a hyphen at the end of a line, of which nobody
    can tell whether it belongs to the word."""
    return text[fact.end : fact.end + 1].isalnum() or bool(
        _BROKEN_WORD.search(text, fact.start, fact.end)
    )


def _is_reserved(fact: Fact) -> bool:
    """Whether a fact is left to kinds that dress a question up: a third, decided by its question."""
    return hashlib.sha256(fact.question.encode("utf-8", "surrogatepass")).digest()[0] % 3 == 0


def describe_source(fact: Fact) -> str:
    """How an item was made (`record:option`, `template:definition`); proofs.py treats records differently."""
    structured = fact.key or fact.pattern in _STRUCTURED
    return f"{'record' if structured else 'template'}:{fact.pattern}"
