"""A fact asked in another way: with slips, in a chat, in other words, two at once, as a second turn."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from ragstone.data.documents import Document
from ragstone.testset.items import Item, item_id
from ragstone.testset.offline import twists
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.framing import owner, unframed
from ragstone.testset.offline.phrases import FIRST_TURNS
from ragstone.testset.offline.stock import FACTUAL, Stock, item_of, quoted
from ragstone.testset.wording import asked, content


def typos(stock: Stock, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng, twisted=True):
        question = twists.with_slips(fact.question, rng)
        if question != fact.question and not fact.negated:
            yield item_of(
                document,
                fact,
                "typos",
                language,
                question,
                style="hurried",
                proof={"plain": fact.question},
            )


def informal(stock: Stock, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng, twisted=True):
        if not fact.negated:
            question = twists.in_a_chat(fact.question, language, rng)
            yield item_of(
                document,
                fact,
                "informal",
                language,
                question,
                style="chat",
                proof={"plain": fact.question},
            )


def paraphrase(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng, twisted=True):
        question = twists.paraphrase(fact.question, language)
        if not question:
            continue
        named = {
            stem
            for word in re.findall(r"\b[A-ZÁÉÍÓÚÑ][\w’'-]+|\d[\d.,]*", question)
            for stem in content(word, language)
        }
        shared = set(asked(question, language)) & set(content(fact.sentence, language))
        if shared <= named:
            yield item_of(
                document, fact, "paraphrase", language, question, difficulty="hard",
                proof={"plain": fact.question, "shared": sorted(shared)},
            )  # fmt: skip


def two_in_one(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    facts = [
        fact
        for fact in stock.picked(document, language, rng, twisted=True)
        if fact.sort in FACTUAL and not fact.negated
    ]
    for first, second in zip(facts[::2], facts[1::2], strict=False):
        if first.start != second.start:
            yield from joined(stock, "two_in_one", language, (document, first), (document, second))


def joined(
    stock: Stock,
    kind: str,
    language: str,
    first: tuple[Document, Fact],
    second: tuple[Document, Fact],
) -> Iterator[Item]:
    mine = owner(first[0].title)
    alike = set(asked(first[1].question, language)) == set(asked(second[1].question, language))
    same_owner = mine and mine == owner(second[0].title)
    if alike and (same_owner or first[1].answer == second[1].answer):  # one thing asked twice
        return
    again = second[1].question
    if (same_owner and mine in first[1].question) or first[0].title == second[0].title:
        again = unframed(again, first[0].title, language)
    question = twists.both(first[1].question, again, language)
    if not question or len(question.split()) > 40:
        return
    evidence = tuple(quoted(document, fact) for document, fact in (first, second))
    parts = [{"question": fact.question, "reference": fact.answer} for _, fact in (first, second)]
    yield Item(
        item_id(question, evidence), question, f"{first[1].answer}; {second[1].answer}",
        {first[0].id: 1.0, second[0].id: 1.0}, evidence, kind, "hard", language,
        f"template:{first[1].sort}+{second[1].sort}", proof={"parts": parts},
    )  # fmt: skip


def follow_up(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    facts = stock.picked(document, language, rng, twisted=True)
    for fact in facts:
        if not fact.again or fact.negated or not fact.subject:
            continue
        before = next(
            (
                one
                for one in facts
                if one.subject == fact.subject and one.start != fact.start and not one.negated
            ),
            None,
        )
        if before is not None:
            history: tuple[str, ...] = (before.question, before.answer)
        else:
            first, reply = FIRST_TURNS[language]
            subject = fact.subject
            if language == "es":
                first = first.replace("de {}", "{}")
                subject = f"del {subject[3:]}" if subject.startswith("el ") else f"de {subject}"
            history = (first.format(subject), reply)
        yield item_of(
            document,
            fact,
            "follow_up",
            language,
            fact.again,
            history=history,
            proof={"plain": fact.question},
        )
