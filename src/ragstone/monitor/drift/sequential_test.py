"""Has quality dropped? A sequential test made for looking at every window, for ever.

Each window's mean is compared with the reference period: z is how far it lies below, in standard deviations of a window's
mean. Those are σ²/n + τ²: τ² is what hours differ by beyond chance, estimated from the reference windows, so that a noisy
hour is no alarm. For a bet λ, e = exp(λz − λ²/2 − skewness) has mean 1 or less while quality holds, and
R ← (1 + R)·e (Shiryaev–Roberts) adds up the evidence for a change at any time so far. R of n windows then has mean n or less,
so that by Doob's inequality it passes A within a month of N windows with probability N/A at most: A = N / budget. Several
bets are mixed, small ones for slow drifts, large ones for drops; a large bet overshoots A by a factor of about exp(0.583 λ)
(Siegmund 1985), which is given back to it, so the budget is used rather than merely kept. See Shin, Ramdas & Rinaldo (2023)
for the theory, bench/alarms.py for what it does.

Arrays are (streams, windows); a stream is one metric of one slice. A window without scores changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

BETS = (0.5, 1.1, 1.9)
"""In standard deviations of a window's mean: the drop that each bet is best for."""
SHARES = (0.1, 0.45, 0.45)
"""What each bet gets of the budget: slow drifts have time, so that their small bet needs little."""
OVERSHOOT = 0.583
CAUTION = 0.6
"""Standard errors by which the reference mean may be too high without costing false alarms."""
SPREAD_CAUTION = 0.5
"""The same for the variance between windows."""
LEAST_SPREAD = 0.01
"""A window's mean counts as uncertain by so much of the metric's range at least: a drop far below it is no alarm at once."""
RECOVERED = math.log(1000)
"""Evidence, back against still down, at which a drop counts as over."""
DEPTH_WINDOWS = 24
"""Windows from its start over which the depth of a drop is estimated: the first few overstate it."""
PENDING = 0.05
"""Share of the alarm level from which an alarm is in sight."""
LEAST_WINDOWS = 24
"""Reference windows under which nothing can be said."""
DAY = 24
LEAST_DAYS = 3
"""Days that every hour of the day needs to be seen before its usual level is known."""
PLAIN_DAY = 1.8
"""Hours of the day that differ by less than so many times what chance explains do not differ."""
LEAST_SCORES = 20
"""Scores that a window needs for its mean to be nearly normal; smaller ones are joined with the next."""


@dataclass(frozen=True, slots=True)
class Series:
    """Sums of each window's scores, oriented so that more is better."""

    counts: Floats
    sums: Floats
    squares: Floats
    cubes: Floats

    @property
    def means(self) -> Floats:
        """The windows' means; 0 where there are no scores."""
        import numpy as np

        return np.asarray(self.sums / np.maximum(self.counts, 1))

    def part(self, start: int, stop: int) -> Series:
        """The windows from one place to another."""
        cut = slice(start, stop)
        return Series(
            self.counts[:, cut], self.sums[:, cut], self.squares[:, cut], self.cubes[:, cut]
        )

    def shifted(self, by: Floats) -> Series:
        """The scores of each window with a number subtracted."""
        n, first, second = self.counts, self.sums, self.squares
        return Series(
            n,
            first - n * by,
            second - 2 * by * first + n * by**2,
            self.cubes - 3 * by * second + 3 * by**2 * first - n * by**3,
        )

    def joined(self, least: int = LEAST_SCORES) -> Series:
        """Windows with few scores added to the next, until there are enough; the sum stands where it was completed."""
        import numpy as np

        small = (self.counts > 0) & (self.counts < least)
        if not small.any():
            return self
        stacked = np.stack([self.counts, self.sums, self.squares, self.cubes])
        for stream in np.flatnonzero(small.any(axis=1)):
            held = np.zeros(4)
            for at in np.flatnonzero(self.counts[stream] > 0):
                held += stacked[:, stream, at]
                stacked[:, stream, at] = 0
                if held[0] >= least:
                    stacked[:, stream, at] = held
                    held = np.zeros(4)
        return Series(*stacked)


@dataclass(frozen=True, slots=True)
class Reference:
    """What the reference period says of each stream."""

    windows: Floats
    scores: Floats
    mean: Floats
    error: Floats
    """Standard error of the mean, the hours' own spread included."""
    within: Floats
    """Variance of single scores."""
    between: Floats
    """Variance of window means beyond that, on the cautious side."""
    third: Floats
    """Third central moment of single scores."""
    least: Floats
    """Least standard deviation that a window's mean is taken to have."""
    profile: Floats
    """By how much the mean is usually higher at each hour of the day, (streams, 24)."""

    @property
    def usable(self) -> Flags:
        """Whether there is enough of it to compare with."""
        import numpy as np

        return np.asarray(self.windows >= LEAST_WINDOWS)


