"""When a drop began: the change point of a stream's windows, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragstone.monitor.drift.window_sums import Floats

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
