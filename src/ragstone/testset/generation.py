"""From documents to items, step by step: each step depends on the seed and the steps before it, on nothing else.

That makes a generation resumable: steps found in the journal are taken up as if they had just been made. A document is
named by its position in the corpus, from 0."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from ragstone.data.documents import Document
from ragstone.engine import Progress
from ragstone.testset.items import Item, Rejection
from ragstone.testset.journal import Journal
from ragstone.testset.quotas import Tally
from ragstone.testset.sources import Corpus
from ragstone.types import NO_USAGE, Usage

MAX_MISSES_A_KIND = 4
"""Refused candidates of one kind after which a document's turn passes to the next document."""


class Maker(Protocol):
    """Makes candidates out of a document without a judge."""

    def make_candidates(
        self, document: Document, wanted: Mapping[str, int], rng: random.Random
    ) -> Iterator[Item]:
        """Items of the wanted kinds, as many as the document yields, unproven."""
        ...


class ItemProver(Protocol):
    """Proves items, and remembers the ones it let through so that none comes twice."""

    def check_item(self, item: Item) -> Item | Rejection:
        """The item with its proof, or why it is refused."""
        ...

    def remember_item(self, item: Item) -> None:
        """An item that was let through in an earlier process."""
        ...


@dataclass(slots=True)
class StepResult:
    """What one step gave: one document's turn with rules, one group of documents with a judge."""

    items: list[Item] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    judged: list[Rejection] = field(default_factory=list)
    """Refused by a judge's answers, after the checker had let them through and remembered them.

    Apart from `rejected`, because a resumed generation must have the checker remember these too."""
    usage: Usage = NO_USAGE
    spent: list[str] = field(default_factory=list)
    """Kinds of which the document had nothing more to offer."""
    cut: bool = False
    """Whether a call that it needs was not made or did not reach the judge."""

    def to_row(self) -> dict[str, Any]:
        """The step as the journal keeps it, without `cut`, which matters only while a judge is asked."""
        used = self.usage
        return {
            "items": [item.to_row() for item in self.items],
            "rejected": [rejection.to_row() for rejection in self.rejected],
            "judged": [rejection.to_row() for rejection in self.judged],
            "usage": [used.calls, used.input_tokens, used.output_tokens, used.usd],
            "spent": self.spent,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> StepResult:
        """The step that `to_row` wrote."""
        return cls(
            [Item.from_row(item) for item in row["items"]],
            [_to_rejection(rejection) for rejection in row["rejected"]],
            [_to_rejection(rejection) for rejection in row["judged"]],
            Usage(*row["usage"]),
            row["spent"],
        )


@dataclass(slots=True)
class Generation:
    """A test set in the making."""

    corpus: Corpus
    order: Sequence[int]
    """Positions of documents, in the order in which they are asked about."""
    tally: Tally
    journal: Journal
    prover: ItemProver
    seed: int
    watch: Callable[[Progress], None] | None = None
    items: list[Item] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    usage: Usage = NO_USAGE
    visited: set[int] = field(default_factory=set)
    """Positions of the documents that items were looked for in."""
    stopped: str = ""
    """Why it ended early (budget spent, judge not reached); empty when it did not."""
    _seen_ids: set[str] = field(default_factory=set)
    _spent_kinds: dict[int, set[str]] = field(default_factory=dict)
    """Position of a document → kinds that it has nothing more of."""

    async def run_rules(self, maker: Maker) -> None:
        """Document by document, each giving its share, until all is made or a whole round of documents gives nothing."""
        fruitless_steps = 0  # steps in a row that gave nothing
        for number in count():
            if not self.tally.missing or fruitless_steps >= len(self.order) or not self.order:
                return
            position = self.order[number % len(self.order)]
            share = self._compute_share(number)
            wanted = {kind: min(share, more) for kind, more in self.tally.list_wanted().items()}
            spent = self._spent_kinds.setdefault(position, set())
            stored_step = self.journal.take_step(number)
            if stored_step is not None:
                made = StepResult.from_row(stored_step)
            else:
                # seeded by the step, not by one generator for all: a resumed step must not depend
                # on the draws before it
                rng = random.Random(f"{self.seed}:{number}")
                made = self._run_step(maker, position, wanted, share, rng)
                # empty steps are not stored: made again they give nothing again, and cost nothing
                if made.items or made.rejected:
                    self.journal.add(number, made.to_row())
            spent.update(made.spent)
            given_up_before = len(self.tally.given_up)
            self._take_in(made, wanted, [position], replayed=stored_step is not None)
            # a kind that was just given up left its share to others, which get a turn of their own
            moved = len(self.tally.given_up) > given_up_before
            fruitless_steps = 0 if made.items or moved else fruitless_steps + 1
            if number % 16 == 15:  # lets other tasks on this event loop run
                await asyncio.sleep(0)

    def _run_step(
        self, maker: Maker, position: int, wanted: Mapping[str, int], share: int, rng: random.Random
    ) -> StepResult:
        """What one document gives in one turn."""
        spent = self._spent_kinds[position]
        rest = {kind: most for kind, most in wanted.items() if kind not in spent}
        return (
            self._collect_share(maker, self.corpus[position], rest, share, rng)
            if rest
            else StepResult()
        )

    def _compute_share(self, number: int) -> int:
        """How many items the next document should give so that the rest of its turn gives all that is open."""
        documents_left = len(self.order) - number % len(self.order)
        return max(1, math.ceil(self.tally.missing / documents_left))

    def _collect_share(
        self,
        maker: Maker,
        document: Document,
        wanted: Mapping[str, int],
        share: int,
        rng: random.Random,
    ) -> StepResult:
        """The share of a document: kinds in the order of `wanted` (laggards first), each candidate proved in turn."""
        made = StepResult()
        for kind, most in wanted.items():
            before = len(made.items)

            # defaults, because a closure would see the values of a later round of the loop
            def has_enough(before: int = before, most: int = most) -> bool:
                accepted = len(made.items) - before
                # the share goes to several kinds where it can
                return len(made.items) >= share or accepted >= most or 2 * accepted > share

            if not self._prove_candidates(
                maker.make_candidates(document, {kind: most}, rng), made, has_enough
            ):
                made.spent.append(kind)
            if len(made.items) >= share:
                break
        return made

    def _prove_candidates(
        self, candidates: Iterator[Item], made: StepResult, has_enough: Callable[[], bool]
    ) -> bool:
        """Prove candidates one by one until there are enough; False when all were checked and none passed.

        True after too many misses: the document may have more to offer in its next turn."""
        missed, before = 0, len(made.items)
        for item in candidates:
            if item.id in self._seen_ids:
                continue
            self._seen_ids.add(item.id)
            checked = self.prover.check_item(item)
            if isinstance(checked, Rejection):
                made.rejected.append(checked)
                missed += 1
                if missed >= MAX_MISSES_A_KIND:
                    return True
                continue
            made.items.append(checked)
            if has_enough():
                return True
        return len(made.items) > before

    def _take_in(
        self,
        made: StepResult,
        tried: Mapping[str, int],
        positions: Sequence[int],
        *,
        replayed: bool,
    ) -> None:
        """Take what a step gave into account, whether it was made now or in an earlier process."""
        refused = [*made.rejected, *made.judged]
        # what was let through must be known to the checker as if it had just been checked
        if replayed:
            late = [rejection.item for rejection in made.judged if isinstance(rejection.item, Item)]
            for item in (*made.items, *late):
                self.prover.remember_item(item)
            self._seen_ids.update(item.id for item in made.items)
            self._seen_ids.update(
                rejection.item.id for rejection in refused if isinstance(rejection.item, Item)
            )
        self.items += made.items
        self.rejected += refused
        self.usage = self.usage + made.usage
        self.visited.update(positions)
        self.tally.add_step(tried, Counter(item.kind for item in made.items), len(self.order))
        if self.watch is not None:
            self.watch(Progress(len(self.items), self.tally.asked, len(self.rejected), self.usage))

    async def run_writer(self, writer: Writer) -> None:
        """Orders dealt to documents, several open at once, taken up in their order; what fails is ordered again."""
        # the next step's number, where in `order` the next round begins, rounds in a row without gain
        number = at = fruitless_rounds = 0
        for _ in range(writer.rounds):
            if not self.tally.missing or not self.order:
                return
            orders = _spread_kinds(self.tally.list_all_wanted())
            dealt, at = self._deal_orders(orders, at, writer.per_document)
            groups = [dealt[n : n + writer.group] for n in range(0, len(dealt), writer.group)]
            before = len(self.items)
            number = await self._run_groups(writer, groups, number)
            fruitless_rounds = fruitless_rounds + 1 if len(self.items) == before else 0
            if self.stopped or fruitless_rounds >= writer.patience:
                return

    def _deal_orders(
        self, orders: list[str], at: int, per_document: int
    ) -> tuple[list[tuple[int, list[str]]], int]:
        """Each document from `at` on with its orders, and where the next round starts."""
        size = min(per_document, max(2, math.ceil(len(orders) / len(self.order))))
        dealt = []
        for start in range(0, len(orders), size):
            dealt.append((self.order[at % len(self.order)], orders[start : start + size]))
            at += 1
        return dealt, at

    async def _run_groups(
        self, writer: Writer, groups: Sequence[Sequence[tuple[int, list[str]]]], number: int
    ) -> int:
        """The groups, `writer.window` of them open at once; the number of the step after the last."""
        # a queue of steps in flight: they are asked concurrently and taken up in order
        in_flight: deque[tuple[int, Sequence[tuple[int, list[str]]], asyncio.Task[StepResult]]] = (
            deque()
        )
        source = iter(enumerate(groups, number))
        turn: asyncio.Future[None] | None = None
        try:
            while True:
                while len(in_flight) < writer.window and not writer.stopped:
                    entry = next(source, None)
                    if entry is None:
                        break
                    step, group = entry
                    stored_step = self.journal.take_step(step)
                    # stored steps come first: nothing is in flight before them
                    if stored_step is not None:
                        self._take_in_group(StepResult.from_row(stored_step), group, replayed=True)
                        continue
                    checked = asyncio.get_running_loop().create_future()
                    rng = random.Random(f"{self.seed}:{step}")
                    work = writer.write_group(group, rng, _wait_for_turn(turn), checked)
                    in_flight.append((step, group, asyncio.create_task(work)))
                    # each group waits for the one before it to be checked: which of two duplicates
                    # passes must not depend on which reply came first
                    turn = checked
                if not in_flight:
                    self.stopped = writer.stopped
                    return number + len(groups)
                step, group, task = in_flight.popleft()
                made = await task
                # Groups before the one that was cut are whole and kept. Those after it were looked through without
                # what it would have given; their replies are in the store and cost nothing another time.
                if made.cut and writer.stopped:
                    self.stopped = writer.stopped
                    return step
                self.journal.add(step, made.to_row())
                self._take_in_group(made, group, replayed=False)
        finally:
            open_tasks = [task for _, _, task in in_flight]
            for task in open_tasks:
                task.cancel()
            await asyncio.gather(*open_tasks, return_exceptions=True)

    def _take_in_group(
        self, made: StepResult, group: Sequence[tuple[int, list[str]]], *, replayed: bool
    ) -> None:
        tried = Counter(kind for _, kinds in group for kind in kinds)
        self._take_in(made, tried, [position for position, _ in group], replayed=replayed)


class Writer(Protocol):
    """Makes items by asking a judge."""

    per_document: int
    """Questions ordered in one call at most."""
    group: int
    """Documents whose questions are verified in one call."""
    window: int
    """Groups open at once."""
    rounds: int
    """Rounds of orders; each orders what the rounds before did not give."""
    patience: int
    """Rounds of orders in a row that may give nothing."""
    stopped: str
    """Why no more can be asked: the budget is spent, the judge cannot be reached."""

    async def write_group(
        self,
        group: Sequence[tuple[int, list[str]]],
        rng: random.Random,
        turn: Awaitable[None],
        done: asyncio.Future[None],
    ) -> StepResult:
        """What a group gives; each entry of it is a document's position and the kinds ordered from it.

        It must await `turn` before it checks items, and set `done` when it has: groups are checked in order."""
        ...


def _wait_for_turn(turn: asyncio.Future[None] | None) -> Awaitable[None]:
    """What a group awaits before its turn; the first has nothing to wait for.

    Shielded: cancelling a group must not cancel the future that the group before it sets."""
    if turn is not None:
        return asyncio.shield(turn)
    now = asyncio.get_running_loop().create_future()
    now.set_result(None)
    return now


def _spread_kinds(wanted: Mapping[str, int]) -> list[str]:
    """The kinds spread evenly: `a b a c a b …` rather than all of one first."""
    turns = [
        ((n + 0.5) / most, at, kind)
        for at, (kind, most) in enumerate(wanted.items())
        for n in range(most)
    ]
    return [kind for _, _, kind in sorted(turns)]


def _to_rejection(row: Mapping[str, Any]) -> Rejection:
    item: Item | Mapping[str, Any] = row["item"]
    if isinstance(item, Mapping) and "meta" in item:
        item = Item.from_row(item)
    return Rejection(row["reason"], item, row["detail"])
