"""Limits of judge calls: concurrency, rate, money, number of calls, time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

from ragstone.errors import OutOfBudget
from ragstone.types import NO_USAGE, Usage

DECREASE_FACTOR = 0.8
"""Share of the allowed concurrent calls that remains after overload."""
RATE_MARGIN = 0.97
"""Share of the configured rate that is used."""


class ConcurrencyLimiter:
    """Limits concurrent calls: fewer after the server reports overload, then slowly more again (AIMD).

    Use it as an async context manager around each call."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.allowed = float(limit)
        self.busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._decreased_at = 0.0

    async def __aenter__(self) -> ConcurrencyLimiter:
        if self.busy < int(self.allowed) and not self._waiting:
            self.busy += 1
            return self
        slot = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self._release()  # the slot was assigned in the same moment; pass it on
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._release()

    def decrease(self, started: float) -> None:
        """Allow fewer calls because one that started then (monotonic clock) met overload; a burst counts once."""
        if started >= self._decreased_at:
            self.allowed = max(1.0, self.allowed * DECREASE_FACTOR)
            self._decreased_at = time.monotonic()

    def increase(self) -> None:
        """Count a successful call; one more slot is allowed after as many of them as there are slots."""
        if self.allowed < self.limit:
            self.allowed = min(float(self.limit), self.allowed + 1 / self.allowed)

    def _release(self) -> None:
        self.busy -= 1
        while self._waiting and self.busy < int(self.allowed):
            slot = self._waiting.popleft()
            if not slot.done():
                self.busy += 1
                slot.set_result(None)


class RateLimiter:
    """Spaces calls evenly, at most `rate` a second."""

    def __init__(self, rate: float) -> None:
        self._interval = 1 / rate
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Take the next free turn and return the seconds until it comes."""
        turn = max(self._next, now)
        self._next = turn + self._interval
        return turn - now


@dataclass(slots=True)
class Budget:
    """Spending limits, checked before each call; calls in flight count with their estimate."""

    max_usd: float | None = None
    max_calls: int | None = None
    seconds: float | None = None
    """Time limit of the run, from the first call on."""
    calls: int = 0
    usd: float = 0.0
    calls_per_second: float | None = None
    _reserved: float = field(default=0.0, repr=False)
    _rate_limiter: RateLimiter | None = field(default=None, repr=False)
    _deadline_at: float | None = field(default=None, repr=False)

    async def admit(self, estimate: float) -> None:
        """Reserve the estimate (USD) of a call and wait for its turn; raises OutOfBudget."""
        self.reserve(estimate)
        if self.calls_per_second is not None:
            try:
                await asyncio.sleep(self.next_turn_seconds())
            except asyncio.CancelledError:
                self.settle(estimate, NO_USAGE)
                raise

    def next_turn_seconds(self) -> float:
        """Take the next turn and return the seconds until it comes."""
        if self.calls_per_second is None:
            return 0.0
        if self._rate_limiter is None:
            # calls reach the server with jitter, and its own count must stay below the rate
            self._rate_limiter = RateLimiter(RATE_MARGIN * self.calls_per_second)
        return self._rate_limiter.wait(time.monotonic())

    def reserve(self, estimate: float) -> None:
        """Reserve the estimate (USD) of a call; raises OutOfBudget."""
        if self.seconds is not None and self.remaining_seconds() <= 0:
            raise OutOfBudget("deadline_passed", seconds=self.seconds)
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise OutOfBudget("calls_spent", calls=self.max_calls)
        if self.max_usd is not None and self.usd + self._reserved + estimate > self.max_usd:
            raise OutOfBudget("money_spent", budget=self.max_usd, spent=self.usd)
        self.calls += 1
        self._reserved += estimate

    def settle(self, estimate: float, usage: Usage) -> None:
        """Replace the estimate of a call by what it really cost."""
        self._reserved = max(0.0, self._reserved - estimate)
        self.usd += usage.usd

    def remaining_seconds(self) -> float:
        """Return the seconds until the run's deadline; the first look starts the clock."""
        if self.seconds is None:
            return float("inf")
        now = time.monotonic()
        if self._deadline_at is None:
            self._deadline_at = now + self.seconds
        return self._deadline_at - now