@dataclass(frozen=True, slots=True)
class Watched:
    """What the test says after each window."""

    evidence: Floats
    """The statistic as a share of the alarm level: 1 is an alarm."""
    alarms: Flags
    """Windows at whose end an alarm began."""
    firing: Flags
    """Windows at whose end an alarm was on."""


def learn(
    series: Series, *, span: float | Floats = 1.0, first_hour: int | None = None
) -> Reference:
    """Mean, spread and skewness of the reference windows; `span` is the metrics' range, NaN without bounds.

    With `first_hour`, the hour of the day of the first window, hourly windows also give what is usual at each hour."""
    import numpy as np

    profile = np.zeros((len(series.counts), DAY))
    spent, doubt = np.zeros((2, len(series.counts)))
    if first_hour is not None:
        profile, spent, doubt = _profile(series, first_hour)
        series = series.shifted(_usual(profile, first_hour, series.counts.shape[1]))
    counts, sums = series.counts, series.sums
    windows = (counts > 0).sum(axis=1).astype(float)
    scores = np.maximum(counts.sum(axis=1), 1)
    mean = sums.sum(axis=1) / scores
    second, third = series.squares.sum(axis=1) / scores, series.cubes.sum(axis=1) / scores
    inside = np.maximum(series.squares - sums**2 / np.maximum(counts, 1), 0).sum(axis=1)
    within = inside / np.maximum(scores - windows, 1)
    # Method of moments for unequal windows: the weighted spread of their means minus what chance alone gives.
    spread = (counts * (series.means - mean[:, None]) ** 2).sum(axis=1)
    freedom = np.maximum(windows - 1 - spent, 1)
    size = np.maximum((scores - (counts**2).sum(axis=1) / scores) / np.maximum(windows - 1, 1), 1)
    of_means = spread / freedom / size
    raw = of_means - within / size
    between = np.maximum(raw + SPREAD_CAUTION * of_means * np.sqrt(2 / freedom), 0) + doubt
    width = np.where(np.isnan(span), np.abs(mean), span)
    error = np.sqrt(within / scores + np.maximum(raw, 0) / np.maximum(windows, 1))
    return Reference(
        windows=windows,
        scores=counts.sum(axis=1),
        mean=mean,
        error=error,
        within=within,
        between=between,
        third=third - 3 * mean * second + 2 * mean**3,
        least=np.maximum(LEAST_SPREAD * width, 1e-12),
        profile=profile,
    )


def _profile(series: Series, first_hour: int) -> tuple[Floats, Floats, Floats]:
    """What is usual at each hour of the day, pulled towards 0 as far as chance explains it; the freedom it takes, and the
    variance that each hour's level is uncertain by."""
    import numpy as np

    streams, length = series.counts.shape
    weight, pull, seen = np.zeros((3, streams, DAY))
    hours = (first_hour + np.arange(length)) % DAY
    total = np.maximum(series.counts.sum(axis=1), 1)
    off = np.where(series.counts > 0, series.means - (series.sums.sum(axis=1) / total)[:, None], 0)
    for hour in range(DAY):
        here = hours == hour
        weight[:, hour] = series.counts[:, here].sum(axis=1)
        pull[:, hour] = (series.counts * off)[:, here].sum(axis=1)
        seen[:, hour] = (series.counts[:, here] > 0).sum(axis=1)
    means = pull / np.maximum(weight, 1)
    enough = (seen >= LEAST_DAYS).all(axis=1)
    residual = np.where(series.counts > 0, (off - means[:, hours]) ** 2, 0).sum(axis=1)
    chance = residual / np.maximum(seen.sum(axis=1) - DAY, 1) / np.maximum(seen.mean(axis=1), 1)
    # F-like: only what hours differ by beyond chance is kept (empirical Bayes)
    found = (means**2).sum(axis=1) / (DAY - 1)
    keep = np.where(enough, np.clip(1 - chance / np.maximum(found, 1e-300), 0, 1), 0)
    keep[found < PLAIN_DAY * chance] = 0
    return means * keep[:, None], keep * (DAY - 1), keep * chance


def _usual(profile: Floats, first_hour: int, length: int) -> Floats:
    import numpy as np

    return np.asarray(profile[:, (first_hour + np.arange(length)) % DAY])


