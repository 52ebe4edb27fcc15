"""Test for a drop in quality, evaluated after every window indefinitely: moving means of several widths against the reference.

The mean deviation of the last windows from what the reference period says is usual, in its standard deviations, is brought to
the normal distribution by its skewness (Wilson & Hilferty 1931) and compared with the limit that a moving mean of this width
passes by chance as often as the budget of false alarms allows (Siegmund & Venkatraman 1995). The main width is a stream's own:
as many windows as make a drop of a tenth of the metric's range visible. A quarter of it finds larger drops sooner, four times
it finds half the drop.

An alarm ends by the same standard: the last windows lie above those of the incident by as many standard deviations, and nearer
to the reference than to the incident. bench/alarms.py has the measurements.

Arrays are (streams, windows); a stream is one metric of one slice. A window without scores changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ragstone.monitor.drift.reference_period import (
    HOURS_PER_DAY,
    HOURS_PER_WEEK,
    Flags,
    Floats,
    ReferencePeriod,
    WindowSums,
    expect_levels,
)

TARGET_DROP = 0.1
"""The drop that the main width is chosen for, as a share of the metric's range."""
TARGET_DEVIATIONS = 4.3
"""Standard deviations by which that drop moves the mean of so many windows: about 1 above the limit."""
WIDTH_RATIOS = (0.25, 1.0, 4.0)
"""Widths of the moving means relative to the main one."""
WIDTH_SHARES = (0.1, 0.8, 0.1)
"""Each width's share of the budget of false alarms."""
MIN_MAIN_WIDTH = 5
"""The main width is at least so many windows, however precise they are."""
MAX_WIDTH = 336
"""The widest moving mean: two weeks of hours."""
DIP_SURROUNDINGS = 24
"""Hours around an hour with which it is compared to find a dip."""
MIN_DIP_DEVIATIONS, MIN_BOTH_DEVIATIONS = 1.5, 4.0
"""Standard deviations of each of two dips, and of both together, from which a third one is expected."""
MAX_ONSET_WINDOWS = 24
"""Windows after an alarm that still help to date its onset."""
PENDING_EVIDENCE = 0.05
"""Share of the alarm level from which an alarm is pending."""
WINDOWS_PER_MONTH = 720


@dataclass(frozen=True, slots=True)
class Incident:
    """A drop from its onset to its recovery, in windows."""

    onset: Onset
    alarm: int
    """The window at whose end it was found."""
    recovered: int | None
    """The window at whose end its recovery was shown; None while it lasts."""


@dataclass(frozen=True, slots=True)
class DriftTrace:
    """The state of the test after each window."""

    evidence: Floats  # all three are (streams, windows)
    """How improbable the limit is relative to what was seen: 1 is an alarm."""
    alarms: Flags
    """Windows at whose end an alarm began."""
    firing: Flags
    """Windows at whose end an alarm was active."""
    widths: Floats
    """Windows of the main width, (streams,): by then a drop of a tenth of the range is found more often than not."""
    incidents: tuple[tuple[Incident, ...], ...]
    """Of each stream, the oldest first."""
    below: Floats
    """How far each window, tested or not, lies below what is usual."""
    precision: Floats
    """Inverse variance of each tested window's mean; 0 without scores."""


@dataclass(frozen=True, slots=True)
class _Stream:
    """One stream's deviations, as cumulated sums that start with 0."""

    below: Floats
    """How far each window lies below what is usual."""
    precision: Floats
    """Inverse variance of each window's mean; 0 without scores."""
    widths: tuple[int, ...]
    limits: tuple[float, ...]
    inflation: tuple[float, ...]
    """Of the variance of a mean of each width, by the correlation of hours."""
    freedom: tuple[float, ...]
    """Degrees of freedom of that inflation."""
    level_variance: tuple[float, ...]
    """Variance of what is usual over each width: of the reference mean and of the days of the week."""
    skewness: float
    """Skewness of a mean times the root of its precision."""
    factor: float
    """Variance of a mean relative to that of independent scores."""
    target_drop: float
    """The drop that the main width is chosen for."""
    pull_sums: Floats
    precision_sums: Floats
    power_sums: Floats
    """Number, sum and sum of squares of the scores, (3, windows + 1)."""


