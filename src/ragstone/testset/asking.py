"""Calls to the judges of a generation: what they cost is counted, and why it stopped is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.asks import Ask, Reply
from ragstone.engine import AskBroker
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.types import NO_USAGE, Usage

MAX_UNREACHED = 3
"""Calls in a row that did not reach the judge, after which it is not asked any more."""


class Stopped(Exception):
    """The budget is spent, or the judge cannot be reached: what needs another call cannot be finished."""


class Unusable(Exception):
    """A reply that cannot be used, with the reason."""


@dataclass(slots=True)
class Line:
    """One judge, asked one thing at a time."""

    broker: AskBroker
    name: str
    small: bool = False
    """Whether it is a small model, which decides with one token rather than in JSON."""
    usage: Usage = NO_USAGE
    stopped: str = ""
    _unreached: int = 0

    async def ask(self, question: Ask) -> Reply:
        """The reply; raises Unusable, or Stopped when no more can be asked."""
        if self.stopped:
            raise Stopped(self.stopped)
        (answered,) = await self.broker.answer([question])
        self.usage = self.usage + (answered.usage or NO_USAGE)
        if isinstance(answered, Reply):
            self._unreached = 0
            return answered
        if isinstance(answered, OutOfBudget):
            self.stopped = answered.reason
            raise Stopped(self.stopped)
        if isinstance(answered, JudgeFailed) and answered.kind == "transport":
            self._unreached += 1
            if self._unreached >= MAX_UNREACHED:
                self.stopped = f"the judge cannot be reached: {answered.reason}"
                raise Stopped(self.stopped)
        raise Unusable(answered.reason)
