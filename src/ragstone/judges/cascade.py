"""A cascade: a cheap judge first, and a strong one where the first is unsure.

Of the items that the first is sure of, a random share is put to the second as well: from those the error of the cheap
part is estimated (`analysis/cascade.py`). Each row of a reply says what the first found, what the second found, and with
which chance it was asked. When the second fails, the question fails: the first never answers in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import KINDS, Answered, Ask, Reply, digest
from ragstone.errors import OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.cascade_rows import (
    CascadeStep,
    join_answers,
    read_rows,
)
from ragstone.judges.cascade_settings import CASCADE_NAME, DEFAULT_CHECK, DEFAULT_UNSURE
from ragstone.types import NO_USAGE, Usage


class Cascade(Reopenable):
    """A cheap judge, and a strong one for what the cheap one is unsure of."""

    def __init__(
        self,
        first: Judge,
        second: Judge,
        *,
        unsure: tuple[float, float] = DEFAULT_UNSURE,
        check: float = DEFAULT_CHECK,
        seed: int = 0,
    ) -> None:
        self.first, self.second = first, second
        self.unsure, self.check, self.seed = unsure, check, seed
        self.name = f"{CASCADE_NAME}{first.name}, {second.name})"
        self.batch, self.concurrency = second.batch, second.concurrency
        self.local = first.local and second.local
        self.reopens = all(getattr(judge, "reopens", False) for judge in (first, second))

    @property
    def spent(self) -> Usage:
        """Usage of both judges, that of failed questions included."""
        return sum((getattr(j, "spent", NO_USAGE) for j in (self.first, self.second)), NO_USAGE)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the identities of both judges and what decides who is asked."""
        return {
            "cascade": [self.first.identity(ask), self.second.identity(ask)],
            "unsure": list(self.unsure),
            "check": self.check,
            "seed": self.seed,
        }

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer by the first judge, and by the second what the first is unsure of."""
        to_first = [n for n, ask in enumerate(asks) if is_for_first(ask)]
        answers: dict[int, Answered] = {}
        if to_first:
            replies = await self.first.answer([asks[n] for n in to_first])
            answers = dict(zip(to_first, replies, strict=True))
        steps = {n: self.choose_items(ask, answers.get(n)) for n, ask in enumerate(asks)}
        to_second = {n: step.ask for n, step in steps.items() if step.ask is not None}
        opinions: dict[int, Answered] = {}
        if to_second:
            replies = await self.second.answer(list(to_second.values()))
            opinions = dict(zip(to_second, replies, strict=True))
        return [
            join_answers(ask, answers.get(n), opinions.get(n), steps[n])
            for n, ask in enumerate(asks)
        ]

    async def close(self) -> None:
        """Close both judges."""
        await self.first.close()
        await self.second.close()

    def choose_items(self, ask: Ask, first: Answered | None) -> CascadeStep:
        """Return what to put to the second judge after the first one's answer; None: the first was not asked."""
        if isinstance(first, OutOfBudget) or (
            isinstance(first, Reply) and KINDS[ask.kind].by_first
        ):
            return CascadeStep(None, {}, frozenset())
        rows = read_rows(ask, first)
        if rows is None:
            return CascadeStep(ask, {}, frozenset())
        chances = {key: self._find_chance(row) for key, row in rows.items()}
        items = KINDS[ask.kind].items
        assert items is not None  # there are rows
        asked = frozenset(
            key
            for key, content in items.list_contents(ask)
            if chances[key] >= 1 or self._draw(content) < chances[key]
        )
        return CascadeStep(items.narrow(ask, asked) if asked else None, chances, asked)

    def _find_chance(self, row: Mapping[str, Any]) -> float:
        probability = row.get("probability")
        if probability is None:
            return 1.0
        low, high = self.unsure
        return 1.0 if low < probability < high else self.check

    def _draw(self, content: Any) -> float:
        """A number from 0 to 1 that depends on the item and the seed alone, not on run, order or process."""
        return int(digest([self.seed, content])[:13], 16) / 16**13


def is_for_first(ask: Ask) -> bool:
    """Whether the first judge of a cascade is asked at all: without items no chance tells whether it is sure."""
    kind = KINDS[ask.kind]
    return kind.by_first or kind.items is not None
