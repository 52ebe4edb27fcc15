"""Sequential test for a drop in quality, valid when it is evaluated after every window indefinitely.

Each window's mean is compared with the reference period: z is how far it lies below, in standard deviations of a window's
mean. Its variance is σ²/n + τ²: τ² is the variance between hours beyond sampling error, estimated from the reference windows,
so that a noisy hour raises no alarm. For a bet λ, e = exp(λz − λ²/2 − skewness) has mean 1 or less while quality holds, and
R ← (1 + R)·e (Shiryaev–Roberts) adds up the evidence for a change at any time so far. R of n windows then has mean n or less,
so that by Doob's inequality it passes A within a month of N windows with probability N/A at most: A = N / budget. Several
bets are mixed, small ones for slow drifts, large ones for drops; a large bet overshoots A by a factor of about exp(0.583 λ)
(Siegmund 1985); its weight is raised by that factor, so that the whole budget is used. See Shin, Ramdas & Rinaldo (2023)
for the theory, bench/alarms.py for measurements.

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
BET_SHARES = (0.1, 0.45, 0.45)
"""Each bet's share of the budget: a slow drift accumulates evidence over a long time, so the small bet needs little."""
OVERSHOOT_RATE = 0.583
"""Siegmund's constant, see above."""
MEAN_CAUTION_ERRORS = 0.6
"""Standard errors by which the reference mean may be overestimated without costing false alarms."""
SPREAD_CAUTION_ERRORS = 0.5
"""The same for the variance between windows."""
MIN_SPREAD_SHARE = 0.01
"""Minimum standard deviation of a window's mean as a share of the metric's range: smaller drops raise no immediate alarm."""
RECOVERY_LOG_ODDS = math.log(1000)
"""Log likelihood ratio of "recovered" against "still down" at which a drop is over."""
MAX_DEPTH_WINDOWS = 24
"""Windows from its start over which the depth of a drop is estimated: the first few overstate it."""
PENDING_EVIDENCE = 0.05
"""Share of the alarm level from which an alarm is pending."""
MIN_REFERENCE_WINDOWS = 24
"""With fewer reference windows the test is not run."""
HOURS_PER_DAY = 24
MIN_PROFILE_DAYS = 3
"""Days on which every hour of the day must have scores before its usual level is estimated."""
MIN_PROFILE_RATIO = 1.8
"""Variance between hours of the day, relative to chance, below which they are treated as equal."""
MIN_WINDOW_SCORES = 20
"""Scores that a window needs for its mean to be nearly normal; smaller windows are joined with the next."""


@dataclass(frozen=True, slots=True)
class WindowSums:
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

    def select(self, start: int, stop: int) -> WindowSums:
        """The windows from `start` up to `stop`."""
        part = slice(start, stop)
        return WindowSums(
            self.counts[:, part], self.sums[:, part], self.squares[:, part], self.cubes[:, part]
        )

    def subtract(self, by: Floats) -> WindowSums:
        """The sums after subtracting a number from each window's scores."""
        n, first, second = self.counts, self.sums, self.squares
        return WindowSums(
            n,
            first - n * by,
            second - 2 * by * first + n * by**2,
            self.cubes - 3 * by * second + 3 * by**2 * first - n * by**3,
        )

    def join_small(self, minimum: int = MIN_WINDOW_SCORES) -> WindowSums:
        """Windows with few scores merged into the next until there are enough; the sum stands at the last of them, and what remains at the end is dropped."""
        import numpy as np

        small = (self.counts > 0) & (self.counts < minimum)
        if not small.any():
            return self
        stacked = np.stack([self.counts, self.sums, self.squares, self.cubes])
        for stream in np.flatnonzero(small.any(axis=1)):
            pending = np.zeros(4)
            for window in np.flatnonzero(self.counts[stream] > 0):
                pending += stacked[:, stream, window]
                stacked[:, stream, window] = 0
                if pending[0] >= minimum:
                    stacked[:, stream, window] = pending
                    pending = np.zeros(4)
        return WindowSums(*stacked)


@dataclass(frozen=True, slots=True)
class ReferencePeriod:
    """Statistics of the reference period of each stream."""

    windows: Floats
    """Number of windows with scores."""
    scores: Floats
    """Number of scores."""
    mean: Floats
    error: Floats
    """Standard error of the mean, including the variance between hours."""
    within: Floats
    """Variance of single scores."""
    between: Floats
    """Variance of window means beyond sampling error, an upper estimate."""
    third: Floats
    """Third central moment of single scores."""
    least: Floats
    """Minimum standard deviation assumed for a window's mean."""
    profile: Floats
    """Usual deviation from the mean at each hour of the day, (streams, 24)."""

    @property
    def usable(self) -> Flags:
        """Whether it has enough windows to compare with."""
        import numpy as np

        return np.asarray(self.windows >= MIN_REFERENCE_WINDOWS)


