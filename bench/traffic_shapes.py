"""Simulated traffic of a monitored metric: hours of scores in the shapes that real logs have.

Base scores are shaped like faithfulness: 55 % exactly 1, 8 % exactly 0, the rest Beta(4, 2). A shape moves the mean of an hour
by making a share of its answers bad (half of them 0, half Beta(2, 4)) or perfect. A fault of size d makes a share of the
answers bad in the same way, so that the mean falls by d; a fault of an unbounded metric multiplies its values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator
Level = Callable[[Rng, int], Floats]
"""Random generator and number of hours → by how much each hour's mean differs; the hours start on a Monday at 0:00."""

BAD_MEAN = 1 / 6
"""Mean of a bad answer."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the hours of one metric are like."""

    name: str
    level: Level | None = None
    scores: int = 100
    """Scores an hour."""
    volume: Callable[[int], Floats] | None = None
    """Number of hours → the share of `scores` that each hour has."""
    ones: float = 0.55
    zeros: float = 0.08
    session: int = 1
    """Answers of one session."""
    copied: float = 0.6
    """Share of a session's answers that have its first answer's score."""
    tail: Callable[[Rng, tuple[int, int]], Floats] | None = None
    """Draws an unbounded metric of which less is better, instead of the scores."""

    @property
    def mean(self) -> float:
        """Mean of a base score."""
        return self.ones + (1 - self.ones - self.zeros) * 4 / 6


@dataclass(frozen=True, slots=True)
class Traffic:
    """The scores of consecutive hours; a row an hour, NaN where an hour has fewer."""

    scores: Floats

    @property
    def power_sums(self) -> Floats:
        """Count, sum, sum of squares and of cubes of each hour, (4, hours)."""
        x = np.nan_to_num(self.scores)
        return np.stack([(~np.isnan(self.scores)).sum(1), x.sum(1), (x**2).sum(1), (x**3).sum(1)])


def draw_traffic(rng: Rng, shape: Shape, hours: int, fault: Floats | None = None) -> Traffic:
    """Hours of a shape; `fault` is its size in each hour: by how much the mean falls, or an unbounded metric is multiplied less 1."""
    if shape.tail is not None:
        scores = shape.tail(rng, (hours, shape.scores))
        if shape.level is not None:
            scores = scores * np.exp(shape.level(rng, hours))[:, None]
        if fault is not None:
            scores = scores * (1 + fault)[:, None]
    else:
        scores = _draw_base(rng, shape, (hours, shape.scores))
        scores = _copy_within_sessions(rng, shape, scores)
        if shape.level is not None:
            scores = _move_means(rng, shape, scores, shape.level(rng, hours))
        if fault is not None:
            scores = _move_means(rng, shape, scores, -fault)
    if shape.volume is not None:
        kept = np.maximum(np.rint(shape.volume(hours) * shape.scores), 0)
        scores = np.where(np.arange(shape.scores) < kept[:, None], scores, np.nan)
    return Traffic(scores)


def _draw_base(rng: Rng, shape: Shape, size: tuple[int, int]) -> Floats:
    kind = rng.random(size, np.float32)
    scores = np.where(kind < shape.ones, 1.0, 0.0)
    graded = kind >= shape.ones + shape.zeros
    scores[graded] = rng.beta(4, 2, int(graded.sum()))
    return scores