def run_drift_test(
    reference: ReferencePeriod,
    series: WindowSums,
    after: Flags,
    budgets: Floats,
    *,
    first_hour: int = 0,
) -> DriftTrace:
    """Replay the windows for which `after` is true: when alarms started, and while they were active.

    `budgets` are the false alarms that are acceptable a month; `first_hour` is the hour of the week of the first window."""
    streams, length = series.counts.shape
    below, precision = compute_deviations(reference, series, first_hour)
    precision = np.where(after, precision, 0)
    live = series.mask(after)
    widths = choose_widths(reference)
    evidence = np.zeros((streams, length))
    alarms, firing = np.zeros((2, streams, length), bool)
    incidents: list[tuple[Incident, ...]] = [()] * streams
    for row in np.flatnonzero(reference.usable & live.seen.any(axis=1)).tolist():
        powers = np.stack([live.counts[row], live.sums[row], live.squares[row]])
        stream = _build_stream(
            reference, row, (below[row], precision[row], powers), widths[row], budgets[row]
        )
        incidents[row] = tuple(_replay_stream(stream, evidence[row]))
        for incident in incidents[row]:
            alarms[row, incident.alarm] = True
            firing[row, incident.alarm : incident.recovered] = True
            evidence[row, incident.alarm : incident.recovered] = 1
    return DriftTrace(evidence, alarms, firing, widths, tuple(incidents), below, precision)


def compute_deviations(
    reference: ReferencePeriod, series: WindowSums, first_hour: int
) -> tuple[Floats, Floats]:
    """How far each window lies below what is usual at its hour, and the inverse variance of its mean, 0 without scores.

    A dip that was there a day before and two days before, or one week and two weeks before, is usual too."""
    length = series.counts.shape[1]
    usual = expect_levels(reference.daily, reference.weekly, first_hour, length)
    below = np.where(series.seen, reference.mean[:, None] + usual - series.means, 0)
    precision = np.where(series.seen, 1 / reference.compute_spread(series.counts) ** 2, 0)
    for period in (HOURS_PER_DAY, HOURS_PER_WEEK):
        depth, error = find_recurring_dips(below, precision, period)
        below = np.where(series.seen, below - depth, 0)
        precision = precision / (1 + precision * error)
    return below, precision


def find_recurring_dips(below: Floats, precision: Floats, period: int) -> tuple[Floats, Floats]:
    """How deep each window is expected to dip because it dipped one and two periods before, and the variance of that; else 0.

    A dip is what an hour lies below the hours around it: a fault that lasts is none."""
    length = below.shape[1]
    depth, error = np.zeros_like(below), np.zeros_like(below)
    if length <= 2 * period:
        return depth, error
    half = DIP_SURROUNDINGS // 2
    padded = np.pad(below, ((0, 0), (half, half)), mode="reflect")
    around = np.median(sliding_window_view(padded, 2 * half + 1, axis=1), axis=2)
    dip = np.where(precision > 0, below - around, 0)
    z = dip * np.sqrt(precision)
    both = slice(2 * period, length)
    last, before = slice(period, length - period), slice(0, length - 2 * period)
    recurs = np.minimum(z[:, last], z[:, before]) > MIN_DIP_DEVIATIONS
    recurs &= z[:, last] + z[:, before] > MIN_BOTH_DEVIATIONS * math.sqrt(2)
    known = np.maximum(precision[:, last] + precision[:, before], 1e-300)
    mean = (precision[:, last] * dip[:, last] + precision[:, before] * dip[:, before]) / known
    depth[:, both] = np.where(recurs, mean, 0)
    error[:, both] = np.where(recurs, 1 / known, 0)
    return depth, error


def choose_widths(reference: ReferencePeriod) -> Floats:
    """The main width of each stream: windows over which a drop of a tenth of the range moves the mean by enough deviations."""
    target = TARGET_DROP * reference.span
    # with correlation, the width depends on itself: two rounds are enough
    width = np.ones(len(target))
    for _ in range(2):
        needed = TARGET_DEVIATIONS**2 * reference.inflate(width) / target**2
        width = np.clip(needed / np.maximum(reference.precision, 1e-300), MIN_MAIN_WIDTH, MAX_WIDTH)
    return np.asarray(width)


def estimate_delay(reference: ReferencePeriod, row: int, budget: float, drop: float) -> float:
    """Windows after which a drop of this size is found, two times out of three; infinity when it is too small."""
    main = choose_widths(reference)[row]
    delays = []
    for width, share in _share_budget(main).items():
        inflation = float(reference.inflate(np.float64(width))[row])
        deviation = drop * math.sqrt(float(reference.precision[row]) / inflation)
        # after k of `width` windows the mean of all has moved by k / width of the drop
        needed = (compute_limit(width, budget * share) + 0.5) * math.sqrt(width)
        if deviation * width >= needed:
            delays.append(needed / deviation)
    return max(1.0, min(delays, default=math.inf))


def compute_limit(width: float, budget: float) -> float:
    """The limit that a moving mean of `width` independent normal windows passes `budget` times a month by chance."""
    low, high = 1.5, 9.0
    for _ in range(50):
        limit = (low + high) / 2
        low, high = (limit, high) if _count_passages(limit, width) > budget else (low, limit)
    return high