@dataclass(frozen=True, slots=True)
class DriftTrace:
    """The state of the test after each window."""

    evidence: Floats  # all three are (streams, windows)
    """The statistic as a share of the alarm level: 1 is an alarm."""
    alarms: Flags
    """Windows at whose end an alarm began."""
    firing: Flags
    """Windows at whose end an alarm was active."""


def learn_reference(
    series: WindowSums, *, span: float | Floats = 1.0, first_hour: int | None = None
) -> ReferencePeriod:
    """Mean, spread and skewness of the reference windows; `span` is the metrics' range, NaN without bounds.

    With `first_hour`, the hour of the day of the first window, hourly windows also give what is usual at each hour."""
    import numpy as np

    profile = np.zeros((len(series.counts), HOURS_PER_DAY))
    # degrees of freedom that the profile takes, and the variance by which it is uncertain
    spent, doubt = np.zeros((2, len(series.counts)))
    if first_hour is not None:
        profile, spent, doubt = _estimate_hour_profile(series, first_hour)
        series = series.subtract(_expect_by_hour(profile, first_hour, series.counts.shape[1]))
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
    between = np.maximum(raw + SPREAD_CAUTION_ERRORS * of_means * np.sqrt(2 / freedom), 0) + doubt
    width = np.where(np.isnan(span), np.abs(mean), span)
    error = np.sqrt(within / scores + np.maximum(raw, 0) / np.maximum(windows, 1))
    return ReferencePeriod(
        windows=windows,
        scores=counts.sum(axis=1),
        mean=mean,
        error=error,
        within=within,
        between=between,
        third=third - 3 * mean * second + 2 * mean**3,
        least=np.maximum(MIN_SPREAD_SHARE * width, 1e-12),
        profile=profile,
    )


def _estimate_hour_profile(series: WindowSums, first_hour: int) -> tuple[Floats, Floats, Floats]:
    """The usual deviation at each hour of the day, shrunk towards 0 as far as chance explains it; the degrees of freedom it
    takes, and the variance by which each hour's level is uncertain."""
    import numpy as np

    streams, length = series.counts.shape
    weight, weighted, days = np.zeros((3, streams, HOURS_PER_DAY))
    hours = (first_hour + np.arange(length)) % HOURS_PER_DAY
    total = np.maximum(series.counts.sum(axis=1), 1)
    deviation = np.where(
        series.counts > 0, series.means - (series.sums.sum(axis=1) / total)[:, None], 0
    )
    for hour in range(HOURS_PER_DAY):
        at_hour = hours == hour
        weight[:, hour] = series.counts[:, at_hour].sum(axis=1)
        weighted[:, hour] = (series.counts * deviation)[:, at_hour].sum(axis=1)
        days[:, hour] = (series.counts[:, at_hour] > 0).sum(axis=1)
    means = weighted / np.maximum(weight, 1)
    enough = (days >= MIN_PROFILE_DAYS).all(axis=1)
    residual = np.where(series.counts > 0, (deviation - means[:, hours]) ** 2, 0).sum(axis=1)
    chance = (
        residual
        / np.maximum(days.sum(axis=1) - HOURS_PER_DAY, 1)
        / np.maximum(days.mean(axis=1), 1)
    )
    # Empirical Bayes, as in an F test: only the variance between hours beyond chance is kept.
    between_hours = (means**2).sum(axis=1) / (HOURS_PER_DAY - 1)
    shrinkage = np.where(enough, np.clip(1 - chance / np.maximum(between_hours, 1e-300), 0, 1), 0)
    shrinkage[between_hours < MIN_PROFILE_RATIO * chance] = 0
    return means * shrinkage[:, None], shrinkage * (HOURS_PER_DAY - 1), shrinkage * chance


def _expect_by_hour(profile: Floats, first_hour: int, length: int) -> Floats:
    """The usual deviation of each of `length` hourly windows, the first of which starts at `first_hour` of the day."""
    import numpy as np

    return np.asarray(profile[:, (first_hour + np.arange(length)) % HOURS_PER_DAY])


