"""Test sets by a small language model: code chooses what to ask for, the model words the question and answers it.

A model of one or two billion parameters loses count of orders, copies no quotes and does not end long replies. So code
chooses a passage and in it a sentence, which is the reference, and how the question begins; the model
writes one line, before which code puts the name of the house, program or page where the line lacks it. What code sees is
refused first (small_questions.py, proofs.py); then the model answers the question from the passage without being shown
the sentence, which must have that answer, and says with one token whether the sentence answers it. All calls about a
passage begin with the same text and go one after another: a server that keeps the last prompt of a slot reads
instructions and passage once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragstone.asks import Ask, Reply, ShownPassage, answer_one, check_one, write_one
from ragstone.engine import AskBroker
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.testset.generation import ItemProver, StepResult
from ragstone.testset.items import Evidence, Item, Rejection, make_item_id
from ragstone.testset.offline.page import open_page
from ragstone.testset.sampling import language_of
from ragstone.testset.small_questions import (
    agrees_with_target,
    find_question_fault,
    finish_question,
    name_home,
)
from ragstone.testset.small_targets import Target, choose_targets
from ragstone.testset.sources import Corpus
from ragstone.types import NO_USAGE

MAX_READ_CHARS = 200_000
"""Characters of a document from which passages are drawn."""
MIN_RIGHT = 0.57
"""Chance, by the model's own word, below which a sentence does not answer its question.

Chosen with Qwen2.5-1.5B on pages that no figure counts: below it most were wrong, above it the chance tells little."""
MAX_TRIES = 3
"""Sentences of a passage that are tried for one order: the passage is read already, so that a further one is cheap."""
MAX_UNREACHED = 3
"""Calls in a row that do not reach the model before it is given up."""


@dataclass(slots=True)
class SmallModelWriter:
    """Orders questions from a small model, passage by passage, and has it prove them."""

    broker: AskBroker
    judge: str
    corpus: Corpus
    checker: ItemProver
    find_product: Callable[[str], str]
    """Id of a document → the name that its folder is about; empty where none stands out."""
    # these six are described in generation.Writer; one group at a time, so that a passage is read once
    per_document: int = 4
    group: int = 1
    window: int = 1
    rounds: int = 12
    patience: int = 8
    stopped: str = ""
    _unreached: int = field(default=0, repr=False)

    async def write_group(
        self,
        group: Sequence[tuple[int, list[str]]],
        rng: random.Random,
        turn: Awaitable[None],
        done: asyncio.Future[None],
    ) -> StepResult:
        """What the documents of a group give, question by question."""
        made = StepResult()
        await turn
        for position, kinds in group:
            targets = self._choose_targets(position, kinds, rng)
            for kind in kinds:
                fitting = [target for target in targets if target.kind == kind][:MAX_TRIES]
                if not fitting:
                    detail = "the document has nothing to ask about"
                    made.rejected.append(Rejection("empty", {"kind": kind}, detail))
                await self._fill_order(fitting, targets, made)
        if not done.done():
            done.set_result(None)
        return made

    async def _fill_order(
        self, fitting: Sequence[Target], targets: list[Target], made: StepResult
    ) -> None:
        """Try one target after another until there is an item; what was tried is taken out of `targets`."""
        before = len(made.items)
        for target in fitting:
            if self.stopped or len(made.items) > before:
                return
            targets.remove(target)
            await self._make_item(target, made)

    def _choose_targets(self, position: int, kinds: Sequence[str], rng: random.Random) -> list[Target]:  # fmt: skip
        document = self.corpus[position]
        language = language_of(document.text, document.language)
        beginning = replace(document, text=document.text[:MAX_READ_CHARS])
        return choose_targets(open_page(beginning, language, self.find_product(document.id)), kinds, rng)  # fmt: skip

    async def _make_item(self, target: Target, made: StepResult) -> None:
        """Have one question written, and the item or the reason why there is none noted in `made`."""
        order = _Order(target)
        row = {"kind": target.kind, "sentence": target.reference}
        reply = await self._ask(order.write, made)
        if isinstance(reply, str):
            made.rejected.append(Rejection("judge_failed", row, reply))
            return
        if not reply["question"].strip():
            made.rejected.append(Rejection("empty", row, "no question"))
            return
        question = finish_question(reply["question"], target)
        if fault := find_question_fault(question, target):
            made.rejected.append(Rejection(fault[0], {**row, "question": question}, fault[1]))
            return
        checked = self.checker.check_item(
            order.build_item(name_home(target.passage.page, question), self.judge)
        )
        if isinstance(checked, Rejection):
            made.rejected.append(checked)
            return
        await self._prove_item(checked, order, made)

    async def _prove_item(self, item: Item, order: _Order, made: StepResult) -> None:
        """Have the model answer the question, and say whether the reference does."""
        reply = await self._ask(order.answer(item.question), made)
        if isinstance(reply, str):
            made.judged.append(Rejection("judge_failed", item, reply))
            return
        proof: dict[str, Any] = {"answered_by": self.judge, "answer": reply["answer"]}
        if not agrees_with_target(reply["answer"], item.question, order.target):
            detail = f"the model answers {reply['answer']!r}"
            made.judged.append(Rejection("not_answerable_from_evidence", item, detail))
            return
        reply = await self._ask(order.check(item.question), made)
        if isinstance(reply, str):
            made.judged.append(Rejection("judge_failed", item, reply))
            return
        proof["right"] = float(reply.get("probability", reply["yes"]))
        if proof["right"] < MIN_RIGHT:
            detail = f"the model finds it right with a chance of {proof['right']:.2f}"
            made.judged.append(Rejection("not_answerable_from_evidence", item, detail))
            return
        made.items.append(replace(item, proof={**item.proof, **proof}))

    async def _ask(self, ask: Ask, made: StepResult) -> Any:
        """The value of the reply, or why there is none (a string)."""
        (answered,) = await self.broker.answer([ask])
        made.usage = made.usage + (answered.usage or NO_USAGE)
        if isinstance(answered, Reply):
            self._unreached = 0
            return answered.value
        if isinstance(answered, OutOfBudget):
            made.cut, self.stopped = True, answered.reason
        elif isinstance(answered, JudgeFailed) and answered.kind == "transport":
            made.cut = True
            self._unreached += 1
            if self._unreached >= MAX_UNREACHED:
                self.stopped = f"the judge cannot be reached: {answered.reason}"
        return answered.reason


@dataclass(frozen=True, slots=True)
class _Order:
    """The calls about one target, all of which begin with its passage."""

    target: Target

    @property
    def shown(self) -> ShownPassage:
        return ShownPassage(self.target.passage.title, self.target.passage.text)

    @property
    def language(self) -> str:
        return self.target.passage.page.grammar.language

    @property
    def write(self) -> Ask:
        target = self.target
        return write_one(self.shown, target.reference, begins=target.begins, language=self.language)

    def check(self, question: str) -> Ask:
        return check_one(self.shown, question, self.target.reference, language=self.language)

    def answer(self, question: str) -> Ask:
        return answer_one(self.shown, question, language=self.language)

    def build_item(self, question: str, judge: str) -> Item:
        document, (start, end) = self.target.passage.page.document, self.target.span
        evidence = (Evidence(document.id, document.text[start:end], start, end),)
        return Item(
            make_item_id(question, evidence), question, self.target.reference, {document.id: 1.0},
            evidence, self.target.kind, "medium", self.language, judge,
            proof={"claim": self.target.claim} if self.target.claim else {},
        )  # fmt: skip