def normalise(z: Floats, skewness: Floats) -> Floats:
    """A standardised mean with some skewness as the standard normal value that is as unlikely (Wilson & Hilferty).

    Only the upper tail is brought in: below the mean nothing is at stake."""
    skew = np.maximum(skewness, 1e-3)
    root = np.cbrt(np.maximum(skew * z / 2 + 1, 0))
    return np.where(z > 0, np.minimum(6 / skew * (root - 1) + skew / 6, z), z)


def allow_for_freedom(z: Floats, freedom: float) -> Floats:
    """A deviation in estimated standard deviations (Student's t) as the standard normal value that is as unlikely (Wallace 1959)."""
    scale = (8 * freedom + 1) / (8 * freedom + 3)
    return np.sign(z) * scale * np.sqrt(freedom * np.log1p(z**2 / freedom))


def _count_passages(limit: float, width: float) -> float:
    normal = NormalDist()
    if width <= 1:
        return WINDOWS_PER_MONTH * (1 - normal.cdf(limit))
    step = limit * math.sqrt(2 / width)
    # Siegmund's correction for windows instead of continuous time
    overshoot = (
        2 / step * (normal.cdf(step / 2) - 0.5)
        / (step / 2 * normal.cdf(step / 2) + normal.pdf(step / 2))
    )  # fmt: skip
    return WINDOWS_PER_MONTH * limit * normal.pdf(limit) / width * overshoot


def _build_stream(
    reference: ReferencePeriod,
    row: int,
    windows: tuple[Floats, Floats, Floats],
    main_width: float,
    budget: float,
) -> _Stream:
    below, precision, powers = windows
    shares = _share_budget(main_width)
    widths = tuple(shares)
    within = max(float(reference.within[row]), 1e-12)
    return _Stream(
        below=below,
        precision=precision,
        widths=widths,
        limits=tuple(compute_limit(width, budget * shares[width]) for width in widths),
        inflation=tuple(float(reference.inflate(np.float64(width))[row]) for width in widths),
        freedom=tuple(float(reference.count_freedom(np.float64(width))[row]) for width in widths),
        level_variance=tuple(
            float(
                reference.error[row] ** 2
                + reference.weekday_doubt[row] * min(1, HOURS_PER_DAY / width)
            )
            for width in widths
        ),
        skewness=max(-float(reference.third[row]), 0) / within**2,
        factor=float(reference.factor[row]),
        target_drop=TARGET_DROP * float(reference.span[row]),
        pull_sums=np.concatenate([[0], np.cumsum(below * precision)]),
        precision_sums=np.concatenate([[0], np.cumsum(precision)]),
        power_sums=np.pad(np.cumsum(powers, axis=1), ((0, 0), (1, 0))),
    )


def _share_budget(main_width: float) -> dict[int, float]:
    """Width → its share of the budget."""
    shares: dict[int, float] = {}
    for ratio, share in zip(WIDTH_RATIOS, WIDTH_SHARES, strict=True):
        width = max(1, min(MAX_WIDTH, round(ratio * main_width)))
        shares[width] = shares.get(width, 0) + share
    return shares


def _replay_stream(stream: _Stream, evidence: Floats) -> Iterator[Incident]:
    """The incidents of a stream; fills `evidence` between them."""
    start, length = 0, len(evidence)
    while start < length:
        found = _compute_evidence(stream, start)
        begun = np.flatnonzero(found >= 1)
        alarm = start + int(begun[0]) if len(begun) else length
        evidence[start:alarm] = found[: alarm - start]
        if alarm == length:
            return
        recovered = _find_recovery(stream, _find_onset(stream, start, alarm).window, alarm)
        # More windows of the incident date it better; the last ones before its recovery belong to that.
        last = min(alarm + MAX_ONSET_WINDOWS, recovered - stream.widths[-1])
        onset = _find_onset(stream, start, max(alarm, last))
        yield Incident(onset, alarm, None if recovered == length else recovered)
        start = recovered


def _find_onset(stream: _Stream, start: int, last: int) -> Onset:
    """The onset, searched from `start` to `last`."""
    part = slice(start, last + 1)
    onset = find_onset(
        stream.below[part],
        stream.precision[part],
        max(stream.inflation),
        usual_depth=stream.target_drop,
    )
    return replace(
        onset, window=start + onset.window, low=start + onset.low, high=start + onset.high
    )


