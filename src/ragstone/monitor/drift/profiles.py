"""What is usual at each hour of the day and on each day of the week, learned from the reference period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.drift.window_sums import Floats, WindowSums

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
