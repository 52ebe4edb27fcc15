"""Which configurations no other beats in both quality and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.analysis.comparison import Comparison, Difference

COSTS = ("cost", "tokens", "latency")
"""What is traded for quality: the first that was measured."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configuration: what it costs and how good it is."""

    name: str
    cost: float
    quality: float
    front: bool
    """Whether no other is at least as good and as cheap, and better or cheaper."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Configurations by quality and cost."""

    quality_metric: str
    cost_metric: str
    candidates: tuple[Candidate, ...]


def find_front(
    points: Sequence[tuple[float, float]], *, higher_is_better: bool = True
) -> list[bool]:
    """For each (cost, quality) whether no other point dominates it."""
    sign = 1 if higher_is_better else -1

    def beats(point: tuple[float, float], other: tuple[float, float]) -> bool:
        not_dearer, not_worse = point[0] <= other[0], sign * point[1] >= sign * other[1]
        return not_dearer and not_worse and point != other

    return [not any(beats(other, point) for other in points) for point in points]


def build_trade_off(comparison: Comparison) -> TradeOff | None:
    """The runs of a comparison by their primary metric, else the first of quality, and what they cost; None when either is unknown.

    The comparison must have at least one run beside its baseline."""
    first = {row.metric: row for row in comparison.versus[0].differences}
    cost, quality = _choose_axes(comparison, first)
    if cost is None or quality is None:
        return None
    base = (first[cost].before, first[quality].before)
    points = [(comparison.baseline.name, *base)]
    for versus in comparison.versus:
        points.append((versus.run.name, versus[cost].after, versus[quality].after))
    known = [(label, c, q) for label, c, q in points if c is not None and q is not None]
    flags = find_front(
        [(c, q) for _, c, q in known], higher_is_better=first[quality].higher_is_better
    )
    candidates = tuple(
        Candidate(label, c, q, flag) for (label, c, q), flag in zip(known, flags, strict=True)
    )
    return TradeOff(quality_metric=quality, cost_metric=cost, candidates=candidates)


def _choose_axes(
    comparison: Comparison, first: Mapping[str, Difference]
) -> tuple[str | None, str | None]:
    """The first cost, and the primary or else the first quality metric, that every run has pairs for.

    A quality metric has bounds: without them nobody can tell how good a value is."""
    shared = [
        name
        for name in first
        if all(_is_usable(_find_difference(run.differences, name)) for run in comparison.versus)
    ]
    good = [name for name in shared if not first[name].resource and first[name].bounds]
    cost = next((name for name in COSTS if name in shared), None)
    quality = comparison.primary if comparison.primary in good else next(iter(good), None)
    return cost, quality


def _find_difference(differences: Sequence[Difference], metric: str) -> Difference | None:
    return next((difference for difference in differences if difference.metric == metric), None)


def _is_usable(difference: Difference | None) -> bool:
    return difference is not None and difference.pairs > 0
