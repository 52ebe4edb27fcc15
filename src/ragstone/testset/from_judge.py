"""A test set that a judge writes and the same or another judge proves, order by order.

An order depends on the seed and its number alone, and what was replied is in the store: run again, an interrupted
generation pays for nothing twice and ends with the same set."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ragstone.engine import Progress
from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.testset.asking import Line, Stopped, Unusable
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import (
    KINDS,
    UNANSWERABLE,
    UNLABELLED,
    Item,
    Outcome,
    Rejection,
)
from ragstone.testset.likeness import SAME_QUESTION_SHARE
from ragstone.testset.passages import find_nearest_passages
from ragstone.testset.proving import Prover
from ragstone.testset.question_terms import compute_question_key, extract_question_stems
from ragstone.testset.sampling import language_of
from ragstone.testset.sources import Corpus
from ragstone.testset.writing import Order, Writer, choose_person

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "factual": 4,
        "how_to": 2,
        "why": 1,
        "comparison": 1,
        "bridge": 1,
        "follow_up": 1,
        "unanswerable": 1,
        "typos": 0.5,
        "false_premise": 0.5,
    }
)
"""The mix when none is asked for."""
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "reasoning": ("why", "bridge", "comparison"),
        "adversarial": ("typos", "false_premise", "hidden_instruction"),
    }
)
"""Names for several kinds, which share the weight."""
ORDERED_KINDS = tuple(kind for kind in KINDS if kind != UNLABELLED)
MAX_ROUNDS = 6
"""Rounds of orders; each orders what the rounds before did not give."""
PATIENCE = 2
"""Rounds in a row without an item of a kind, after which others take its place."""


class UnknownKind(RagstoneError):
    """A kind of question that does not exist, or a weight that is not a number from 0."""


def resolve_weights(given: Mapping[str, float] | str | None) -> dict[str, float]:
    """Kind → weight from a mapping or from `factual=3,unanswerable=1`; groups shared out, zeros left out."""
    if given is None:
        return dict(WEIGHTS)
    named = _parse_weights(given) if isinstance(given, str) else dict(given)
    weights: dict[str, float] = {}
    for name, weight in named.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise UnknownKind(f"the weight of {name!r} is {weight!r}; give a number")
        if not math.isfinite(weight) or weight < 0:
            raise UnknownKind(f"the weight of {name!r} is {weight!r}; give 0 or more")
        members = GROUPS.get(name, (name,))
        for kind in members:
            if kind not in ORDERED_KINDS:
                raise UnknownKind(
                    f"no kind {kind!r}{suggest_nearest(kind, [*ORDERED_KINDS, *GROUPS])}"
                )
            weights[kind] = weights.get(kind, 0.0) + weight / len(members)
    positive = {kind: weights[kind] for kind in KINDS if weights.get(kind)}
    if not positive:
        raise UnknownKind("no kind has a weight above 0; write factual=3,bridge=1")
    return positive


def _parse_weights(text: str) -> dict[str, float]:
    named: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, weight = part.partition("=")
        try:
            named[name.strip().replace("-", "_")] = float(weight) if equals else 1.0
        except ValueError:
            raise UnknownKind(f"{part!r}: {weight!r} is not a weight; write {name}=2") from None
    return named


def split_by_weight(count: int, weights: Mapping[str, float]) -> dict[str, int]:
    """The count split in proportion to the weights, to whole numbers by largest remainder."""
    total = sum(weights.values())
    exact = {kind: count * weight / total for kind, weight in weights.items()}
    split = {kind: math.floor(share) for kind, share in exact.items()}
    # ties by the order of KINDS, so that the same request is split alike every time
    order = sorted(exact, key=lambda kind: (split[kind] - exact[kind], KINDS.index(kind)))
    for kind in order[: count - sum(split.values())]:
        split[kind] += 1
    return split


@dataclass(slots=True)
class JudgeRoute:
    """A generation by judges."""

    corpus: Corpus
    order: Sequence[int]
    """Positions of documents, in the order in which they are asked about."""
    weights: Mapping[str, float]
    wanted: int
    writer: Line
    prover: Line
    persons: Sequence[str] = ()
    seed: int = 0
    window: int = 8
    """Orders open at once."""
    watch: Callable[[Progress], None] | None = None
    outcome: Outcome = field(default_factory=Outcome)
    _keys: set[tuple[tuple[str, ...], str]] = field(default_factory=set)
    _stems: dict[str, list[frozenset[str]]] = field(default_factory=dict)
    """Document → the words of each question about it."""

    async def run(self) -> Outcome:
        """Orders in rounds, until all is made or nothing more comes."""
        if not self.order:
            return self.outcome
        with CorpusIndex(self.corpus) as index:

            def nearest(text: str, count: int, without: frozenset[str]) -> list[tuple[str, str]]:
                return find_nearest_passages(index, text, count, without)

            writer = Writer(self.writer, nearest, self.corpus.find)
            prover = Prover(self.prover, nearest, self.corpus.find)
            await self._run_rounds(writer, prover)
        self.outcome.stopped = self.writer.stopped or self.prover.stopped
        self.outcome.visited = min(self.outcome.proposed, len(self.order))
        used = self.writer.usage
        self.outcome.usage = used if self.prover is self.writer else used + self.prover.usage
        return self.outcome

    async def _run_rounds(self, writer: Writer, prover: Prover) -> None:
        number = 0
        target = split_by_weight(self.wanted, self.weights)
        fruitless: Counter[str] = Counter()
        tried: Counter[str] = Counter()
        for _ in range(MAX_ROUNDS):
            made = Counter(item.kind for item in self.outcome.items)
            lacking = {
                kind: most - made[kind] for kind, most in target.items() if most > made[kind]
            }
            if not lacking:
                return
            orders = list(self._make_orders(_spread_kinds(lacking), number))
            number += len(orders)
            tried.update(order.kind for order in orders)
            await self._run_orders(orders, writer, prover)
            if self.writer.stopped or self.prover.stopped:
                return
            now = Counter(item.kind for item in self.outcome.items)
            for kind in lacking:
                fruitless[kind] = 0 if now[kind] > made[kind] else fruitless[kind] + 1
                if fruitless[kind] >= PATIENCE:
                    self._give_up(kind, tried[kind], now[kind], target)

    def _give_up(self, kind: str, tried: int, made: int, target: dict[str, int]) -> None:
        """Hand what a kind lacks to the others; what can be answered is not replaced by what cannot."""
        self.outcome.given_up[kind] = tried
        lacking, target[kind] = target[kind] - made, made
        rest = {
            other: weight
            for other, weight in self.weights.items()
            if other not in self.outcome.given_up and other not in UNANSWERABLE
        }
        for other, more in (split_by_weight(lacking, rest) if rest else {}).items():
            target[other] += more

    def _make_orders(self, kinds: Sequence[str], first: int) -> Iterator[Order]:
        for number, kind in enumerate(kinds, first):
            position = self.order[number % len(self.order)]
            document = self.corpus[position]
            language = language_of(document.text, document.language)
            person = choose_person(self.persons, language, random.Random(f"{self.seed}:{number}"))
            yield Order(number, kind, position, person, self.seed)

    async def _run_orders(self, orders: Sequence[Order], writer: Writer, prover: Prover) -> None:
        async for made in self._work(orders, writer, prover):
            self.outcome.proposed += 1
            if isinstance(made, Item):
                made = self._refuse_twin(made)
            if isinstance(made, Item):
                self.outcome.items.append(made)
            else:
                self.outcome.rejected.append(made)
            if self.watch is not None:
                usage = self.writer.usage + (
                    self.prover.usage
                    if self.prover is not self.writer
                    else type(self.prover.usage)()
                )
                self.watch(
                    Progress(
                        len(self.outcome.items), self.wanted, len(self.outcome.rejected), usage
                    )
                )

    async def _work(
        self, orders: Sequence[Order], writer: Writer, prover: Prover
    ) -> AsyncIterator[Item | Rejection]:
        """What the orders give, `window` of them open at once, in their order: of two twins the first counts."""
        waiting = deque(orders)
        in_flight: deque[asyncio.Task[Item | Rejection | None]] = deque()
        try:
            while waiting or in_flight:
                while waiting and len(in_flight) < self.window:
                    in_flight.append(
                        asyncio.create_task(self._make_item(waiting.popleft(), writer, prover))
                    )
                made = await in_flight.popleft()
                if made is None:  # what came behind it is asked for again by the next process
                    return
                yield made
        finally:
            for task in in_flight:
                task.cancel()
            await asyncio.gather(*in_flight, return_exceptions=True)

    async def _make_item(
        self, order: Order, writer: Writer, prover: Prover
    ) -> Item | Rejection | None:
        """The item of an order; None where it could not be finished."""
        document = self.corpus[order.position]
        item: Item | Rejection | None = None
        try:
            item = await writer.write_item(order, document)
            return item if isinstance(item, Rejection) else await prover.prove_item(item)
        except Stopped:
            return None
        except Unusable as fault:
            described = {"kind": order.kind, "document": document.id}
            return Rejection(
                "judge_failed", item if isinstance(item, Item) else described, str(fault)
            )

    def _refuse_twin(self, item: Item) -> Item | Rejection:
        """The item, unless an earlier one asks the same."""
        plain = str(item.proof.get("plain", item.question))
        key = (item.history, compute_question_key(plain, item.language))
        home = item.evidence[0].document if item.evidence else str(item.proof.get("from", ""))
        stems = frozenset(extract_question_stems(plain, item.language))
        near = self._stems.setdefault(home, [])
        is_like = any(
            len(stems & other) >= SAME_QUESTION_SHARE * len(stems | other) for other in near
        )
        if key in self._keys or (is_like and not item.history):
            return Rejection("duplicate", item, "it asks what an earlier one asks")
        self._keys.add(key)
        near.append(stems)
        return item


def _spread_kinds(wanted: Mapping[str, int]) -> list[str]:
    """The kinds spread evenly: `a b a c a b …` rather than all of one first."""
    turns = [
        ((n + 0.5) / most, at, kind)
        for at, (kind, most) in enumerate(wanted.items())
        for n in range(most)
    ]
    return [kind for _, _, kind in sorted(turns)]
