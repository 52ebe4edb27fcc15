"""A CUSUM in the place of the drop test: the same history, profile and noise, one sum with a limit by Siegmund's formula.

The sum of what each hour lies below the usual, in its standard deviations, less a third of a drop of 0.10; its variance is that
of twice the main width, since correlated hours cross in long runs, and half the budget keeps healthy months as quiet as the
drop test does. Recovery is not measured: an alarm lasts until the same sum of the hours above the half drop passes the limit.

    python -m bench.cusum 200
"""

from __future__ import annotations

import math
import sys

import numpy as np

from bench.alarms import (
    BUDGET,
    DAY,
    FAULT,
    FAULT_STARTS,
    HISTORY,
    LATER,
    MONTH,
    REPORTED_ON,
    SOON,
    TAIL_FAULT,
    draw_windows,
)
from bench.traffic_shapes import ATTACKS, SHAPES, UNSEEN, Floats
from ragstone.monitor.drift.reference_period import ReferencePeriod, WindowSums, learn_reference
from ragstone.monitor.drift.sequential_test import (
    MAX_WIDTH,
    TARGET_DROP,
    allow_for_freedom,
    choose_widths,
    compute_deviations,
    normalise,
)

SHARE_OF_DROP = 1 / 3
WIDER, BUDGET_SHARE = 2.0, 0.5
USUAL_LIMIT = 3.7
"""Deviation at which the uncertainty of the variance is allowed for."""


def compute_limit(drift: float, run_length: float) -> float:
    """The limit that the sum passes once in so many hours (Siegmund 1985)."""
    low, high = 0.1, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        reach = 2 * drift * (middle + 1.166)
        mean_run = (math.exp(min(reach, 700)) - 1 - reach) / (2 * drift**2)
        low, high = (low, middle) if mean_run > run_length else (middle, high)
    return high


def find_alarms(reference: ReferencePeriod, windows: WindowSums) -> Floats:
    """1 where an alarm begins, in the hours after the history."""
    below, precision = compute_deviations(reference, windows, 0)
    width = np.minimum(WIDER * choose_widths(reference), MAX_WIDTH)
    level = width * reference.error**2 + reference.weekday_doubt * np.minimum(width, 24)
    variance = reference.inflate(width)[:, None] / np.maximum(precision, 1e-300) + level[:, None]
    skewness = np.maximum(-reference.third, 0) / np.maximum(reference.within, 1e-12) ** 2
    z = normalise(below / np.sqrt(variance), skewness[:, None] * np.sqrt(precision))
    z = np.where(precision > 0, z, 0)
    typical = np.median(np.sqrt(variance[:, :HISTORY]), axis=1)
    drop = TARGET_DROP * reference.span / typical
    drift = np.clip(SHARE_OF_DROP * drop, 0.1, 1.2)
    run_length = MONTH / (BUDGET * BUDGET_SHARE)
    usual = np.full(len(drop), USUAL_LIMIT)
    unsure = [
        allow_for_freedom(usual[:1], freedom)[0] for freedom in reference.count_freedom(width)
    ]
    limit = np.array([compute_limit(k, run_length) for k in drift]) * usual / np.array(unsure)
    alarms = np.zeros_like(z)
    total, back, is_on = np.zeros((3, len(z)))
    for hour in range(HISTORY, z.shape[1]):
        total = np.maximum(0, total + z[:, hour] - drift)
        begins = (total > limit) & (is_on == 0)
        alarms[:, hour] = begins
        is_on = np.maximum(is_on, begins)
        back = np.where(is_on > 0, np.maximum(0, back + drop / 2 - z[:, hour] - drift / 2), 0)
        is_over = (is_on > 0) & (back > limit)
        total, back = np.where(is_over, 0, np.minimum(total, limit)), np.where(is_over, 0, back)
        is_on = np.where(is_over, 0, is_on)
    return alarms[:, HISTORY:]


def main(months: int) -> None:
    """A row for each shape: false alarms a month, and shares of faults found in time."""
    for number, shape in enumerate((*SHAPES, *UNSEEN, *ATTACKS)):
        rng = np.random.default_rng((REPORTED_ON, number))
        quiet, _ = draw_windows(rng, shape, months, MONTH)
        reference = learn_reference(quiet.select(0, HISTORY), first_hour=0)
        false_alarms = find_alarms(reference, quiet).sum() / months
        starts = rng.integers(*FAULT_STARTS, months)
        begun = np.arange(FAULT_STARTS[1] + DAY + 1) >= starts[:, None]
        faults = begun * (TAIL_FAULT if shape.tail else FAULT)
        windows, _ = draw_windows(rng, shape, months, faults.shape[1], faults)
        reference = learn_reference(windows.select(0, HISTORY), first_hour=0)
        alarms = find_alarms(reference, windows)
        found = {
            within: np.mean([alarms[m, at : at + within].any() for m, at in enumerate(starts)])
            for within in (SOON, LATER, DAY)
        }
        shares = "  ".join(f"in {within} {share:.3g}" for within, share in found.items())
        print(f"{shape.name:44s}false alarms {false_alarms:.3g}  {shares}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
