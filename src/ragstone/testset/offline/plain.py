"""Answerable kinds: plain questions, questions in a hurry or a chat, two records at once, and a second turn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from ragstone.data.documents import Document
from ragstone.testset.items import Item, item_id
from ragstone.testset.offline import gate, styles
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import GRAMMARS
from ragstone.testset.offline.stock import FactStock, build_item, describe_source, quote_evidence

_COMPARED = ("option:", "option_is:")
_MAX_BOTH_CHARS = 400


def _make_plain(
    kind: str, stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    for fact in stock.pick(document, language, rng):
        if fact.kind == kind:
            easy = kind == "factual"
            yield build_item(
                document, fact, kind, language, difficulty="easy" if easy else "medium"
            )


def make_factual(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """Questions for a number, a date, a name, a place."""
    return _make_plain("factual", stock, document, language, rng)


def make_conceptual(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """Questions for what something is, contains or is for."""
    return _make_plain("conceptual", stock, document, language, rng)


def make_how_to(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """Questions for how something is done."""
    return _make_plain("how_to", stock, document, language, rng)


def make_detail(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """Questions for an option, a list, a condition."""
    return _make_plain("detail", stock, document, language, rng)


def make_typos(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """Plain questions with one or two slips of the keyboard."""
    for fact in stock.pick(document, language, rng, dressed=True):
        question = styles.add_slips(fact.question, rng)
        if question != fact.question:
            yield build_item(
                document, fact, "typos", language, question, proof={"plain": fact.question}
            )


def make_informal(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """Plain questions as they are typed into a chat."""
    for fact in stock.pick(document, language, rng, dressed=True):
        question = styles.to_chat(fact.question, language, rng)
        yield build_item(
            document, fact, "informal", language, question, proof={"plain": fact.question}
        )


def _records(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> list[list[Fact]]:
    """Records of the same group, groups of two and more."""
    groups: dict[str, list[Fact]] = {}
    for fact in stock.pick(document, language, rng, dressed=True):
        if fact.group:
            groups.setdefault(fact.group, []).append(fact)
    return [facts for facts in groups.values() if len(facts) > 1]


def _paired(facts: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    return zip(facts[::2], facts[1::2], strict=False)


def make_two_in_one(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """What two options of one command do."""
    grammar = GRAMMARS[language]
    for facts in _records(stock, document, language, rng):
        for first, second in _paired(facts) if facts[0].group.startswith(_COMPARED) else ():
            if (
                first.key == second.key
                or len(first.reference) + len(second.reference) > _MAX_BOTH_CHARS
            ):
                continue
            question = grammar.fix(
                grammar.templates["compare"].format(
                    key=first.key, other=second.key, owner=first.owner
                )
            )
            if gate.refuse_question(question, grammar):
                continue
            reference = " ".join(f"{one.key}: {one.reference}" for one in (first, second))
            evidence = (quote_evidence(document, first), quote_evidence(document, second))
            parts = [
                {"question": one.question, "reference": one.reference} for one in (first, second)
            ]
            yield Item(
                item_id(question, evidence), question, reference, {document.id: 1.0}, evidence, "two_in_one",
                "hard", language, describe_source(first), proof={"parts": parts},
            )  # fmt: skip


def make_follow_up(
    stock: FactStock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """A second turn that names only the next record: `And --all?`."""
    template = GRAMMARS[language].templates["follow_up"]
    for facts in _records(stock, document, language, rng):
        for first, second in _paired(facts):
            if (
                first.key != second.key
                and first.question.replace(first.key, second.key) == second.question
            ):
                yield build_item(
                    document, second, "follow_up", language, template.format(key=second.key), difficulty="hard",
                    history=(first.question, first.reference), proof={"plain": second.question},
                )  # fmt: skip
