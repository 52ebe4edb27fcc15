"""Which interactions are judged: a random share by hash of the id, more of some slices, and every one that went badly."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.config.monitor import BAD_FEEDBACK
from ragstone.monitor.interactions import Interaction


@dataclass(frozen=True, slots=True)
class SamplingDecision:
    """Whether an interaction is judged, and with what weight."""

    wanted: bool
    drawn: bool = False
    """Whether it was sampled at random."""
    weight: float = 0.0
    """How many interactions it represents: 1 / its probability of being judged."""


@dataclass(frozen=True, slots=True)
class SamplingPolicy:
    """Sampling rates, and conditions under which an interaction is always judged."""

    rate: float = 0.1
    """Share of all interactions that is judged."""
    rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Field → value → rate; of several that apply the largest counts."""
    feedback_below: float | None = BAD_FEEDBACK
    """An interaction with feedback below this is always judged."""
    score_below: float | None = None
    """An interaction whose best chunk has a retrieval score below this is always judged."""

    def decide(self, interaction: Interaction) -> SamplingDecision:
        """The decision on an interaction; a function of the interaction alone, so every scorer decides alike."""
        rate = self.get_rate(interaction)
        drawn = hash_to_unit(interaction.id) < rate
        if self.is_bad(interaction):
            # its chance of being judged is 1, so it stands for itself alone; `drawn` tells whether
            # the share alone would have chosen it
            return SamplingDecision(True, drawn, 1.0)
        return SamplingDecision(True, True, 1 / rate) if drawn else SamplingDecision(False)

    def get_rate(self, interaction: Interaction) -> float:
        """The sampling rate of an interaction by its slices."""
        slices = interaction.slices
        applicable = [
            shares[slices[name]]
            for name, shares in self.rates.items()
            if name in slices and slices[name] in shares
        ]
        return max(applicable, default=self.rate)

    def is_bad(self, interaction: Interaction) -> bool:
        """Whether it went so badly that it is judged in any case."""
        if (
            self.feedback_below is not None
            and interaction.feedback is not None
            and interaction.feedback < self.feedback_below
        ):
            return True
        if self.score_below is None or interaction.contexts is None:
            return False
        scores = [chunk.score for chunk in interaction.contexts if chunk.score is not None]
        return bool(scores) and max(scores) < self.score_below


def hash_to_unit(id: str) -> float:
    """A number from 0 up to 1 that depends only on the id."""
    # a hash instead of a random number: raising the rate later keeps every interaction that was
    # drawn before
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8]) / 2**64
