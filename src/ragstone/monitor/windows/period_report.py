"""A day, week or month against the one before: each figure's change with its interval and a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragstone.errors import DataError
from ragstone.monitor.alerts.alert import Alert, alerts_between
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import from_micros
from ragstone.monitor.rollups.refresh import DAY
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.summary import (
    Figure,
    Period,
    Window,
    between,
    bounds,
    described_metric,
    periods,
    time_zone,
)
from ragstone.monitor.windows.summary import series as hours_of

PERIODS: Mapping[str, Period] = {"daily": "day", "weekly": "week", "monthly": "month"}
SAME = 0.02
"""A change surely smaller than this share of the scale is none."""

Verdict = Literal["better", "worse", "same", "unclear", "new", "none"]


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of a period and of the one before."""

    name: str
    now: Figure | None
    before: Figure | None
    higher_is_better: bool
    bounds: tuple[float, float] | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: Verdict = "none"

    @property
    def margin(self) -> float | None:
        """What counts as no change; None when the scale has no ends."""
        return None if self.bounds is None else SAME * (self.bounds[1] - self.bounds[0])


@dataclass(frozen=True, slots=True)
class PeriodReport:
    """Everything that a report of a period is about, but for single interactions."""

    period: str
    zone: str
    since: int
    until: int
    now: Window
    before: Window
    changes: tuple[Change, ...]
    """Metrics, then feedback and latency."""
    series: tuple[Window, ...]
    """The period in steps: hours of a day, days of a week or month."""
    alerts: tuple[Alert, ...]

    def dates(self) -> tuple[str, str]:
        """The first and the last day."""
        here = time_zone(self.zone)
        ends = (from_micros(at).astimezone(here) for at in (self.since, self.until - 1))
        first, last = (when.date().isoformat() for when in ends)
        return first, last


def last_complete(period: str, until: int, zone: str = "UTC") -> tuple[int, int]:
    """Start and end of the last day, week or month that is over at a time."""
    kind = PERIODS.get(period)
    if kind is None:
        raise DataError(f"no period {period!r}; choose {', '.join(PERIODS)}")
    found = [span for span in bounds(kind, until - 70 * DAY, until, zone) if span[1] <= until]
    return found[-1]


def period_report(archive: Archive, period: str, until: int, *, zone: str = "UTC") -> PeriodReport:
    """The last period that is over at `until`, against the one before it."""
    since, end = last_complete(period, until, zone)
    start = last_complete(period, since, zone)[0]
    now = between(archive, since, end).whole
    before = between(archive, start, since).whole
    names = list(dict.fromkeys([*now.metrics, *before.metrics]))
    changes = [change(name, now.metrics.get(name), before.metrics.get(name)) for name in names]
    changes += [
        change(name, one, other, higher_is_better=better, scale=scale)
        for name, one, other, better, scale in (
            ("feedback", now.feedback, before.feedback, True, (0.0, 1.0)),
            ("latency", now.latency, before.latency, False, None),
        )
        if one is not None or other is not None
    ]
    steps = (
        hours_of(archive, since, end, HOUR)
        if period == "daily"
        else periods(archive, "day", since, end, zone=zone)
    )
    return PeriodReport(
        period=period,
        zone=zone,
        since=since,
        until=end,
        now=now,
        before=before,
        changes=tuple(changes),
        series=tuple(steps),
        alerts=tuple(alerts_between(archive, since, end)),
    )


def change(
    name: str,
    now: Figure | None,
    before: Figure | None,
    *,
    higher_is_better: bool | None = None,
    scale: tuple[float, float] | None = None,
) -> Change:
    """The difference of two means, with the interval that follows from theirs.

    Each side of it joins the far sides of both by Pythagoras, so that it keeps their skew (MOVER; Zou & Donner 2008)."""
    known = described_metric(name) if higher_is_better is None else None
    better = known.higher_is_better if known is not None else higher_is_better is not False
    limits = known.bounds if known is not None else scale
    if now is None or now.mean is None:
        return Change(name, now, before, better, limits)
    if before is None or before.mean is None:
        return Change(name, now, before, better, limits, verdict="new")
    difference = now.mean - before.mean
    if now.low is None or now.high is None or before.low is None or before.high is None:
        return Change(name, now, before, better, limits, difference, verdict="unclear")
    low = difference - math.hypot(now.mean - now.low, before.high - before.mean)
    high = difference + math.hypot(now.high - now.mean, before.mean - before.low)
    verdict: Verdict = "unclear"
    if low > 0 or high < 0:
        verdict = "better" if (low > 0) == better else "worse"
    elif limits is not None and max(-low, high) <= SAME * (limits[1] - limits[0]):
        verdict = "same"
    return Change(name, now, before, better, limits, difference, low, high, verdict)
