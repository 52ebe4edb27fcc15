"""What a stream is like while it is well: mean, usual hours and days, and how much hours vary and hang together.

The variance of a window's mean is that of its scores plus that between hours; scores of one session or user count less than
as many independent ones. Deviations of neighbouring hours may be correlated: a share of their variance is then carried from
hour to hour (AR(1) plus noise) or is common to the hours of a day, fitted by likelihood on the reference windows. The fields of
`ReferencePeriod` are stored: a change of them raises `FORMAT` in monitor/drift/references.py."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SPREAD_CAUTION_ERRORS = 0.25
"""Standard errors by which the variance of window means may be underestimated without costing false alarms."""
MIN_CARRY_GAIN = 1.0
"""Gain of the log likelihood from which hours count as correlated."""
CARRY_CAUTION = 1.0
"""Of the models whose log likelihood is this close to the best, the most correlated is used."""
MIN_SPREAD_SHARE = 0.01
"""Minimum standard deviation of a window's mean as a share of the metric's range: smaller drops raise no immediate alarm."""
MIN_REFERENCE_WINDOWS = 24
"""With fewer reference windows the test is not run."""
MIN_REFERENCE_SCORES = 100
"""The same for its scores."""

CARRY_MODELS = tuple(
    [(0.0, 0.0)]
    + [(rate, share) for rate in (0.5, 0.8, 0.95) for share in (0.05, 0.1, 0.2, 0.35, 0.5, 0.75)]
)
"""Correlation models: what an hour keeps of the deviation before, and the share of the variance that is kept so."""
DAY_SHARES = (0.01, 0.02, 0.035, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75)
"""Further models: the share of the variance that all hours of a day have in common."""


@dataclass(frozen=True, slots=True)
class ReferencePeriod:
    """Statistics of the reference period of each stream."""

    windows: Floats
    """Number of windows with scores."""
    scores: Floats
    """Number of scores."""
    mean: Floats
    error: Floats
    """Standard error of the mean, with the correlation of hours."""
    precision: Floats
    """Mean inverse variance of an hour's mean, hours without scores included."""
    within: Floats
    """Variance of single scores."""
    factor: Floats
    """Variance of a window's mean relative to that of independent scores."""
    between: Floats
    """The same excess as an added variance; the larger of the two is used."""
    hour_doubt: Floats
    """Variance by which the usual level of an hour of the day is uncertain."""
    third: Floats
    """Third central moment of single scores."""
    span: Floats
    """Width of the metric's range."""
    least: Floats
    """Minimum standard deviation assumed for a window's mean."""
    carry_rate: Floats
    """What an hour keeps of the deviation of the hour before."""
    carry_share: Floats
    """Share of the variance of window means that is carried so."""
    day_share: Floats
    """Share of it that the hours of a day have in common; one of the two shares is 0."""
    weekday_doubt: Floats
    """Variance by which the usual level of a day of the week is uncertain: it is shared by the hours of a day."""
    daily: Floats
    """Usual deviation from the mean at each hour of the day, (streams, 24)."""
    weekly: Floats
    """Usual deviation on each day of the week, (streams, 7)."""

    @property
    def usable(self) -> Flags:
        """Whether it has enough windows to compare with."""
        return np.asarray(
            (self.windows >= MIN_REFERENCE_WINDOWS) & (self.scores >= MIN_REFERENCE_SCORES)
        )

    def inflate(self, width: Floats | np.float64) -> Floats:
        """Variance of the mean of so many windows, relative to that of independent ones."""
        rate = np.minimum(self.carry_rate, 1 - 1e-9)
        # twice the sum of (1 − k / width) · rate^k over the distances k between two windows
        pairs = rate / (1 - rate) * (1 - (1 - rate**width) / np.maximum(width * (1 - rate), 1e-9))
        # most of the pairs when all windows are of one day
        mates = np.minimum(width, HOURS_PER_DAY) - 1
        return np.asarray(1 + 2 * self.carry_share * pairs + self.day_share * mates)

    def count_freedom(self, width: Floats | np.float64) -> Floats:
        """Degrees of freedom of the variance of a mean of so many windows, as far as it is that of days or is carried
        (Satterthwaite): long memory is learned from few independent stretches."""
        carried = self.windows * (1 - self.carry_rate) / (1 + self.carry_rate)
        units = np.where(self.day_share > 0, self.windows / HOURS_PER_DAY - 1, carried)
        share = np.maximum(1 - 1 / self.inflate(width), 1e-6)
        return np.asarray(np.maximum(units, 1) / share**2)

    def compute_spread(self, counts: Floats) -> Floats:
        """Standard deviation of the mean of windows with so many scores."""
        single = self.within[:, None] / np.where(counts > 0, counts, 1)
        # Sessions multiply the variance, hour effects add to it. One reference cannot tell which it was,
        # and where traffic changes the difference matters: the larger counts.
        variance = np.maximum(self.factor[:, None] * single, single + self.between[:, None])
        return np.sqrt(np.maximum(variance + self.hour_doubt[:, None], self.least[:, None] ** 2))