def _copy_within_sessions(rng: Rng, shape: Shape, scores: Floats) -> Floats:
    if shape.session == 1:
        return scores
    first = scores[:, np.arange(scores.shape[1]) // shape.session * shape.session]
    return np.where(rng.random(scores.shape, np.float32) < shape.copied, first, scores)


def _move_means(rng: Rng, shape: Shape, scores: Floats, shift: Floats) -> Floats:
    """Answers made bad or perfect so that each hour's mean moves by `shift`."""
    share = np.where(shift < 0, -shift / (shape.mean - BAD_MEAN), shift / (1 - shape.mean))
    moved = rng.random(scores.shape, np.float32) < share[:, None]
    count = int(moved.sum())
    bad = np.where(rng.random(count) < 0.5, 0.0, rng.beta(2, 4, count))
    scores = scores.copy()
    scores[moved] = bad
    scores[moved & (shift > 0)[:, None]] = 1.0
    return scores


# ── levels ────────────────────────────────────────────────────────────────────────────────


def vary_hours(sd: float) -> Level:
    """Each hour of its own."""
    return lambda rng, hours: rng.normal(0, sd, hours)


def cycle_daily(size: float) -> Level:
    """A sine of the hour of the day."""
    return lambda rng, hours: size * np.sin(np.arange(hours) * 2 * np.pi / 24)


def lower_weekends(size: float) -> Level:
    """Saturdays and Sundays are lower."""
    return lambda rng, hours: np.where(np.arange(hours) // 24 % 7 >= 5, -size, 0.0)


def dip_weekly(size: float, first: int, last: int) -> Level:
    """Lower every Monday between two hours of the day."""
    return lambda rng, hours: -size * np.isin(np.arange(hours) % 168, np.arange(first, last))


def dip_daily(size: float, hour: int) -> Level:
    """Lower every day in one hour, as when an index is rebuilt."""
    return lambda rng, hours: -size * (np.arange(hours) % 24 == hour)


def correlate_hours(share: float, sd: float) -> Level:
    """Each hour keeps a share of the deviation of the hour before: AR(1)."""

    def draw(rng: Rng, hours: int) -> Floats:
        steps = rng.normal(0, sd * np.sqrt(1 - share**2), hours + 50)
        level = np.zeros(hours + 50)
        for at in range(1, hours + 50):
            level[at] = share * level[at - 1] + steps[at]
        return level[50:]

    return draw


def average_hours(width: int, sd: float) -> Level:
    """The mean of the last so many independent hours: MA noise."""

    def draw(rng: Rng, hours: int) -> Floats:
        steps = rng.normal(0, sd * np.sqrt(width), hours + width)
        return np.convolve(steps, np.ones(width) / width, "full")[width : width + hours]

    return draw


def vary_days(sd: float) -> Level:
    """Each day of its own."""
    return lambda rng, hours: np.repeat(rng.normal(0, sd, -(-hours // 24)), 24)[:hours]


def vary_weekdays(sd: float) -> Level:
    """Each day of the week of its own, every week alike."""
    return lambda rng, hours: np.resize(np.repeat(rng.normal(0, sd, 7), 24), hours)


def add_levels(*levels: Level) -> Level:
    """The sum of levels."""
    return lambda rng, hours: np.sum([level(rng, hours) for level in levels], axis=0)


def follow_office_hours(hours: int) -> Floats:
    """Traffic by day is five times that of the night."""
    at = np.arange(hours) % 24
    return np.where((at >= 8) & (at < 20), 1.0, 0.2)


def grow_slowly(hours: int) -> Floats:
    """Traffic grows from a third to all."""
    return np.linspace(1 / 3, 1, hours)


def draw_lognormal(sigma: float) -> Callable[[Rng, tuple[int, int]], Floats]:
    """Latency-like values."""
    return lambda rng, size: rng.lognormal(0, sigma, size)


def draw_pareto(alpha: float) -> Callable[[Rng, tuple[int, int]], Floats]:
    """Cost-like values: with alpha below 2 their variance is infinite."""
    return lambda rng, size: 1 + rng.pareto(alpha, size)


PLAIN = Shape("plain")
SHAPES = (
    PLAIN,
    Shape("hour effect 0.02", vary_hours(0.02)),
    Shape("daily cycle ±0.05", cycle_daily(0.05)),
    Shape("weekends −0.05", lower_weekends(0.05)),
    Shape("AR(1) 0.5 hours, sd 0.02", correlate_hours(0.5, 0.02)),
    Shape("AR(1) 0.5 hours, sd 0.03", correlate_hours(0.5, 0.03)),
    Shape("sessions of 5", session=5),
    Shape("90 % ones", ones=0.90, zeros=0.05),
    Shape("99 % ones", ones=0.99, zeros=0.005),
    Shape("lognormal σ 1", tail=draw_lognormal(1.0)),
    Shape("lognormal σ 1.8", tail=draw_lognormal(1.8)),
    Shape("Pareto α 1.5", tail=draw_pareto(1.5)),
    replace(PLAIN, name="8 scores an hour", scores=8),
)
"""The shapes that the bars name; the detector's constants were chosen on them."""

UNSEEN = (
    Shape("MA of 6 hours, sd 0.03", average_hours(6, 0.03)),
    Shape("days differ by 0.02", vary_days(0.02)),
    Shape("days of the week differ by 0.02", vary_weekdays(0.02)),
    Shape("bimodal: half ones, half zeros", ones=0.5, zeros=0.5),
    Shape("traffic grows threefold, hour effect 0.02", vary_hours(0.02), volume=grow_slowly),
    Shape(
        "office hours, sessions, cycle and weekends",
        add_levels(cycle_daily(0.03), lower_weekends(0.03)),
        volume=follow_office_hours,
        session=5,
    ),
    Shape("lognormal σ 1 with a daily cycle", cycle_daily(0.3), tail=draw_lognormal(1.0)),
)
"""Shapes that no constant was chosen on; the variance of days was added because of `days differ`."""

ATTACKS = (
    Shape("Mondays 8 to 10 lower by 0.15", dip_weekly(0.15, 8, 10)),
    Shape("every day at 3 lower by 0.15", dip_daily(0.15, 3)),
    Shape("AR(1) 0.8 hours, sd 0.03", correlate_hours(0.8, 0.03)),
    Shape("AR(1) 0.9 hours, sd 0.03", correlate_hours(0.9, 0.03)),
    Shape("AR(1) 0.95 hours, sd 0.03", correlate_hours(0.95, 0.03)),
    Shape("AR(1) 0.5 hours, sd 0.04", correlate_hours(0.5, 0.04)),
    Shape("sessions of 10", session=10),
)
"""Shapes with which the test was attacked from outside."""