def watch_series(
    reference: Reference, live: Series, levels: Floats, *, first_hour: int = 0
) -> Watched:
    """Replay the windows after the reference: alarms, and how long each lasted.

    `levels` are the alarm levels A; see `level`. An alarm ends when the evidence that the mean is back, against that it
    is where it fell, is 1000 to 1; the test then starts anew."""
    import numpy as np

    live = live.shifted(_usual(reference.profile, first_hour, live.counts.shape[1]))
    below, spread, log_bets = _standing(reference, live)
    bets = np.array(BETS)
    weights = np.array(SHARES) * np.exp(OVERSHOOT * bets)
    streams, length = live.counts.shape
    statistic = np.zeros((streams, len(bets)))
    back, weight, pull, age = np.zeros((4, streams))
    on = np.zeros(streams, bool)
    fresh = np.zeros(streams, int)  # where the test last started anew
    evidence = np.zeros((streams, length))
    alarms, firing = np.zeros((2, streams, length), bool)
    seen = (live.counts > 0) & reference.usable[:, None]
    for at in range(length):
        here = seen[:, at]
        statistic = np.where(
            (here & ~on)[:, None], (1 + statistic) * np.exp(log_bets(at)), statistic
        )
        if on.any():
            # Log likelihood ratio of "back at the reference" against "still where it fell".
            depth = pull / np.maximum(weight, 1e-300)
            step = depth * (depth / 2 - below[:, at]) / spread[:, at] ** 2
            back = np.where(on & here, np.maximum(back + step, 0), back)
            more = on & here & (age < DEPTH_WINDOWS)
            weight += np.where(more, 1 / spread[:, at] ** 2, 0)
            pull += np.where(more, below[:, at] / spread[:, at] ** 2, 0)
            age += more
            over = on & (back >= RECOVERED)
            statistic[over], on[over], fresh[over] = 0, False, at + 1
        evidence[:, at] = np.where(on, 1.0, statistic @ weights / levels)
        started = ~on & (evidence[:, at] >= 1)
        for stream in np.flatnonzero(started):
            part = slice(fresh[stream], at + 1)
            start = _change(below[stream, part], spread[stream, part], seen[stream, part])
            part = slice(fresh[stream] + start, at + 1)
            mass = np.where(seen[stream, part], 1 / spread[stream, part] ** 2, 0.0)
            weight[stream], age[stream] = mass.sum(), (mass > 0).sum()
            pull[stream] = (mass * below[stream, part]).sum()
        back[started] = 0
        on |= started
        alarms[:, at], firing[:, at] = started, on
    return Watched(np.minimum(evidence, 1.0), alarms, firing)


def level(budget: float, windows: float = 720) -> float:
    """The alarm level at which `windows` windows, by default a month of hours, bring `budget` false alarms at most."""
    return windows / budget


def change_window(
    reference: Reference,
    live: Series,
    stream: int,
    stop: int,
    *,
    start: int = 0,
    first_hour: int = 0,
) -> int:
    """The window from which the mean is most likely lower, looking back from `stop` as far as `start`."""
    live = live.shifted(_usual(reference.profile, first_hour, live.counts.shape[1]))
    below, spread, _ = _standing(reference, live)
    part = slice(start, stop)
    return start + _change(below[stream, part], spread[stream, part], live.counts[stream, part] > 0)


def _standing(reference: Reference, live: Series) -> tuple[Floats, Floats, Callable[[int], Floats]]:
    """How far each window lies below the reference, its standard deviation, and the logarithms of the bets' e-values."""
    import numpy as np

    counts = np.maximum(live.counts, 1)
    variance = reference.within[:, None] / counts + reference.between[:, None]
    spread = np.sqrt(np.maximum(variance, reference.least[:, None] ** 2))
    below = (reference.mean - CAUTION * reference.error)[:, None] - live.means
    skewness = np.maximum(-reference.third[:, None] / counts**2 / spread**3, 0)
    bets = np.array(BETS)

    def log_bets(at: int) -> Floats:
        z = below[:, at, None] / spread[:, at, None]
        return np.asarray(bets * z - bets**2 / 2 - skewness[:, at, None] * bets**3 / 6)

    return below, spread, log_bets


def _change(below: Floats, spread: Floats, seen: Flags) -> int:
    """The start that makes "lower from here on" most likely."""
    import numpy as np

    weight = np.where(seen, 1 / spread**2, 0.0)
    total = np.cumsum(weight[::-1])[::-1]
    pull = np.cumsum((weight * below)[::-1])[::-1]
    gain = np.where(pull > 0, pull**2 / np.maximum(total, 1e-300), -1.0)
    gain[weight == 0] = -1.0
    return int(np.argmax(gain))
