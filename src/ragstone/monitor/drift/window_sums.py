"""Hourly windows of scores as sums: all that the drop test sees of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


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
