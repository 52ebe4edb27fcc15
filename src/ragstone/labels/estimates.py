"""Figures of a judge on labelled items, each with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.stats import Z, wilson_interval
from ragstone.types import Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MeasuredItem:
    """An item that people labelled, and what one judge says of it."""

    sample: str
    item: str
    label: float
    """What people say, 0 to 1; a half or more counts as yes."""
    prediction: float
    """Chance that people say yes, or the judge's value."""
    decision: float
    """The judge's verdict as it counts in the metric; a half or more counts as yes."""
    weight: float = 1.0
    """1 / the chance of the item to be labelled."""
    group: str = ""
    slices: tuple[tuple[str, str], ...] = ()
    """Field and value: ("language", "es")."""
    has_probability: bool = False
    finding: Finding | None = None
    value: float | None = None
    """The metric's own value of a whole answer; None for claims and chunks."""

    @property
    def is_yes(self) -> bool:
        """Whether people say yes."""
        return self.label >= 0.5

    @property
    def is_right(self) -> bool:
        """Whether the judge's verdict is that of people."""
        return (self.decision >= 0.5) == self.is_yes


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A figure with its 95 % interval; None where the items cannot tell it."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


NO_ESTIMATE = ShareEstimate()


def measure_accuracy(items: Sequence[MeasuredItem]) -> ShareEstimate:
    """Balanced accuracy with an interval from those of the two sides (Newcombe's way of joining two shares)."""
    sides = []
    for wanted in (True, False):
        side = [item for item in items if item.is_yes == wanted]
        if not side:
            return NO_ESTIMATE
        share = weigh(side, lambda item: float(item.is_right))
        effective = count_effective(side)
        sides.append((share, *wilson_interval(share * effective, effective)))
    value = (sides[0][0] + sides[1][0]) / 2
    down = math.hypot(*(share - low for share, low, _ in sides)) / 2
    up = math.hypot(*(high - share for share, _, high in sides)) / 2
    return ShareEstimate(value, value - down, value + up)


def measure_auroc(items: Sequence[MeasuredItem]) -> ShareEstimate:
    """How often an item of which people say yes gets the higher prediction; interval of DeLong and others (1988)."""
    yes = [item for item in items if item.is_yes]
    no = [item for item in items if not item.is_yes]
    # two different predictions are a verdict, not a ranking
    if len({item.prediction for item in items}) < 3 or min(len(yes), len(no)) < 2:
        return NO_ESTIMATE
    wins, losses = _share_below(yes, no), 1 - _share_below(no, yes)
    value = float(_to_shares(yes) @ wins)
    variance = sum(
        float((_to_shares(side) ** 2) @ (parts - value) ** 2) * len(side) / (len(side) - 1)
        for side, parts in ((yes, wins), (no, losses))
    )
    if not 0 < value < 1 or variance <= 0:
        effective = min(count_effective(yes), count_effective(no))
        return ShareEstimate(value, *wilson_interval(value * effective, effective))
    # on the logit scale the interval stays between 0 and 1
    logit, error = math.log(value / (1 - value)), math.sqrt(variance) / (value * (1 - value))
    limits = (1 / (1 + math.exp(-(logit + sign * Z * error))) for sign in (-1, 1))
    return ShareEstimate(value, *limits)


def _share_below(
    items: Sequence[MeasuredItem], others: Sequence[MeasuredItem]
) -> NDArray[np.float64]:
    """For each item the share of the others with a lower prediction; equal ones count half."""
    import numpy as np

    values = np.array([item.prediction for item in items])
    limits = np.array([other.prediction for other in others])
    order = np.argsort(limits, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(_to_shares(others)[order])])
    first = below[np.searchsorted(limits[order], values, "left")]
    shares: NDArray[np.float64] = (
        first + below[np.searchsorted(limits[order], values, "right")]
    ) / 2
    return shares


def measure_bias(items: Sequence[MeasuredItem]) -> ShareEstimate:
    """How much higher the judge's mean is than that of people; items of one group are not independent."""
    if len(items) < 2:
        return NO_ESTIMATE
    value = weigh(items, lambda item: item.decision - item.label)
    shares = _to_shares(items)
    deviations = [
        share * (item.decision - item.label - value)
        for share, item in zip(shares, items, strict=True)
    ]
    groups: dict[str, float] = {}
    for item, part in zip(items, deviations, strict=True):
        key = item.group or item.sample
        groups[key] = groups.get(key, 0.0) + part
    spread = sum(part**2 for part in groups.values()) * len(groups) / max(1, len(groups) - 1)
    reach = Z * math.sqrt(spread)
    return ShareEstimate(value, value - reach, value + reach)


def _to_shares(items: Sequence[MeasuredItem]) -> NDArray[np.float64]:
    import numpy as np

    weights = np.array([item.weight for item in items])
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def weigh(items: Sequence[MeasuredItem], get: Callable[[MeasuredItem], float]) -> float:
    """The mean of something over the items, each by its weight."""
    total = sum(item.weight for item in items)
    return sum(item.weight * get(item) for item in items) / total


def weigh_side(items: Sequence[MeasuredItem], is_yes: bool) -> float:
    """The weight of all items of which people say yes, or no."""
    return sum(item.weight for item in items if item.is_yes == is_yes)


def count_effective(items: Sequence[MeasuredItem]) -> float:
    """Items with equal weights that would be worth as much (Kish)."""
    weights = [item.weight for item in items]
    return sum(weights) ** 2 / sum(weight**2 for weight in weights)