def _compute_evidence(stream: _Stream, start: int) -> Floats:
    """The evidence at the end of each window from `start` on, without those before it."""
    stops = np.arange(start + 1, len(stream.pull_sums))
    best = np.zeros(len(stops))
    for index, width in enumerate(stream.widths):
        starts = np.maximum(stops - width, start)
        mass = stream.precision_sums[stops] - stream.precision_sums[starts]
        pull = stream.pull_sums[stops] - stream.pull_sums[starts]
        known = np.maximum(mass, 1e-300)
        variance = stream.inflation[index] / known + stream.level_variance[index]
        skewness = stream.skewness / np.sqrt(known)
        deviation = allow_for_freedom(pull / known / np.sqrt(variance), stream.freedom[index])
        z = normalise(deviation, skewness)
        gap = np.where(z > 0, np.minimum(z**2 - stream.limits[index] ** 2, 0) / 2, -np.inf)
        best = np.maximum(best, np.where(mass > 0, np.exp(gap), 0))
    return best


def _find_recovery(stream: _Stream, onset: int, alarm: int) -> int:
    """The window at whose end an incident is over; the number of windows when it is not."""
    length = len(stream.below)
    stops = np.arange(alarm + 2, length + 1)
    over = np.zeros(len(stops), bool)
    for index, width in enumerate(stream.widths):
        starts = np.maximum(stops - width, alarm + 1)
        mass = stream.precision_sums[stops] - stream.precision_sums[starts]
        pull = stream.pull_sums[stops] - stream.pull_sums[starts]
        # the incident up to these windows
        old_mass = stream.precision_sums[starts] - stream.precision_sums[onset]
        old_pull = stream.pull_sums[starts] - stream.pull_sums[onset]
        known, old_known = np.maximum(mass, 1e-300), np.maximum(old_mass, 1e-300)
        depth, recent = old_pull / old_known, pull / known
        n, first, second = stream.power_sums[:, starts] - stream.power_sums[:, [onset]]
        n = np.maximum(n, 1)
        # scores of a fault vary more than those of the reference: good answers are among the bad
        spread = stream.factor * np.maximum(second / n - (first / n) ** 2, 0)
        scale = np.maximum(spread * old_known / n, 1)
        variance = stream.inflation[index] * scale * (1 / known + 1 / old_known)
        rise = (depth - recent) / np.sqrt(variance)
        over |= (mass > 0) & (rise >= stream.limits[index]) & (recent <= depth / 2)
    ends = np.flatnonzero(over)
    return int(stops[ends[0]]) - 1 if len(ends) else length


# ── when it began ─────────────────────────────────────────────────────────────────────────

INTERVAL_SHARE = 0.9
"""Probability that the interval of an onset holds."""
NEAR_WINDOWS = 6
"""An onset is dated to the window around which, up to so many away, it most probably lies."""
KERNEL = 1 - 0.01 * np.abs(np.arange(-NEAR_WINDOWS, NEAR_WINDOWS + 1))
"""Weights of these windows: nearly equal, and highest in the middle, so that a sharp onset is dated to its window."""


@dataclass(frozen=True, slots=True)
class Onset:
    """The window in which a drop most likely began."""

    window: int
    low: int
    """First window of the interval, `high` its last."""
    high: int
    depth: float
    """How far below the reference the mean has been since."""


def find_onset(
    below: Floats, precision: Floats, inflation: float = 1.0, *, usual_depth: float
) -> Onset:
    """The onset of a drop that lasts to the last window; the arguments are those of one stream, `precision` inverse variances.

    Each window is as likely a priori, and a drop is of the order of `usual_depth` (half normal), over which the likelihood of
    "lower from here on" is integrated. `inflation` is that of the variance by correlated hours."""
    total = np.cumsum(precision[::-1])[::-1] / inflation
    pull = np.cumsum((precision * below)[::-1])[::-1] / inflation
    possible = (precision > 0) & (pull > 0)
    if not possible.any():
        last = len(below) - 1
        return Onset(last, 0, last, 0.0)
    known = total + 1 / usual_depth**2
    gain = np.where(possible, pull**2 / known / 2, -np.inf)
    # the part of the depth's distribution that is a drop
    falling = np.array([math.erfc(-z / math.sqrt(2)) for z in (pull / np.sqrt(known)).tolist()])
    posterior = np.where(possible, np.exp(gain - gain.max()) * falling / np.sqrt(known), 0)
    posterior /= posterior.sum()
    # The highest point would be a chance hour where few scores say little: the hours around it count as well.
    around = np.convolve(posterior, KERNEL)[len(KERNEL) // 2 :][: len(posterior)]
    window = int(np.argmax(np.where(possible, around, 0)))
    reached = np.cumsum(posterior)
    tail = (1 - INTERVAL_SHARE) / 2
    low = int(np.searchsorted(reached, tail))
    high = min(int(np.searchsorted(reached, 1 - tail)), len(below) - 1)
    return Onset(window, low, high, float(pull[window] / total[window]))