def learn_reference(
    series: WindowSums,
    *,
    span: float | Floats = 1.0,
    first_hour: int | None = None,
    session_factor: float | Floats = 1.0,
) -> ReferencePeriod:
    """The statistics of reference windows; `span` is the width of the metrics' range.

    `first_hour` is the hour of the week of the first window; without it no profile is learned. `session_factor` is how much
    the scores of one session or user hang together, as a factor of the variance of a mean."""
    streams, length = series.counts.shape
    zeros = np.zeros(streams)
    profile = Profile(
        np.zeros((streams, HOURS_PER_DAY)), np.zeros((streams, DAYS_PER_WEEK)), zeros, zeros, zeros
    )
    if first_hour is not None:
        profile = learn_profile(series, first_hour)
        series = series.subtract(expect_levels(profile.daily, profile.weekly, first_hour, length))
    counts, sums = series.counts, series.sums
    windows = series.seen.sum(axis=1).astype(float)
    scores = np.maximum(counts.sum(axis=1), 1)
    mean = sums.sum(axis=1) / scores
    second, third = series.squares.sum(axis=1) / scores, series.cubes.sum(axis=1) / scores
    # around the mean of all, not of each window: an hour may have a single score
    within = np.maximum(second - mean**2, 0) * scores / np.maximum(scores - 1, 1)
    # Method of moments for unequal windows: the weighted spread of their means, against what chance alone gives.
    spread = (counts * (series.means - mean[:, None]) ** 2).sum(axis=1)
    freedom = np.maximum(windows - 1 - profile.freedom, 1)
    size = np.maximum((scores - (counts**2).sum(axis=1) / scores) / np.maximum(windows - 1, 1), 1)
    raw = spread / freedom / size
    of_means = raw * (1 + SPREAD_CAUTION_ERRORS * np.sqrt(2 / freedom))
    single = within / size
    factor = np.where(single > 0, of_means / np.maximum(single, 1e-300), 1)
    width = np.broadcast_to(np.asarray(span, float), mean.shape)
    reference = ReferencePeriod(
        windows=windows,
        scores=counts.sum(axis=1),
        mean=mean,
        error=zeros,
        precision=zeros,
        within=within,
        factor=np.maximum(np.maximum(factor, session_factor), 1),
        between=np.maximum(of_means - single, 0),
        hour_doubt=profile.hour_doubt,
        weekday_doubt=profile.weekday_doubt,
        third=third - 3 * mean * second + 2 * mean**3,
        span=width,
        least=np.maximum(MIN_SPREAD_SHARE * width, 1e-12),
        carry_rate=zeros,
        carry_share=zeros,
        day_share=zeros,
        daily=profile.daily,
        weekly=profile.weekly,
    )
    excess = 1 - session_factor * single / np.maximum(raw, 1e-300)
    return _add_correlation(reference, series, excess, (first_hour or 0) % HOURS_PER_DAY)


