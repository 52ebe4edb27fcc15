"""Period-over-period report: each statistic of a day, week or month against the one before, with interval and verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragstone.analysis.corrected import MetricCorrection
from ragstone.analysis.stats import Interval, difference_interval
from ragstone.errors import DataError
from ragstone.monitor.alerts.alert import Alert, load_alerts_between
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import from_micros
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import Period, get_time_zone, iter_periods
from ragstone.monitor.windows.corrected import correct_window
from ragstone.monitor.windows.statistics import SeriesStats, Window, find_metric
from ragstone.monitor.windows.summary import summarise_between, summarise_periods, summarise_steps

PERIOD_BY_NAME: Mapping[str, Period] = {"daily": "day", "weekly": "week", "monthly": "month"}
SAME_SHARE = 0.02
"""A change surely smaller than this share of the range counts as no change."""

Verdict = Literal["better", "worse", "same", "unclear", "new", "none"]
"""`new` without values in the period before, `none` without values in this one."""


@dataclass(frozen=True, slots=True)
class SeriesChange:
    """One series in a period and in the one before."""

    name: str
    now: SeriesStats | None
    before: SeriesStats | None
    higher_is_better: bool
    bounds: tuple[float, float] | None
    difference: float | None = None
    """The mean now minus the mean before."""
    low: float | None = None
    """Lower end of the difference's 95 % interval."""
    high: float | None = None
    verdict: Verdict = "none"

    @property
    def margin(self) -> float | None:
        """The largest change that counts as none; None when the series is unbounded."""
        return None if self.bounds is None else SAME_SHARE * (self.bounds[1] - self.bounds[0])


@dataclass(frozen=True, slots=True)
class PeriodReport:
    """Everything in the report of a period except for single interactions."""

    period: str
    """A key of PERIOD_BY_NAME."""
    zone: str
    since: int
    until: int
    now: Window
    before: Window
    changes: tuple[SeriesChange, ...]
    """Metrics, then feedback and latency."""
    series: tuple[Window, ...]
    """The period in steps: hours of a day, days of a week or month."""
    alerts: tuple[Alert, ...]
    corrections: Mapping[str, MetricCorrection]
    """Metric → what labels of people say of its mean in the period."""

    def dates(self) -> tuple[str, str]:
        """The first and the last day."""
        time_zone = get_time_zone(self.zone)
        # `until` is not included and would be the next day
        times = (from_micros(at).astimezone(time_zone) for at in (self.since, self.until - 1))
        first, last = (when.date().isoformat() for when in times)
        return first, last


def find_last_complete_period(period: str, until: int, zone: str = "UTC") -> tuple[int, int]:
    """Start and end of the last day, week or month that is complete at a time."""
    kind = PERIOD_BY_NAME.get(period)
    if kind is None:
        raise DataError(f"no period {period!r}; choose {', '.join(PERIOD_BY_NAME)}")
    complete = [
        bounds
        # 70 days hold at least one whole month, wherever they begin
        for bounds in iter_periods(kind, until - 70 * DAY_MICROS, until, zone)
        if bounds[1] <= until
    ]
    return complete[-1]


def build_period_report(
    archive: Archive, period: str, until: int, *, zone: str = "UTC"
) -> PeriodReport:
    """The last period that is complete at `until`, against the one before it."""
    since, end = find_last_complete_period(period, until, zone)
    start = find_last_complete_period(period, since, zone)[0]
    now = summarise_between(archive, since, end).whole
    before = summarise_between(archive, start, since).whole
    # latency is known of every interaction, which says more than the metric of those that were judged
    measured = {"latency"} if now.latency is not None else set()
    names = [
        name for name in dict.fromkeys([*now.metrics, *before.metrics]) if name not in measured
    ]
    changes = [
        compare_series(name, now.metrics.get(name), before.metrics.get(name)) for name in names
    ]
    changes += [
        compare_series(name, current, previous, higher_is_better=higher_is_better, scale=scale)
        for name, current, previous, higher_is_better, scale in (
            ("feedback", now.feedback, before.feedback, True, (0.0, 1.0)),
            ("latency", now.latency, before.latency, False, None),
        )
        if current is not None or previous is not None
    ]
    steps = (
        summarise_steps(archive, since, end, HOUR_MICROS)
        if period == "daily"
        else summarise_periods(archive, "day", since, end, zone=zone)
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
        alerts=tuple(load_alerts_between(archive, since, end)),
        corrections=correct_window(archive, since, end),
    )


def compare_series(
    name: str,
    now: SeriesStats | None,
    before: SeriesStats | None,
    *,
    higher_is_better: bool | None = None,
    scale: tuple[float, float] | None = None,
) -> SeriesChange:
    """The difference of two means, with an interval derived from theirs.

    `higher_is_better` and `scale` (the bounds) are for series that are no metric; a metric is looked up by its name, and one
    that is not known counts as higher is better."""
    known = find_metric(name) if higher_is_better is None else None
    more_is_better = known.higher_is_better if known is not None else higher_is_better is not False
    bounds = known.bounds if known is not None else scale
    if now is None or now.mean is None:
        return SeriesChange(name, now, before, more_is_better, bounds)
    if before is None or before.mean is None:
        return SeriesChange(name, now, before, more_is_better, bounds, verdict="new")
    difference = now.mean - before.mean
    interval = difference_interval(
        (before.mean, Interval(before.low, before.high)), (now.mean, Interval(now.low, now.high))
    )
    if interval is None:
        return SeriesChange(
            name, now, before, more_is_better, bounds, difference, verdict="unclear"
        )
    low, high = interval
    verdict = _decide_verdict(low, high, more_is_better, bounds)
    return SeriesChange(name, now, before, more_is_better, bounds, difference, low, high, verdict)


def _decide_verdict(
    low: float, high: float, higher_is_better: bool, bounds: tuple[float, float] | None
) -> Verdict:
    if low > 0 or high < 0:
        return "better" if (low > 0) == higher_is_better else "worse"
    if bounds is not None and max(-low, high) <= SAME_SHARE * (bounds[1] - bounds[0]):
        return "same"
    return "unclear"
