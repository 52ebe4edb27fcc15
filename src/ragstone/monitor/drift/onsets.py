"""When a drop began: the change point of a stream's windows, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.monitor.drift.window_sums import Floats

INTERVAL_SHARE = 0.9
"""Probability that the interval of an onset holds."""


@dataclass(frozen=True, slots=True)
class Onset:
    """The window in which a drop most likely began."""

    window: int
    low: int
    """First window of the interval, `high` its last."""
    high: int
    depth: float
    """How far below the reference the mean has been since."""


def find_onset(below: Floats, precision: Floats, inflation: float = 1.0) -> Onset:
    """The onset of a drop that lasts to the last window; the arguments are those of one stream, `precision` inverse variances.

    Each window is as likely a priori and the depth is unknown, so that the likelihood of "lower from here on" is integrated
    over it. `inflation` is that of the variance by correlated hours."""
    total = np.cumsum(precision[::-1])[::-1]
    pull = np.cumsum((precision * below)[::-1])[::-1]
    possible = (precision > 0) & (pull > 0)
    if not possible.any():
        last = len(below) - 1
        return Onset(last, 0, last, 0.0)
    scale = np.maximum(total, 1e-300)
    gain = np.where(possible, pull**2 / scale / 2 / inflation, -np.inf)
    posterior = np.where(possible, np.exp(gain - gain.max()) / np.sqrt(scale), 0)
    reached = np.cumsum(posterior) / posterior.sum()
    # the median of the posterior is nearer to the truth than its highest point, where few scores say little
    window = int(np.searchsorted(reached, 0.5))
    tail = (1 - INTERVAL_SHARE) / 2
    low = int(np.searchsorted(reached, tail))
    high = min(int(np.searchsorted(reached, 1 - tail)), len(below) - 1)
    return Onset(window, low, high, float(pull[window] / scale[window]))