def _add_correlation(
    reference: ReferencePeriod, series: WindowSums, excess: Floats, first_hour: int
) -> ReferencePeriod:
    """The reference with the correlation of its hours, and the error of its mean with it."""
    spread = reference.compute_spread(series.counts)
    z = (series.means - reference.mean[:, None]) / spread
    carried, days = np.array(CARRY_MODELS), np.array(DAY_SHARES)
    rates, shares = np.pad(carried, ((0, len(days)), (0, 0))).T
    day_shares = np.pad(days, (len(carried), 0))
    fit = np.hstack(
        [
            _compute_likelihoods(z, series.seen, *carried.T),
            _compute_day_likelihoods(z, series.seen, days, first_hour),
        ]
    )
    # Only what hours vary beyond their scores can be carried on.
    fit = np.where(shares <= np.maximum(excess, 0)[:, None], fit, -np.inf)
    # the first model is "independent hours"
    is_correlated = fit.max(axis=1) >= fit[:, 0] + MIN_CARRY_GAIN
    close = fit >= fit.max(axis=1, keepdims=True) - CARRY_CAUTION
    long_run = 1 + 2 * shares * rates / (1 - rates) + day_shares * (HOURS_PER_DAY - 1)
    chosen = np.where(is_correlated, np.argmax(np.where(close, long_run, 0), axis=1), 0)
    learned = replace(
        reference,
        carry_rate=rates[chosen],
        carry_share=shares[chosen],
        day_share=day_shares[chosen],
    )
    windows = np.maximum(reference.windows, 1)
    weight = np.where(series.seen, 1 / spread**2, 0).sum(axis=1)
    error = np.sqrt(learned.inflate(windows) / np.maximum(weight, 1e-300))
    return replace(learned, error=error, precision=weight / _count_hours(series.seen))


def _count_hours(seen: Flags) -> Floats:
    """Hours from the first with scores to the last."""
    length = seen.shape[1]
    first = np.argmax(seen, axis=1)
    last = length - 1 - np.argmax(seen[:, ::-1], axis=1)
    return np.asarray(np.maximum(last - first + 1, 1), float)


def _compute_likelihoods(z: Floats, seen: Flags, rates: Floats, shares: Floats) -> Floats:
    """Log likelihood of standardised windows under each model of correlation, (streams, models); a Kalman filter."""
    level = np.zeros((len(z), len(rates)))
    doubt = np.broadcast_to(shares, level.shape).copy()
    total = np.zeros_like(level)
    for at in range(z.shape[1]):
        known = seen[:, at, None]
        variance = doubt + 1 - shares
        error = z[:, at, None] - level
        total -= np.where(known, (error**2 / variance + np.log(variance)) / 2, 0)
        gain = np.where(known, doubt / variance, 0)
        level = rates * (level + gain * error)
        doubt = rates**2 * doubt * (1 - gain) + shares * (1 - rates**2)
    return total


def _compute_day_likelihoods(z: Floats, seen: Flags, shares: Floats, first_hour: int) -> Floats:
    """The same when all hours of a day have a share of their variance in common; `first_hour` is the first one's of the day."""
    length = z.shape[1]
    day = (first_hour + np.arange(length)) // HOURS_PER_DAY
    member = np.zeros((length, int(day[-1]) + 1 if length else 0))
    member[np.arange(length), day] = 1
    hours = (seen @ member)[:, :, None]
    sums = (np.where(seen, z, 0) @ member)[:, :, None]
    squares = (np.where(seen, z**2, 0) @ member)[:, :, None]
    common = 1 + (hours - 1) * shares
    quadratic = (squares - shares * sums**2 / common) / (1 - shares)
    volume = (hours - 1) * np.log1p(-shares) + np.log(common)
    return np.asarray(-np.where(hours > 0, quadratic + volume, 0).sum(axis=1) / 2)


