"""False alarms and found drops by simulation: months of hourly windows of scores shaped like faithfulness.

Scores: 55 % exactly 1, 8 % exactly 0, the rest Beta(4, 2). An hour effect moves each hour's mean by a normal draw of sd
0.02: a share of the answers becomes bad (half of them 0, half Beta(2, 4)) or perfect. A drop of d makes a share
d / (mean − 1/6) of the answers bad in the same way, from a window on that is drawn between the 25th and the 120th of the
month; a drift grows to it in equal steps. The reference is the seven days before.

    python -m bench alarms
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.drift import Series, learn, level, watch_series

ONES, ZEROS = 0.55, 0.08
MEAN = ONES + (1 - ONES - ZEROS) * 4 / 6
BAD = 1 / 6
"""Mean of a bad answer."""
REFERENCE, MONTH = 168, 720
BUDGET = 0.1


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the hours are like."""

    name: str
    hour_sd: float = 0.0
    swing: float = 0.0
    """Half the distance between the best and the worst hour of a day."""
    scores: int = 100


def draw(
    rng: np.random.Generator,
    streams: int,
    windows: int,
    scenario: Scenario,
    drop: NDArray[np.float64] | None = None,
) -> Series:
    """Windows of scores; `drop` is by how much each window's mean is lower."""
    sums = np.empty((3, streams, windows))
    for stream in range(streams):
        x = _scores(rng, (windows, scenario.scores))
        shift = rng.normal(0, scenario.hour_sd, windows) if scenario.hour_sd else np.zeros(windows)
        shift = shift + scenario.swing * np.sin(np.arange(windows) * 2 * np.pi / 24)
        x = _moved(rng, x, shift)
        if drop is not None:
            x = _moved(rng, x, -drop[stream])
        sums[:, stream] = x.sum(1), (x**2).sum(1), (x**3).sum(1)
    counts = np.full((streams, windows), float(scenario.scores))
    return Series(counts, *sums)


def _scores(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    kind = rng.random(shape)
    return np.where(
        kind < ONES, 1.0, np.where(kind < ONES + ZEROS, 0.0, rng.beta(4, 2, size=shape))
    )


def _moved(
    rng: np.random.Generator, x: NDArray[np.float64], shift: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Answers made bad or perfect so that each window's mean moves by `shift`."""
    if not shift.any():
        return x
    share = np.where(shift < 0, -shift / (MEAN - BAD), shift / (1 - MEAN))
    hit = rng.random(x.shape) < share[:, None]
    bad = np.where(rng.random(x.shape) < 0.5, 0.0, rng.beta(2, 4, size=x.shape))
    return np.where(hit, np.where(shift[:, None] < 0, bad, 1.0), x)


def false_alarms(
    rng: np.random.Generator, scenario: Scenario, streams: int, *, hours_of_day: bool = True
) -> float:
    """False alarms a month, of one metric without slices."""
    first = 0 if hours_of_day else None
    reference = learn(draw(rng, streams, REFERENCE, scenario), first_hour=first)
    live = draw(rng, streams, MONTH, scenario)
    watched = watch_series(reference, live, np.full(streams, level(BUDGET)))
    return float(watched.alarms.sum() / streams)


def found(
    rng: np.random.Generator,
    scenario: Scenario,
    streams: int,
    drop: float,
    within: int,
    ramp: int = 1,
) -> tuple[float, float]:
    """The share of drops found within so many windows, and the median delay of those that were."""
    length = 120 + max(within, ramp) + 1
    starts = rng.integers(24, 120, streams)
    drops = np.clip((np.arange(length) - starts[:, None] + 1) / ramp, 0, 1) * drop
    reference = learn(draw(rng, streams, REFERENCE, scenario), first_hour=0)
    live = draw(rng, streams, length, scenario, drops)
    began = watch_series(reference, live, np.full(streams, level(BUDGET))).alarms
    delays = [
        int(np.argmax(began[stream, start : start + within])) + 1
        if began[stream, start : start + within].any()
        else None
        for stream, start in enumerate(starts)
    ]
    hits = [delay for delay in delays if delay is not None]
    return len(hits) / streams, float(np.median(hits)) if hits else float("nan")


def shared(rng: np.random.Generator, metrics: int, slices: int) -> float:
    """False alarms a metric-month when half of the budget is shared by slices."""
    total = 0
    for size, streams, part in (
        (100, metrics, 0.5),
        (100 // slices, metrics * slices, 0.5 / slices),
    ):
        scenario = Scenario("", 0.02, scores=size)
        reference = learn(draw(rng, streams, REFERENCE, scenario).joined(), first_hour=0)
        live = draw(rng, streams, MONTH, scenario).joined()
        watched = watch_series(reference, live, np.full(streams, level(BUDGET * part)))
        total += int(watched.alarms.sum())
    return total / metrics


def main(streams: int = 200, seed: int = 7) -> dict[str, object]:
    """Every figure, as plain JSON."""
    rng = np.random.default_rng(seed)
    started = time.process_time()
    figures: dict[str, object] = {"streams": streams, "budget": BUDGET}
    for scenario in (
        Scenario("plain"),
        Scenario("hour effect 0.02", 0.02),
        Scenario("day and night ±0.03", 0.0, 0.03),
    ):
        figures[scenario.name] = {
            "false alarms a month": false_alarms(rng, scenario, streams),
            "0.10 within 5 windows": found(rng, scenario, streams, 0.10, 5),
            "0.05 within 20 windows": found(rng, scenario, streams, 0.05, 20),
            "drift to 0.10 over 7 days, found before its end": found(
                rng, scenario, streams, 0.10, 168, 168
            ),
        }
    figures["hour effect, whole and 5 slices, false alarms a metric-month"] = shared(
        rng, max(20, streams // 2), 5
    )
    figures["cpu seconds"] = round(time.process_time() - started, 1)
    return figures


if __name__ == "__main__":
    json.dump(
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 200),
        sys.stdout,
        indent=2,
        ensure_ascii=False,
    )
