"""A judge that follows a script: answers from a function, waits as told, counts what it was asked."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone import metric
from ragstone.asks import Answered, Ask, Asking, Reply, ask
from ragstone.errors import JudgeFailed
from ragstone.types import Finding, Score, Usage


class ScriptedJudge:
    """Answers Asks with `reply(ask)`: a value, or a JudgeFailed."""

    def __init__(
        self,
        reply: Callable[[Ask], Any] | None = None,
        *,
        delay: Callable[[Ask], float] = lambda ask: 0.0,
        batch: int = 1,
        concurrency: int = 8,
        local: bool = False,
        name: str = "scripted",
    ) -> None:
        self.reply = reply or level_by_hash
        self.delay = delay
        self.batch, self.concurrency, self.local, self.name = batch, concurrency, local, name
        self.asked: list[Ask] = []
        self.batches: list[int] = []
        self.in_flight = self.most_in_flight = 0

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        return {"judge": self.name}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        self.asked.extend(asks)
        self.batches.append(len(asks))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(max(self.delay(one) for one in asks))
            return [self._one(one) for one in asks]
        finally:
            self.in_flight -= 1

    def _one(self, ask: Ask) -> Answered:
        value = self.reply(ask)
        if isinstance(value, JudgeFailed):
            return value
        return Reply(value, Usage(calls=1, input_tokens=100, output_tokens=10, usd=0.001))

    async def close(self) -> None:
        """Nothing to let go of."""


def level_by_hash(ask: Ask) -> Any:
    """A reply to a `rate` Ask that depends on its text only."""
    text = "".join(ask.values["texts"].values())
    return {"level": hashlib.sha256(text.encode()).digest()[0] % 5, "reason": f"on {text!r}"}


def rated(name: str, *fields: str, rounds: int = 1) -> Any:
    """A metric that asks for a rating of the answer in one or more rounds, registered under a name."""
    from ragstone.asks import rate
    from ragstone.registry import resolve

    @metric(name=name)
    def scripted(answer: str) -> Asking[Score]:
        """The level the judge gives the answer."""
        levels = []
        for n in range(rounds):
            reply = yield from ask(rate({"answer": answer}, f"tone{n}", "How good?", list("abcde")))
            levels.append(reply["level"])
        finding = Finding(text=answer, verdict=str(levels[-1]), reason=reply["reason"])
        return Score(sum(levels) / (4 * len(levels)), findings=(finding,))

    return resolve(name)
