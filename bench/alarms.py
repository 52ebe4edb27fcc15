"""Alarms on simulated traffic: false alarms, found faults, dated onsets and whole incidents, with a plain rule beside.

Each month is two weeks of history, from which the reference is learned, and 30 days after it. A fault of 0.10 (an unbounded
metric: values × 1.5) begins in an hour drawn between the 25th and the 120th and lasts; it is found when an alarm begins at
the end of one of its first so many hours. A fault of five days stays one incident when only one is on in it, and still at
its end. The plain rule is an alarm while an hour's mean is more than three standard deviations of the history's hourly
means below their mean.

The detector's constants were chosen on the seeds CHOSEN_ON and the shapes SHAPES; figures are reported on REPORTED_ON and on
UNSEEN as well.

    python -m bench.alarms            200 months of each shape
    python -m bench.alarms 40         fewer
    python -m bench.alarms states     through a store: silence, a failing judge, other questions
    python -m bench.alarms power      hours until a drop is found, by its size and the traffic
    python -m bench.alarms ceiling    what a moving mean and a CUSUM could find at best where the bars are missed
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.traffic_shapes import ATTACKS, SHAPES, UNSEEN, Floats, Rng, Shape, draw_traffic
from ragstone.monitor.drift.ranks import RankScale, sum_ranks
from ragstone.monitor.drift.reference_period import ReferencePeriod, WindowSums, learn_reference
from ragstone.monitor.drift.sequential_test import (
    DriftTrace,
    Incident,
    estimate_delay,
    run_drift_test,
)
from ragstone.monitor.rollups import round_to_bins

HISTORY, MONTH = 336, 720
BUDGET = 0.1
FAULT, TAIL_FAULT = 0.10, 0.5
FAULT_STARTS = (24, 120)
"""Hours after the history between which a fault begins."""
SOON, LATER, DAY = 5, 12, 24
CHOSEN_ON = (5, 7, 8, 11, 12, 21, 22, 31, 55, 66, 901, 902, 4711)
REPORTED_ON = 60317
MAX_FALSE_ALARMS = 0.15
FOUND_BARS = {
    "plain": (SOON, 0.95),
    "hour effect 0.02": (SOON, 0.95),
    "daily cycle ±0.05": (SOON, 0.85),
    "weekends −0.05": (SOON, 0.85),
    "sessions of 5": (SOON, 0.85),
    "8 scores an hour": (DAY, 0.90),
    "lognormal σ 1": (LATER, 0.90),
}
"""Shape → hours, and the share of faults that must be found in them."""


@dataclass(frozen=True, slots=True)
class ReplayedMonths:
    """Months of one shape with their references."""

    reference: ReferencePeriod
    trace: DriftTrace
    plain_rule: Floats
    """1 in the hours in which the plain rule is an alarm, (months, hours)."""


def draw_windows(
    rng: Rng, shape: Shape, months: int, hours: int, faults: Floats | None = None
) -> tuple[WindowSums, Floats]:
    """Windows of the history and `hours` after it, as the detector sees them, and the plain means of the hours."""
    sums = np.empty((4, months, HISTORY + hours))
    means = np.empty((months, HISTORY + hours))
    for month in range(months):
        fault = None if faults is None else np.concatenate([np.zeros(HISTORY), faults[month]])
        traffic = draw_traffic(rng, shape, HISTORY + hours, fault)
        sums[:, month] = _rank_hours(traffic.scores) if shape.tail else traffic.power_sums
        means[month] = (-1 if shape.tail else 1) * np.nanmean(traffic.scores, axis=1)
    return WindowSums(*sums), means


def _rank_hours(scores: Floats) -> Floats:
    """Unbounded values on the rank scale of the history, of which less is better; through the bins of the store."""
    rounded = round_to_bins(scores, is_share=False)
    binned = [np.unique(row, return_counts=True) for row in rounded]
    bins = [dict(zip(keys.tolist(), counts.tolist(), strict=True)) for keys, counts in binned]
    scale = RankScale.learn(bins[:HISTORY])
    return np.stack([sum_ranks(hour, scale, -1.0, scores.shape[1]) for hour in bins], axis=1)


def replay_months(
    windows: WindowSums, means: Floats, *, first_hour: int | None = 0
) -> ReplayedMonths:
    """Learn the history and replay the rest; without `first_hour` no profile is learned."""
    reference = learn_reference(windows.select(0, HISTORY), first_hour=first_hour)
    after = np.arange(windows.counts.shape[1]) >= HISTORY
    trace = run_drift_test(reference, windows, after, np.full(len(means), BUDGET))
    history, rest = means[:, :HISTORY], means[:, HISTORY:]
    limit = np.nanmean(history, axis=1) - 3 * np.nanstd(history, axis=1)
    return ReplayedMonths(reference, _skip_history(trace), (rest < limit[:, None]).astype(float))


def _skip_history(trace: DriftTrace) -> DriftTrace:
    """The trace with its windows counted from the end of the history."""
    incidents = tuple(
        tuple(_move_incident(incident) for incident in row) for row in trace.incidents
    )
    arrays = {
        name: getattr(trace, name)[:, HISTORY:]
        for name in ("evidence", "alarms", "firing", "below", "precision")
    }
    return replace(trace, incidents=incidents, **arrays)


def _move_incident(incident: Incident) -> Incident:
    onset = incident.onset
    moved = {name: getattr(onset, name) - HISTORY for name in ("window", "low", "high")}
    recovered = None if incident.recovered is None else incident.recovered - HISTORY
    return Incident(replace(onset, **moved), incident.alarm - HISTORY, recovered)


def count_false_alarms(rng: Rng, shape: Shape, months: int) -> tuple[float, float]:
    """False alarms a month of the detector and of the plain rule."""
    tested = replay_months(*draw_windows(rng, shape, months, MONTH))
    begun = np.diff(tested.plain_rule, axis=1, prepend=0) > 0
    return float(tested.trace.alarms.sum() / months), float(begun.sum() / months)


def find_faults(
    rng: Rng, shape: Shape, months: int, size: float | None = None, ramp: int = 1
) -> dict[str, float]:
    """Shares of lasting faults that are found within some hours, and dated within six; the plain rule; the predicted delay."""
    starts = rng.integers(*FAULT_STARTS, months)
    hours = FAULT_STARTS[1] + DAY + max(ramp, 1)
    size = size or (TAIL_FAULT if shape.tail else FAULT)
    faults = np.clip((np.arange(hours) - starts[:, None] + 1) / ramp, 0, 1) * size
    tested = replay_months(*draw_windows(rng, shape, months, hours, faults))
    delays = [_find_first(tested.trace.alarms[m], start) for m, start in enumerate(starts.tolist())]
    plain = [
        _find_first(tested.plain_rule[m] > 0, start) for m, start in enumerate(starts.tolist())
    ]
    dated = [
        abs(incident.onset.window - start) <= 6
        for m, start in enumerate(starts.tolist())
        for incident in tested.trace.incidents[m][-1:]
        if incident.alarm >= start
    ]
    held = [
        incident.onset.low <= start <= incident.onset.high
        for m, start in enumerate(starts.tolist())
        for incident in tested.trace.incidents[m][-1:]
        if incident.alarm >= start
    ]
    predicted = [estimate_delay(tested.reference, m, BUDGET, FAULT) for m in range(min(months, 20))]
    return {
        **{f"in {within}": _share_within(delays, within) for within in (SOON, LATER, DAY)},
        "plain rule in 5": _share_within(plain, SOON),
        "median delay": float(np.median(delays)),
        "predicted": float(np.median(predicted)),
        "onset ±6": float(np.mean(dated)) if dated else float("nan"),
        "interval holds": float(np.mean(held)) if held else float("nan"),
    }


def count_whole_incidents(rng: Rng, shape: Shape, months: int) -> tuple[float, float]:
    """Of faults of five days, the share that is one incident, and that is over within three days after it."""
    start, stop, hours = 72, 192, 264
    faults = np.zeros((months, hours))
    faults[:, start:stop] = TAIL_FAULT if shape.tail else FAULT
    trace = replay_months(*draw_windows(rng, shape, months, hours, faults)).trace
    # a false alarm that is on when the fault begins goes on as its incident
    parts = trace.alarms[:, start:stop].sum(axis=1) + trace.firing[:, start - 1]
    whole = (parts == 1) & trace.firing[:, stop - 1]
    return float(whole.mean()), float((~trace.firing[:, -1]).mean())


def measure_shape(shape: Shape, months: int, seed: Sequence[int]) -> dict[str, float]:
    """Every figure of a shape."""
    rng = np.random.default_rng(seed)
    alarms, plain = count_false_alarms(rng, shape, months)
    found = find_faults(rng, shape, months)
    whole, over = count_whole_incidents(rng, shape, months // 2)
    return {
        "false alarms": alarms,
        "plain rule": plain,
        **found,
        "one incident": whole,
        "over in 3 days": over,
    }


CEILINGS = {
    "sessions of 5": SOON,
    "8 scores an hour": DAY,
    "AR(1) 0.5 hours, sd 0.04": SOON,
    "sessions of 10": SOON,
}
"""Shapes whose faults are hard to find in so many hours."""


def measure_ceiling(seed: int = REPORTED_ON, months: int = 2000) -> dict[str, float]:
    """Share of faults found in time by a moving mean as wide as a bar allows, and by a CUSUM made for a drop of this size:
    limits are read off the healthy traffic itself, where they are passed as often as the bar for false alarms allows;
    nothing has to be learned."""
    figures = {}
    for name, width in CEILINGS.items():
        shape = next(shape for shape in (*SHAPES, *ATTACKS) if shape.name == name)
        rng = np.random.default_rng(seed)
        usual = np.concatenate([_average_hours(rng, shape, MONTH, 0) for _ in range(months)])
        level = float(usual.mean())
        limits = {
            rule: _find_limit(watch(usual, width, level), width, MAX_FALSE_ALARMS * months)
            for rule, watch in RULES.items()
        }
        found = dict.fromkeys(RULES, 0)
        for _ in range(months):
            hours = [_average_hours(rng, shape, width * part, size) for part, size in ((3, 0), (1, FAULT))]  # fmt: skip
            for rule, watch in RULES.items():
                last = watch(np.concatenate(hours), width, level)[-width:]
                found[rule] += bool((last < limits[rule]).any())
        figures |= {f"{name}, {rule}, within {width} hours": found[rule] / months for rule in RULES}
    return figures


def _average_hours(rng: Rng, shape: Shape, hours: int, fault: float) -> Floats:
    return np.asarray(draw_traffic(rng, shape, hours, np.full(hours, fault)).scores.mean(axis=1))


def _smooth(means: Floats, width: int, level: float) -> Floats:
    """Moving means of so many hours; the level is not needed."""
    sums = np.concatenate([[0], np.cumsum(means)])
    return np.asarray((sums[width:] - sums[:-width]) / width)


def _cumulate(means: Floats, width: int, level: float) -> Floats:
    """The CUSUM for a drop of FAULT below the level, as it is after each hour; the width is not needed."""
    total, totals = 0.0, []
    for mean in means.tolist():
        total = min(0.0, total + mean - level + FAULT / 2)
        totals.append(total)
    return np.asarray(totals)


RULES = {"moving mean": _smooth, "CUSUM": _cumulate}


def _find_limit(moving: Floats, width: int, allowed: float) -> float:
    """The highest limit that is passed so many times; passages nearer to each other than a width count once."""
    low, high = float(moving.min()), float(np.median(moving))
    for _ in range(40):
        limit = (low + high) / 2
        hits = np.flatnonzero(moving < limit)
        passages = 1 + int((np.diff(hits) > width).sum()) if len(hits) else 0
        low, high = (low, limit) if passages > allowed else (limit, high)
    return low


def measure_power(seed: int = REPORTED_ON, months: int = 20) -> dict[str, dict[str, float | None]]:
    """Traffic → size of a drop → hours after which it is found, two times out of three, as `check` says; None for never."""
    figures: dict[str, dict[str, float | None]] = {}
    for number, (scores, session) in enumerate(POWER_TRAFFIC):
        shape = Shape(
            f"{scores} scores an hour, sessions of {session}", None, scores, session=session
        )
        windows, _ = draw_windows(np.random.default_rng((seed, number)), shape, months, 1)
        reference = learn_reference(windows.select(0, HISTORY), first_hour=0)
        figures[shape.name] = {}
        for drop in POWER_DROPS:
            delays = [estimate_delay(reference, m, BUDGET, drop) for m in range(months)]
            delay = float(np.median(delays))
            figures[shape.name][f"{drop}"] = round(delay, 1) if np.isfinite(delay) else None
    return figures


POWER_TRAFFIC = ((2, 1), (8, 1), (30, 1), (100, 1), (100, 5), (100, 10), (1000, 10))
POWER_DROPS = (0.02, 0.05, 0.1, 0.2)


def list_missed(figures: dict[str, dict[str, float]]) -> list[str]:
    """Bars that the figures of SHAPES miss."""
    missed = []
    for name, row in figures.items():
        if row["false alarms"] > MAX_FALSE_ALARMS:
            missed.append(f"{name}: {row['false alarms']:.3f} false alarms a month")
        if name in FOUND_BARS:
            within, least = FOUND_BARS[name]
            if row[f"in {within}"] < least:
                missed.append(f"{name}: {row[f'in {within}']:.0%} found in {within} hours")
            if row["onset ±6"] < 0.8:
                missed.append(f"{name}: onset dated in {row['onset ±6']:.0%}")
            if row["one incident"] < 0.95:
                missed.append(f"{name}: {row['one incident']:.0%} stay one incident")
    return missed


def main(months: int = 200, seed: int = REPORTED_ON) -> dict[str, Any]:
    """Every figure, as plain JSON; a row is printed as it comes."""
    started = time.process_time()
    figures: dict[str, dict[str, float]] = {}
    for number, shape in enumerate((*SHAPES, *UNSEEN, *ATTACKS)):
        figures[shape.name] = measure_shape(shape, months, (seed, number))
        print(_format_row(shape.name, figures[shape.name]), file=sys.stderr, flush=True)
    return {
        "months": months,
        "seed": seed,
        "budget": BUDGET,
        "shapes": figures,
        "missed": list_missed(figures),
        "cpu seconds": round(time.process_time() - started, 1),
    }


def _format_row(name: str, row: dict[str, float]) -> str:
    return f"{name:44s}" + "  ".join(f"{key} {value:.3g}" for key, value in row.items())


def _find_first(flags: Any, start: int) -> float:
    """Hours from `start` to the first flag, counted from 1; infinity when there is none."""
    hits = np.flatnonzero(flags[start:])
    return float(hits[0]) + 1 if len(hits) else float("inf")


def _share_within(delays: Sequence[float], within: int) -> float:
    return float(np.mean([delay <= within for delay in delays]))


if __name__ == "__main__":
    word = sys.argv[1] if len(sys.argv) > 1 else "200"
    if word == "states":
        from bench.alarm_states import states

        shown: dict[str, Any] = states(200, REPORTED_ON)
    elif word == "power":
        shown = dict(measure_power())
    elif word == "ceiling":
        shown = measure_ceiling()
    else:
        shown = main(int(word))
    json.dump(shown, sys.stdout, indent=2, ensure_ascii=False)
