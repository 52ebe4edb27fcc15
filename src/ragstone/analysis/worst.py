"""Which samples to look at first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNSCORED_BADNESS = -1.0
"""Badness of a sample with nothing scored and nothing failed: after all others."""


class WorstSamples:
    """The positions of the worst samples of a stream.

    First samples on which something failed, those with most failures ahead, in at most a quarter of the room (so that a
    broken judge does not hide bad answers); then the others by badness, the mean over their scored metrics of the
    distance from the best possible value, as a share of the metric's range. Ties stay in input order."""

    def __init__(self, room: int) -> None:
        self._max_samples = room
        self._failed = _Top(room)
        self._scored = _Top(room)

    def add(
        self, positions: Sequence[int], badness: NDArray[np.float64], failures: NDArray[np.int64]
    ) -> None:
        """Take in some samples: how bad each is, and on how many metrics it failed."""
        import numpy as np

        at = np.array(positions, np.int64)
        failed = failures > 0
        if failed.any():
            # Badness is at most 1, so half of it breaks ties between equal counts and no more.
            self._failed.add(at[failed], failures[failed] + badness[failed] / 2)
            at, badness = at[~failed], badness[~failed]
        self._scored.add(at, badness)

    def positions(self) -> tuple[int, ...]:
        """The worst first."""
        failed, scored = self._failed.positions(), self._scored.positions()
        first = failed[: max(self._max_samples // 4, self._max_samples - len(scored))]
        return tuple((first + scored)[: self._max_samples])


class _Top:
    """The entries with the largest keys, equal keys by position."""

    def __init__(self, room: int) -> None:
        import numpy as np

        self._max_entries = room
        self._positions: NDArray[np.int64] = np.empty(0, np.int64)
        self._keys: NDArray[np.float64] = np.empty(0)
        self._smallest_key = -float("inf")

    def add(self, at: NDArray[np.int64], keys: NDArray[np.float64]) -> None:
        import numpy as np

        # most samples are not among the worst: they are passed over without sorting
        is_candidate = keys >= self._smallest_key
        self._positions = np.concatenate([self._positions, at[is_candidate]])
        self._keys = np.concatenate([self._keys, keys[is_candidate]])
        # sorted now and then, not with every batch
        if len(self._positions) > 4 * self._max_entries + 1024:
            self._drop_smallest()

    def positions(self) -> list[int]:
        self._drop_smallest()
        return [int(position) for position in self._positions]

    def _drop_smallest(self) -> None:
        import numpy as np

        order = np.lexsort((self._positions, -self._keys))[: self._max_entries]
        self._positions, self._keys = self._positions[order], self._keys[order]
        if self._max_entries and len(order) == self._max_entries:
            self._smallest_key = float(self._keys[-1])
