"""A race of configurations: who answers which questions next, so that the best of a grid is found with a part of its answers.

All begin with the same few questions. Who looks best, together with the configurations most like it, answers all of them
and leads. Then the most hopeful other one answers a few more at a time, first those on which configurations differ and
the leader has room above it. What it has not answered is guessed from the configurations like it. It is out once perfect
answers to all the rest could not carry it past the leader, and leads when it has answered all and is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EFFORT = 0.4
"""Of a full grid's answers, the share that a race may take; three configurations in full it always may."""
STEP = 1 / 16
"""Of the questions, the share that each configuration begins with and that is added at a time."""
FEWEST, LEAST = 8, 4
"""Questions to begin with and to add, if that share is smaller."""
HOPE = 1.0
"""Standard errors that a configuration is thought better than it looks when it is decided who goes on."""
DOUBT = 5.0
"""Standard errors of benefit of the doubt: when nobody leads with so many, the race is over."""
ROOM = 0.3
"""What room above the leader counts in the choice of questions, next to how far configurations differ there."""
UNLIKE = 0.25
"""What the answers of a configuration that shares no setting still say."""


class Race:
    """Who has answered what, how well, and who is next."""

    def __init__(
        self, settings: Sequence[Mapping[str, Any]], questions: int, *, top: float | None
    ) -> None:
        import numpy as np

        count = len(settings)
        self.values: NDArray[np.float64] = np.full((count, questions), np.nan)
        self.asked: NDArray[np.bool_] = np.zeros((count, questions), bool)
        self.top = top
        """The best value there is for a question; None when there is no best."""
        self.leader: int | None = None
        self.left = set(range(count))
        """Those that may still win."""
        self.allowed = max(math.floor(EFFORT * count * questions), 3 * questions)
        self.first = min(questions, max(FEWEST, math.ceil(STEP * questions)))
        self.step = max(LEAST, math.ceil(STEP * questions))
        self._alike = np.array([[_alike(one, other) for other in settings] for one in settings])
        self._apart = np.zeros((count, count))

    def next(self) -> tuple[int, list[int]] | None:
        """A configuration and the questions that it answers next; None when the race is over."""
        import numpy as np

        begun = self.asked[:, 0]
        if not begun.all():
            return int(np.argmin(begun)), list(range(self.first))
        if self.leader is None:
            self.leader = self._hopeful()
            self.left.discard(self.leader)
            rest = np.flatnonzero(~self.asked[self.leader]).tolist()
            if rest:
                return self.leader, rest
        self._drop()
        allowed = self.allowed - int(self.asked.sum())
        if not self.left or allowed <= 0:
            return None
        guessed, spread = self._guesses()
        open_to = self._open()
        ahead = np.where(self._counted(), guessed - guessed[self.leader], 0.0).sum(axis=1)
        doubt = np.sqrt((open_to * spread).sum(axis=1))
        order = sorted(self.left, key=lambda at: (-(ahead[at] + HOPE * doubt[at]), at))
        if max(ahead[at] + DOUBT * doubt[at] for at in self.left) <= 0:
            return None
        return order[0], self._questions(order[0], spread, guessed)[: min(self.step, allowed)]

    def learn(
        self, which: int, places: Sequence[int], values: Sequence[float] | NDArray[np.float64]
    ) -> None:
        """Take in what a configuration scored on questions; NaN for those that could not be scored."""
        import numpy as np

        at = list(places)
        self.asked[which, at] = True
        self.values[which, at] = values
        known = ~np.isnan(self.values)
        both = known & known[which]
        far = np.where(both, np.abs(self.values - self.values[which]), 0.0).sum(axis=1)
        self._apart[which] = far / np.maximum(both.sum(axis=1), 1)
        self._apart[:, which] = self._apart[which]
        if self.leader is not None and which in self.left and not self._open()[which].any():
            self.left.discard(which)
            guessed, _ = self._guesses()
            if ((guessed[which] - guessed[self.leader])[self._counted()]).sum() > 1e-9:
                self.leader = which

    def means(self) -> list[float]:
        """The mean of each configuration over the leader's questions, guesses in the place of what it did not answer."""
        import numpy as np

        guessed, _ = self._guesses()
        counted = self._counted() if self.leader is not None else ~np.isnan(guessed).all(axis=0)
        if not counted.any():
            return [math.nan] * len(guessed)
        return [float(one) for one in guessed[:, counted].mean(axis=1)]

    def _counted(self) -> NDArray[np.bool_]:
        """Questions that count: the leader has a value for them."""
        import numpy as np

        found: NDArray[np.bool_] = ~np.isnan(self.values[self.leader])
        return found

    def _open(self) -> NDArray[np.bool_]:
        """For each configuration the questions that count and that it has not answered."""
        return ~self.asked & self._counted()

    def _hopeful(self) -> int:
        """Who looks best after the first questions: its own mean, steadied by those of the configurations like it."""
        import numpy as np

        seen = ~np.isnan(self.values)
        means = np.where(seen, self.values, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        weights = self._alike**3
        steady = 0.6 * means + 0.4 * (weights @ means) / weights.sum(axis=1)
        return int(np.argmax(np.where(seen.any(axis=1), steady, -np.inf)))

    def _drop(self) -> None:
        """Those out that perfect answers could not carry past the leader."""
        import numpy as np

        if self.top is None:
            return
        best = np.where(np.isnan(self.values), self.top, self.values)
        ahead = (best - self.values[self.leader])[:, self._counted()].sum(axis=1)
        self.left -= {at for at in self.left if ahead[at] <= 1e-9}

    def _guesses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Every value, guessed where it is not known, and for each question how far such a guess may be off, squared."""
        import numpy as np

        known = ~np.isnan(self.values)
        values = np.where(known, self.values, 0.0)
        count = known.sum(axis=0)
        mean = values.sum(axis=0) / np.maximum(count, 1)
        width = max(float(np.ptp(self.values[known])) if known.any() else 0.0, 1e-9)
        weights = (UNLIKE + self._alike) * np.exp(-self._apart / width)
        np.fill_diagonal(weights, 0.0)
        guessed = (weights @ values + 0.05 * mean) / (weights @ known + 0.05)
        spread = np.maximum((values**2).sum(axis=0) / np.maximum(count, 1) - mean**2, 0.0)
        usual = float(spread[: self.first].mean()) + 1e-6
        return np.where(known, self.values, guessed), (spread * count + 2 * usual) / (count + 2)

    def _questions(
        self, which: int, spread: NDArray[np.float64], guessed: NDArray[np.float64]
    ) -> list[int]:
        """Its open questions, those first on which much may turn."""
        import numpy as np

        open_to = np.flatnonzero(self._open()[which])
        room = 0.0 if self.top is None else self.top - guessed[self.leader, open_to]
        worth = np.sqrt(spread[open_to]) + ROOM * room
        return [int(at) for at in open_to[np.argsort(-worth, kind="stable")]]


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The share of settings that two configurations have in common."""
    return float(sum(one[name] == other.get(name) for name in one)) / max(1, len(one))
