"""The maker of items without an LLM: for each kind that rules can make well, a function from a document's facts to items."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ragstone.data.documents import Document
from ragstone.testset import styles
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Item
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import GRAMMARS
from ragstone.testset.offline.stock import FactStock, Turn
from ragstone.testset.offline.swaps import make_hidden_instruction, make_near_miss
from ragstone.testset.sampling import language_of
from ragstone.text.language import LANGUAGES

MAX_TALKS = 3
"""Conversations about one group of facts."""
MAX_TURNS = 4
"""Questions of a conversation; it has at least two."""


class OfflineMaker:
    """Makes candidates from the facts of a document, with a look at the rest of the corpus."""

    def __init__(self, index: CorpusIndex, styles: Sequence[str] = ()) -> None:
        self._stock = FactStock(index)
        self._styles = tuple(styles)

    def make_candidates(
        self, document: Document, wanted: Mapping[str, int], rng: random.Random
    ) -> Iterator[Item]:
        """Items of the wanted kinds, as many as the document yields, unproven; the caller stops when it has enough."""
        language = language_of(document.text, document.language)
        if language not in LANGUAGES:
            return
        for kind, most in wanted.items():
            if most > 0 and kind in MAKERS:
                for item in MAKERS[kind](Turn(self._stock, document, language, rng)):
                    yield styles.apply_style(item, self._styles)


def _make_plain(kind: str, turn: Turn) -> Iterator[Item]:
    """Plain questions for facts of this kind."""
    for fact in turn.pick_facts():
        if fact.kind == kind:
            yield turn.build_item(fact, kind, difficulty="easy" if kind == "factual" else "medium")


def _make_dressed(kind: str, turn: Turn) -> Iterator[Item]:
    """Plain questions with slips of the keyboard (`typos`), or as people write in a chat (`informal`).

    Without those that name a document's title: nobody types that into a chat."""
    titled = GRAMMARS[turn.language].templates["quote"][0]
    for fact in turn.pick_facts(dressed=True):
        if titled in fact.question:
            continue
        if kind == "typos":
            question = styles.add_slips(fact.question, turn.rng)
        else:
            question = styles.to_chat(fact.question, turn.language, turn.rng)
        if question != fact.question:
            yield turn.build_item(fact, kind, question, proof={"plain": fact.question})


def _make_follow_up(turn: Turn) -> Iterator[Item]:
    """A conversation of two to four turns about records of one group; each after the first names only the next: `And --all?`."""
    templates = GRAMMARS[turn.language].templates
    groups: dict[str, list[Fact]] = {}
    for fact in turn.stock.load_facts(turn.document, turn.language):
        if fact.group:
            groups.setdefault(fact.group, []).append(fact)
    # the same in every turn, and few: more would ask one document again and again
    dice = random.Random(turn.document.id)
    for facts in groups.values():
        dice.shuffle(facts)
        for _ in range(MAX_TALKS):
            if len(facts) < 2:
                break
            # disjoint: no record is used twice
            talk, facts = _split_talk(facts, dice.randint(2, MAX_TURNS))
            if len(talk) < 2:
                break
            last = talk[-1]
            is_section = last.pattern in ("heading", "list")
            template = templates["follow_up_heading" if is_section else "follow_up"]
            asked = [talk[0].question, *(template.format(key=fact.key) for fact in talk[1:])]
            told = [fact.reference for fact in talk[:-1]]
            history = tuple(text for pair in zip(asked, told, strict=False) for text in pair)
            proof = {"plain": last.question}
            yield turn.build_item(last, "follow_up", asked[-1], difficulty="hard", history=history, proof=proof)  # fmt: skip


def _split_talk(facts: list[Fact], turns: int) -> tuple[list[Fact], list[Fact]]:
    """The first facts, so far as they ask the same but for the key, and the rest."""
    first = facts[0]
    alike = [
        fact
        for fact in facts[1:turns]
        if first.question.replace(first.key, fact.key) == fact.question != first.question
    ]
    return [first, *alike], facts[turns:]


MAKERS: dict[str, Callable[[Turn], Iterator[Item]]] = {
    **{kind: partial(_make_plain, kind) for kind in ("factual", "conceptual", "how_to", "detail", "aggregation")},
    "near_miss": make_near_miss, "typos": partial(_make_dressed, "typos"), "informal": partial(_make_dressed, "informal"),
    "follow_up": _make_follow_up, "hidden_instruction": make_hidden_instruction,
}  # fmt: skip
"""Kinds that rules make; the others need a judge."""