def run_drift_test(
    reference: ReferencePeriod, live: WindowSums, levels: Floats, *, first_hour: int = 0
) -> DriftTrace:
    """Replay the windows after the reference: when alarms started, and while they were active.

    `levels` are the alarm levels A; see `compute_alarm_level`. An alarm ends when the likelihood ratio of "recovered" against
    "still down" is 1000 to 1; the test then restarts."""
    import numpy as np

    live = live.subtract(_expect_by_hour(reference.profile, first_hour, live.counts.shape[1]))
    below, spread, log_bets = _standardise_windows(reference, live)
    bets = np.array(BETS)
    weights = np.array(BET_SHARES) * np.exp(OVERSHOOT_RATE * bets)
    streams, length = live.counts.shape
    statistic = np.zeros((streams, len(bets)))
    # of an active alarm: log odds that it is over, sums for the mean depth of the drop, and the
    # windows in these sums
    recovery, weight, weighted_depth, age = np.zeros((4, streams))
    is_firing = np.zeros(streams, bool)
    restarted_at = np.zeros(streams, int)  # the window at which the test last restarted
    evidence = np.zeros((streams, length))
    alarms, firing = np.zeros((2, streams, length), bool)
    seen = (live.counts > 0) & reference.usable[:, None]
    for at in range(length):
        scored = seen[:, at]
        statistic = np.where(
            # the statistic rests while an alarm is active, and starts from 0 when it ends
            (scored & ~is_firing)[:, None],
            (1 + statistic) * np.exp(log_bets(at)),
            statistic,
        )
        if is_firing.any():
            # Log likelihood ratio of "back at the reference mean" against "still at the lower mean".
            depth = weighted_depth / np.maximum(weight, 1e-300)
            step = depth * (depth / 2 - below[:, at]) / spread[:, at] ** 2
            # never below 0: a long bad time must not have to be made up for before a recovery
            # counts (CUSUM)
            recovery = np.where(is_firing & scored, np.maximum(recovery + step, 0), recovery)
            deepening = is_firing & scored & (age < MAX_DEPTH_WINDOWS)
            weight += np.where(deepening, 1 / spread[:, at] ** 2, 0)
            weighted_depth += np.where(deepening, below[:, at] / spread[:, at] ** 2, 0)
            age += deepening
            over = is_firing & (recovery >= RECOVERY_LOG_ODDS)
            statistic[over], is_firing[over], restarted_at[over] = 0, False, at + 1
        evidence[:, at] = np.where(is_firing, 1.0, statistic @ weights / levels)
        started = ~is_firing & (evidence[:, at] >= 1)
        for stream in np.flatnonzero(started):
            # the depth of the drop so far: from the likeliest start, found among the windows since the
            # last restart, up to now
            part = slice(restarted_at[stream], at + 1)
            start = _find_change(below[stream, part], spread[stream, part], seen[stream, part])
            part = slice(restarted_at[stream] + start, at + 1)
            mass = np.where(seen[stream, part], 1 / spread[stream, part] ** 2, 0.0)
            weight[stream], age[stream] = mass.sum(), (mass > 0).sum()
            weighted_depth[stream] = (mass * below[stream, part]).sum()
        recovery[started] = 0
        is_firing |= started
        alarms[:, at], firing[:, at] = started, is_firing
    return DriftTrace(np.minimum(evidence, 1.0), alarms, firing)


def compute_alarm_level(budget: float, windows: float = 720) -> float:
    """The alarm level at which `windows` windows, by default a month of hours, raise at most `budget` false alarms."""
    return windows / budget


def find_change_window(
    reference: ReferencePeriod,
    live: WindowSums,
    stream: int,
    stop: int,
    *,
    start: int = 0,
    first_hour: int = 0,
) -> int:
    """The window from which the mean is most likely lower, searched from `start` up to `stop`."""
    live = live.subtract(_expect_by_hour(reference.profile, first_hour, live.counts.shape[1]))
    below, spread, _ = _standardise_windows(reference, live)
    part = slice(start, stop)
    return start + _find_change(
        below[stream, part], spread[stream, part], live.counts[stream, part] > 0
    )


def _standardise_windows(
    reference: ReferencePeriod, live: WindowSums
) -> tuple[Floats, Floats, Callable[[int], Floats]]:
    """How far each window lies below the reference, the standard deviation of its mean, and a function from a window to the
    logarithms of the bets' e-values, (streams, bets)."""
    import numpy as np

    counts = np.maximum(live.counts, 1)
    variance = reference.within[:, None] / counts + reference.between[:, None]
    spread = np.sqrt(np.maximum(variance, reference.least[:, None] ** 2))
    below = (reference.mean - MEAN_CAUTION_ERRORS * reference.error)[:, None] - live.means
    # only a tail towards low scores can raise false alarms; a tail upwards is left as a margin
    skewness = np.maximum(-reference.third[:, None] / counts**2 / spread**3, 0)
    bets = np.array(BETS)

    def log_bets(at: int) -> Floats:
        z = below[:, at, None] / spread[:, at, None]
        return np.asarray(bets * z - bets**2 / 2 - skewness[:, at, None] * bets**3 / 6)

    return below, spread, log_bets


def _find_change(below: Floats, spread: Floats, seen: Flags) -> int:
    """Index of the window that maximises the likelihood of "lower from here on"; the arguments are those of one stream."""
    import numpy as np

    weight = np.where(seen, 1 / spread**2, 0.0)
    total = np.cumsum(weight[::-1])[::-1]
    pull = np.cumsum((weight * below)[::-1])[::-1]
    gain = np.where(pull > 0, pull**2 / np.maximum(total, 1e-300), -1.0)
    gain[weight == 0] = -1.0
    return int(np.argmax(gain))
