"""How much and how fast: calls in flight, money, time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

from ragstone.errors import OutOfBudget
from ragstone.types import NOTHING_USED, Usage


class ConcurrencyLimiter:
    """Calls in flight: at most the limit, fewer after a server said "too many", slowly more again."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.allowed = float(limit)
        self.busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._slowed_at = 0.0

    async def __aenter__(self) -> ConcurrencyLimiter:
        if self.busy < int(self.allowed) and not self._waiting:
            self.busy += 1
            return self
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # the place was given in the same moment; pass it on
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._leave()

    def decrease(self, started: float) -> None:
        """A call that started then was turned away; calls of the same burst slow down once."""
        if started >= self._slowed_at:
            self.allowed = max(1.0, self.allowed * 0.8)
            self._slowed_at = time.monotonic()

    def increase(self) -> None:
        """One more place after as many good calls as there are places."""
        if self.allowed < self.limit:
            self.allowed = min(float(self.limit), self.allowed + 1 / self.allowed)

    def _leave(self) -> None:
        self.busy -= 1
        while self._waiting and self.busy < int(self.allowed):
            turn = self._waiting.popleft()
            if not turn.done():
                self.busy += 1
                turn.set_result(None)


class RateLimiter:
    """At most so many calls a second: each is told when its turn is, and turns do not bunch up."""

    def __init__(self, rate: float) -> None:
        self._apart = 1 / rate
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Seconds until the next free turn, which is taken by this."""
        turn = max(self._next, now)
        self._next = turn + self._apart
        return turn - now


@dataclass(slots=True)
class Budget:
    """What may be spent and how fast, checked before each call; calls under way are counted at their estimate."""

    max_usd: float | None = None
    max_calls: int | None = None
    seconds: float | None = None
    """How long the run may take, from the first call on."""
    calls: int = 0
    usd: float = 0.0
    rate: float | None = None
    """Calls a second."""
    _reserved: float = field(default=0.0, repr=False)
    _pace: RateLimiter | None = field(default=None, repr=False)
    _end: float | None = field(default=None, repr=False)

    async def admit(self, estimate: float) -> None:
        """Take a call on the bill when its turn has come, or refuse it."""
        self.reserve(estimate)
        if self.rate is not None:
            try:
                await asyncio.sleep(self.next_turn_seconds())
            except asyncio.CancelledError:
                self.settle(estimate, NOTHING_USED)
                raise

    def next_turn_seconds(self) -> float:
        """Seconds that the next call must wait so that the rate is kept."""
        if self.rate is None:
            return 0.0
        if self._pace is None:
            # calls arrive a little sooner or later than they leave; the server's own count must hold
            self._pace = RateLimiter(0.97 * self.rate)
        return self._pace.wait(time.monotonic())

    def reserve(self, estimate: float) -> None:
        """Take a call on the bill, or refuse it."""
        if self.seconds is not None and self.remaining_seconds() <= 0:
            raise OutOfBudget(f"the run's deadline of {self.seconds:g} s has passed")
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise OutOfBudget(f"the budget of {self.max_calls} calls is spent")
        if self.max_usd is not None and self.usd + self._reserved + estimate > self.max_usd:
            raise OutOfBudget(
                f"the budget of {self.max_usd:g} USD would be exceeded ({self.usd:.4f} spent)"
            )
        self.calls += 1
        self._reserved += estimate

    def settle(self, estimate: float, usage: Usage) -> None:
        """Put what a call really took in the place of its estimate."""
        self._reserved = max(0.0, self._reserved - estimate)
        self.usd += usage.usd

    def remaining_seconds(self) -> float:
        """Seconds until the run's deadline; the first look starts the clock."""
        if self.seconds is None:
            return float("inf")
        now = time.monotonic()
        if self._end is None:
            self._end = now + self.seconds
        return self._end - now
