"""Which interactions are judged: a share by the hash of the id, more of some slices, and every one that went badly."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.monitor.interactions import Interaction


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether an interaction is judged, and what it then stands for."""

    wanted: bool
    drawn: bool = False
    """Whether the share alone chose it."""
    weight: float = 0.0
    """How many interactions it stands for: 1 / its chance of being judged."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Which share is judged."""

    rate: float = 0.1
    rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Field → value → share; of several that fit the largest counts."""
    feedback_below: float | None = 0.5
    score_below: float | None = None

    def choose(self, one: Interaction) -> Choice:
        """The same for the same interaction, whoever asks and when."""
        rate = self.share(one)
        drawn = place(one.id) < rate
        if self.bad(one):
            return Choice(True, drawn, 1.0)
        return Choice(True, True, 1 / rate) if drawn else Choice(False)

    def share(self, one: Interaction) -> float:
        """The chance of an interaction of these slices."""
        slices = one.slices
        fits = [
            shares[slices[name]]
            for name, shares in self.rates.items()
            if name in slices and slices[name] in shares
        ]
        return max(fits, default=self.rate)

    def bad(self, one: Interaction) -> bool:
        """Whether it went so badly that it is judged in any case."""
        if (
            self.feedback_below is not None
            and one.feedback is not None
            and one.feedback < self.feedback_below
        ):
            return True
        if self.score_below is None or one.contexts is None:
            return False
        scores = [chunk.score for chunk in one.contexts if chunk.score is not None]
        return bool(scores) and max(scores) < self.score_below


def place(id: str) -> float:
    """A number from 0 up to 1 that depends on the id alone."""
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8]) / 2**64