# ── hours as sums ─────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class WindowSums:
    """Sums of each window's scores, oriented so that more is better; arrays of (streams, windows)."""

    counts: Floats
    sums: Floats
    squares: Floats
    cubes: Floats

    @property
    def means(self) -> Floats:
        """The windows' means; 0 where there are no scores."""
        # an effective number of weighted scores may be below 1
        return np.asarray(self.sums / np.where(self.counts > 0, self.counts, 1))

    @property
    def seen(self) -> Flags:
        """Windows with scores."""
        return np.asarray(self.counts > 0)

    def select(self, start: int, stop: int) -> WindowSums:
        """The windows from `start` up to `stop`."""
        part = slice(start, stop)
        return WindowSums(
            self.counts[:, part], self.sums[:, part], self.squares[:, part], self.cubes[:, part]
        )

    def mask(self, inside: Flags) -> WindowSums:
        """The sums with zeros where `inside` is false."""
        return WindowSums(
            self.counts * inside, self.sums * inside, self.squares * inside, self.cubes * inside
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


# ── usual hours and days ──────────────────────────────────────────────────────────────────

HOURS_PER_DAY, DAYS_PER_WEEK = 24, 7
HOURS_PER_WEEK = HOURS_PER_DAY * DAYS_PER_WEEK
MIN_DAYS = 3
"""Days on which every hour of the day must have scores before its level is estimated."""
MIN_WEEKS = 2
"""The same for the days of the week."""
MIN_DAILY_RATIO, MIN_WEEKLY_RATIO = 1.8, 4.0
"""Variance between the hours or days, relative to that within them, below which they count as equal: the 98 % points
of F with 24 hours of 14 days and with 7 days of two weeks."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Usual deviations from the mean."""

    daily: Floats
    """At each hour of the day, (streams, 24)."""
    weekly: Floats
    """On each day of the week from Monday, (streams, 7)."""
    freedom: Floats
    """Degrees of freedom that the profile takes from the reference windows."""
    hour_doubt: Floats
    """Variance by which the level of an hour of the day is uncertain."""
    weekday_doubt: Floats
    """The same for a day of the week."""


def expect_levels(daily: Floats, weekly: Floats, first_hour: int, length: int) -> Floats:
    """The usual deviation of each of `length` hourly windows; `first_hour` is the first one's hour of the week."""
    hours = first_hour + np.arange(length)
    return np.asarray(
        daily[:, hours % HOURS_PER_DAY] + weekly[:, hours // HOURS_PER_DAY % DAYS_PER_WEEK]
    )


def learn_profile(series: WindowSums, first_hour: int) -> Profile:
    """The profile of reference windows; zeros where chance explains the differences or there is too little data."""
    length = series.counts.shape[1]
    hours = first_hour + np.arange(length)
    daily = _estimate_effects(
        series.counts, series.sums, hours % HOURS_PER_DAY, HOURS_PER_DAY, MIN_DAYS, MIN_DAILY_RATIO
    )
    rest = series.sums - series.counts * daily.levels[:, hours % HOURS_PER_DAY]
    # whole days are the units here: hours of a day are not independent
    days = hours // HOURS_PER_DAY - first_hour // HOURS_PER_DAY
    by_day = np.zeros((length, int(days[-1]) + 1 if length else 0))
    by_day[np.arange(length), days] = 1
    weekdays = (first_hour // HOURS_PER_DAY + np.arange(by_day.shape[1])) % DAYS_PER_WEEK
    weekly = _estimate_effects(
        series.counts @ by_day, rest @ by_day, weekdays, DAYS_PER_WEEK, MIN_WEEKS, MIN_WEEKLY_RATIO
    )
    return Profile(
        daily.levels, weekly.levels, daily.freedom + weekly.freedom, daily.doubt, weekly.doubt
    )


@dataclass(frozen=True, slots=True)
class _Effects:
    levels: Floats
    freedom: Floats
    doubt: Floats


def _estimate_effects(
    counts: Floats,
    sums: Floats,
    group: NDArray[np.int64],
    groups: int,
    min_units: int,
    min_ratio: float,
) -> _Effects:
    """One-way analysis of variance by stream: levels of the groups, shrunk by empirical Bayes as far as chance explains them."""
    member = np.zeros((len(group), groups))
    member[np.arange(len(group)), group] = 1
    units = (counts > 0) @ member
    weight = counts @ member
    mean = sums.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    deviation = np.where(counts > 0, sums / np.where(counts > 0, counts, 1) - mean[:, None], 0)
    levels = (counts * deviation) @ member / np.maximum(weight, 1e-300)
    residual = (counts * (deviation - levels[:, group]) ** 2).sum(axis=1)
    within = residual / np.maximum(units.sum(axis=1) - groups, 1)
    between = (weight * levels**2).sum(axis=1) / (groups - 1)
    ratio = between / np.maximum(within, 1e-300)
    trusted = (units >= min_units).all(axis=1) & (ratio >= min_ratio)
    shrinkage = np.where(trusted, 1 - 1 / np.maximum(ratio, 1), 0)
    doubt = within * groups / np.maximum(weight.sum(axis=1), 1)
    return _Effects(
        np.asarray(levels * shrinkage[:, None]), shrinkage * (groups - 1), shrinkage * doubt
    )
