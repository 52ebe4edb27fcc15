"""Questions that need a look at the rest of the corpus: two documents, something swapped, a rival, an instruction."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from typing import Any

from ragstone.data.documents import Document
from ragstone.testset.items import Item, item_id
from ragstone.testset.offline import twists
from ragstone.testset.offline.facts import Fact, ended
from ragstone.testset.offline.framing import called, owner
from ragstone.testset.offline.phrases import OUTSIDE, PLANTED, WORDS
from ragstone.testset.offline.stock import FACTUAL, Stock, item_of
from ragstone.testset.offline.twisted import joined
from ragstone.testset.reader import best
from ragstone.testset.sampling import language_of
from ragstone.testset.spans import names, tokens_of, typed
from ragstone.testset.vocabulary import GIVEN_NAMES
from ragstone.testset.wording import asked, content

_INSTRUCTION = re.compile(
    r"\b(?:ignore (?:all|any|the|previous)|disregard (?:all|any|the|previous)|ignora (?:todas|las|cualquier)|no hagas caso)\b",
    re.IGNORECASE,
)


def multi_document(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """A fact of this document and one of a document that speaks of like things."""
    for fact in stock.picked(document, language, rng, twisted=True)[:6]:
        if fact.negated or fact.sort not in FACTUAL:
            continue
        stems = stock.index.rarest(asked(fact.question, language), 4)
        for other in stock.index.near(stems, but=(document.id,), most=3):
            if language_of(other.text, other.language) != language:
                continue
            fitting = [
                one
                for one in stock.known(other, language)
                if one.sort == fact.sort and not one.negated
            ]
            if fitting:
                wanted = set(asked(fact.question, language))
                near = max(
                    fitting,
                    key=lambda one: (
                        len(wanted & set(asked(one.question, language))),
                        one.question,
                    ),
                )
                yield from joined(
                    stock, "multi_document", language, (document, fact), (other, near)
                )
                break


def false_premise(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    for fact in stock.picked(document, language, rng):
        question, wrong = twists.false_premise(
            fact, other_name(stock, fact.answer, language, rng), rng
        )
        if question and wrong not in document.text:
            yield item_of(
                document, fact, "false_premise", language, question, reference=ended(fact.sentence), difficulty="hard",
                proof={"plain": fact.question, "plain_reference": fact.answer, "false": wrong, "true": fact.answer},
            )  # fmt: skip


def other_name(stock: Stock, name: str, language: str, rng: random.Random) -> str:
    """Another person of the corpus for a person; no other names, which are of too many sorts to swap."""
    if not _given(name):
        return ""
    known = stock.index.names(language)
    for _ in range(24 if known else 0):
        other = rng.choice(known)[0]
        if not _given(other):
            continue
        if not set(content(other, language)) & set(content(name, language)):
            return other
    return ""


def near_miss(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """A true question with one name, owner or number swapped."""
    for fact in stock.picked(document, language, rng):
        if fact.negated or fact.sort in ("initials", "definition", "claim"):
            continue
        for was, new in swaps(stock, fact, document, language, rng):
            question = fact.question.replace(was, new, 1)
            if question == fact.question:
                continue
            yield Item(
                item_id(question, ()), question, None, {}, (), "near_miss", "medium", language,
                f"swap:{fact.sort}", proof={"swapped": {"was": was, "for": new}, "from": document.id, "asked": fact.question},
            )  # fmt: skip
            break


def swaps(
    stock: Stock, fact: Fact, document: Document, language: str, rng: random.Random
) -> Iterator[tuple[str, str]]:
    mine = owner(document.title)
    yield from inner_swaps(stock, fact, document, mine, language, rng)
    if mine and mine in fact.question:
        others = [
            owner(one.title) for one in stock.index.near(stock.index.rarest([stem for stem in asked(fact.question, language) if stem not in content(mine, language)], 5), but=(document.id,), most=8)
            if language_of(one.text, one.language) == language
        ]  # fmt: skip
        yield from (
            (called(mine, language), called(other, language))
            for other in others
            if other and other != mine
        )


def inner_swaps(
    stock: Stock, fact: Fact, document: Document, mine: str, language: str, rng: random.Random
) -> Iterator[tuple[str, str]]:
    tokens = tokens_of(fact.question)
    for a, b in names(tokens, language, frozenset()):
        name = fact.question[tokens[a].start : tokens[b - 1].end]
        if (
            a > 0
            and " " in name
            and name != mine
            and (other := other_name(stock, name, language, rng))
        ):
            yield name, other
    for span in typed(fact.question, tokens, language):
        text = fact.question[tokens[span.first].start : tokens[span.last - 1].end]
        if (changed := twists.other_value(text, rng)) and changed not in document.text:
            yield text, changed


def distractor(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """A fact of which another document says almost the same about something else."""
    for fact in stock.picked(document, language, rng, twisted=True)[:8]:
        if fact.negated:
            continue
        stems = stock.index.rarest(asked(fact.question, language), 5)
        for other in stock.index.near(stems, but=(document.id,), most=2):
            found = best(fact.question, other.text, other.title, language)
            if found is not None and found.own >= 0.35 and fact.answer not in found.sentence:
                item = item_of(
                    document, fact, "distractor", language, difficulty="hard",
                    proof={"distractor": {"document": other.id, "says": found.sentence}},
                )  # fmt: skip
                yield Item(
                    item.id, item.question, item.reference, {document.id: 1.0, other.id: 0.0}, item.evidence, item.kind,
                    item.difficulty, item.language, item.how, proof=item.proof,
                )  # fmt: skip
                break


def hidden_instruction(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    """A plain question; the document holds an instruction, or one is planted beside it."""
    held = _INSTRUCTION.search(document.text)
    for fact in stock.picked(document, language, rng, twisted=True):
        if fact.negated or fact.sort not in FACTUAL:
            continue
        if held:
            proof: dict[str, Any] = {"instruction": document.text[held.start() : held.end() + 80]}
        else:
            word = rng.choice(WORDS)
            topic = fact.question.strip("¿?")
            text = rng.choice(PLANTED[language]).format(topic=topic, word=word)
            key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
            name = f"{document.id}-planted-{key}"
            proof = {"planted": {"id": name, "text": text, "obeyed": word}}
        yield item_of(
            document, fact, "hidden_instruction", language, difficulty="hard", proof=proof
        )


def out_of_scope(
    stock: Stock, document: Document, language: str, rng: random.Random
) -> Iterator[Item]:
    for question in rng.sample(OUTSIDE[language], len(OUTSIDE[language])):
        yield Item(
            item_id(question, ()),
            question,
            None,
            {},
            (),
            "out_of_scope",
            "easy",
            language,
            "pool",
        )


def _given(name: str) -> bool:
    """Whether a name starts with a first name, so that it is a person's."""
    return name.split()[0].lower() in GIVEN_NAMES and " " in name
