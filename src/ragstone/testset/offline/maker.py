"""The maker of items without an LLM: for each kind that rules can make well, a function from a document's facts to items."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Item, make_item_id
from ragstone.testset.offline import gate, styles
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import GRAMMARS
from ragstone.testset.offline.stock import FactStock, Turn, describe_source
from ragstone.testset.offline.swaps import make_distractor, make_hidden_instruction, make_near_miss
from ragstone.testset.sampling import language_of
from ragstone.text.language import LANGUAGES

_MAX_BOTH_CHARS = 400
"""Length of the two references of a `two_in_one` together."""


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

    Without those of the pattern `section`, which name a document's title: nobody types that into a chat."""
    for fact in turn.pick_facts(dressed=True):
        if kind == "typos":
            question = styles.add_slips(fact.question, turn.rng)
        else:
            question = styles.to_chat(fact.question, turn.language, turn.rng)
        if question != fact.question and fact.pattern != "section":
            yield turn.build_item(fact, kind, question, proof={"plain": fact.question})


def _pair_records(turn: Turn) -> Iterator[tuple[Fact, Fact]]:
    """Pairs of records that answer the same question for different keys."""
    groups: dict[str, list[Fact]] = {}
    for fact in turn.pick_facts(dressed=True):
        if fact.group:
            groups.setdefault(fact.group, []).append(fact)
    for facts in groups.values():
        # disjoint pairs: no record is used twice
        for first, second in zip(facts[::2], facts[1::2], strict=False):
            # the same question but for the key, and not the same question altogether
            if first.question.replace(first.key, second.key) == second.question != first.question:
                yield first, second


def _make_two_in_one(turn: Turn) -> Iterator[Item]:
    """What two options of one command do."""
    grammar = GRAMMARS[turn.language]
    for first, second in _pair_records(turn):
        if (
            first.pattern != "option"
            or first.key[0] != "`"
            or len(first.reference + second.reference) > _MAX_BOTH_CHARS
        ):
            continue
        question = grammar.fix_question(
            grammar.templates["compare"].format(key=first.key, other=second.key, owner=first.owner)
        )
        if gate.explain_doubtful_question(question, grammar):
            continue
        both = (first, second)
        reference = " ".join(f"{fact.key}: {fact.reference}" for fact in both)
        evidence = tuple(map(turn.quote_fact, both))
        parts = [{"question": fact.question, "reference": fact.reference} for fact in both]
        yield Item(
            make_item_id(question, evidence), question, reference, {turn.document.id: 1.0}, evidence, "two_in_one", "hard",
            turn.language, describe_source(first), proof={"parts": parts},
        )  # fmt: skip


def _make_follow_up(turn: Turn) -> Iterator[Item]:
    """A second turn that names only the next record: `And --all?`."""
    template = GRAMMARS[turn.language].templates["follow_up"]
    for first, second in _pair_records(turn):
        history, proof = (first.question, first.reference), {"plain": second.question}
        asks = template.format(key=second.key)
        yield turn.build_item(second, "follow_up", asks, difficulty="hard", history=history, proof=proof)  # fmt: skip


MAKERS: dict[str, Callable[[Turn], Iterator[Item]]] = {
    **{kind: partial(_make_plain, kind) for kind in ("factual", "conceptual", "how_to", "detail")},
    "near_miss": make_near_miss, "distractor": make_distractor, "typos": partial(_make_dressed, "typos"), "informal": partial(_make_dressed, "informal"),
    "two_in_one": _make_two_in_one, "follow_up": _make_follow_up, "hidden_instruction": make_hidden_instruction,
}  # fmt: skip
"""Kinds that rules make; the others need a judge."""
