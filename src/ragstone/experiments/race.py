"""A race of configurations: which configuration answers which questions next, so that the best of a grid takes only a part of its answers.

All start with the same few questions. The configuration that looks best, judged together with similar ones, answers all
questions and leads. Then the most promising other one answers a few more at a time, first those on which configurations
differ and the leader can be beaten. Missing answers are imputed from similar configurations. A configuration is dropped
once perfect answers where it has no score could not beat the leader; it leads when it has answered all and is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_GRID_SHARE = 0.4
"""Share of a full grid's answers that a race may take; three configurations in full are always allowed."""
STEP_SHARE = 1 / 16
"""Share of the questions that each configuration starts with, and that is added at a time."""
MIN_FIRST_QUESTIONS, MIN_STEP_QUESTIONS = 8, 4
"""Minimum number of questions to start with and to add."""
OPTIMISM_ERRORS = 1.0
"""Standard errors added to a configuration's mean when the next one to answer is chosen."""
STOP_ERRORS = 5.0
"""Standard errors added to each mean when the race is ended: it is over once none then exceeds the leader."""
ROOM_WEIGHT = 0.3
"""Weight of the room above the leader in the choice of questions, compared with how far configurations differ."""
UNRELATED_WEIGHT = 0.25
"""Weight of the answers of a configuration that shares no setting."""
OWN_MEAN_WEIGHT = 0.6
"""Weight of a configuration's own mean when the first leader is chosen; the rest is that of similar ones."""
SIMILARITY_POWER = 3
"""Power of the share of common settings in that choice: the higher, the less do configurations count that share few settings."""
OVERALL_MEAN_WEIGHT = 0.05
"""Weight of a question's mean over all configurations in an imputed value: it decides where no similar one has answered."""
PRIOR_VALUES = 2
"""How many values the usual variance counts for beside those that a question has: the variance of few is unreliable."""
MIN_VARIANCE = 1e-6
"""Added to the usual variance, so that configurations which agree so far are not taken to agree for certain."""
ROUNDING = 1e-9
"""Differences up to this are rounding of sums, and no lead; also the smallest range of values to divide by."""


class Race:
    """The answers and scores of each configuration so far, and the choice of the next."""

    def __init__(
        self, settings: Sequence[Mapping[str, Any]], questions: int, *, best_value: float | None
    ) -> None:
        import numpy as np

        count = len(settings)
        self.values: NDArray[np.float64] = np.full((count, questions), np.nan)
        self.asked: NDArray[np.bool_] = np.zeros((count, questions), bool)
        self.best_value = best_value
        """The best value there is for a question; None when there is no best."""
        self.leader: int | None = None
        self.contenders = set(range(count))
        """Configurations that may still win."""
        self.max_answers = max(math.floor(MAX_GRID_SHARE * count * questions), 3 * questions)
        self.first_questions = min(
            questions, max(MIN_FIRST_QUESTIONS, math.ceil(STEP_SHARE * questions))
        )
        self.step_questions = max(MIN_STEP_QUESTIONS, math.ceil(STEP_SHARE * questions))
        self._similarity = np.array(
            [[_measure_similarity(own, other) for other in settings] for own in settings]
        )
        self._distance = np.zeros((count, count))

    def choose_next(self) -> tuple[int, list[int]] | None:
        """A configuration and the questions that it answers next; None when the race is over."""
        import numpy as np

        # question 0 is in the first batch of every configuration, so it tells who has begun
        begun = self.asked[:, 0]
        if not begun.all():
            return int(np.argmin(begun)), list(range(self.first_questions))
        if self.leader is None:
            self.leader = self._find_leader()
            self.contenders.discard(self.leader)
            rest = np.flatnonzero(~self.asked[self.leader]).tolist()
            if rest:
                return self.leader, rest
        self._drop_beaten()
        # the leader's own answers count too
        allowed = self.max_answers - int(self.asked.sum())
        if not self.contenders or allowed <= 0:
            return None
        guessed, spread = self._impute()
        open_to = self._find_open()
        # sums, not means: all are over the same questions, those that the leader has a value for
        ahead = np.where(self._find_counted(), guessed - guessed[self.leader], 0.0).sum(axis=1)
        doubt = np.sqrt((open_to * spread).sum(axis=1))
        order = sorted(
            self.contenders, key=lambda at: (-(ahead[at] + OPTIMISM_ERRORS * doubt[at]), at)
        )
        if max(ahead[at] + STOP_ERRORS * doubt[at] for at in self.contenders) <= 0:
            return None
        return order[0], self._order_questions(order[0], spread, guessed)[
            : min(self.step_questions, allowed)
        ]

    def add_scores(
        self, which: int, places: Sequence[int], values: Sequence[float] | NDArray[np.float64]
    ) -> None:
        """Add the scores of a configuration on questions; NaN for those that could not be scored."""
        import numpy as np

        at = list(places)
        self.asked[which, at] = True
        self.values[which, at] = values
        known = ~np.isnan(self.values)
        both = known & known[which]
        far = np.where(both, np.abs(self.values - self.values[which]), 0.0).sum(axis=1)
        self._distance[which] = far / np.maximum(both.sum(axis=1), 1)
        self._distance[:, which] = self._distance[which]
        # a contender that has answered all that counts either leads now or has lost
        if (
            self.leader is not None
            and which in self.contenders
            and not self._find_open()[which].any()
        ):
            self.contenders.discard(which)
            guessed, _ = self._impute()
            if ((guessed[which] - guessed[self.leader])[self._find_counted()]).sum() > ROUNDING:
                self.leader = which

    def estimate_means(self) -> list[float]:
        """The mean of each configuration over the leader's questions, with missing answers estimated from the leader's.

        How a configuration follows the leader is learned on the first questions alone: all others were chosen where the
        leader can be beaten or configurations differ, and would flatter or wrong it."""
        import numpy as np

        if self.leader is None:
            return [math.nan] * len(self.values)
        counted = self._find_counted()
        first = np.zeros(len(counted), bool)
        first[: self.first_questions] = True
        estimates = []
        for row in self.values:
            known = ~np.isnan(row) & counted
            if not (known & first).any():
                estimates.append(math.nan)
                continue
            guessed = self._follow_leader(row, known & first)
            estimates.append(float(np.where(known, row, guessed)[counted].mean()))
        return estimates

    def _follow_leader(
        self, values: NDArray[np.float64], used: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Every value as a straight line of the leader's, fitted to the used questions and kept within the values there are."""
        import numpy as np

        leader = self.values[self.leader]
        x, y = leader[used], values[used]
        # a few made-up questions without any relation keep a line through few points from being steep
        flat = PRIOR_VALUES * max(float(np.nanvar(leader)), ROUNDING)
        centred = x - x.mean()
        slope = float((centred * (y - y.mean())).sum()) / (float((centred**2).sum()) + flat)
        line = y.mean() + slope * (leader - x.mean())
        clipped: NDArray[np.float64] = np.clip(line, np.nanmin(self.values), np.nanmax(self.values))
        return clipped

    def _find_counted(self) -> NDArray[np.bool_]:
        """Questions that count: the leader has a value for them."""
        import numpy as np

        has_value: NDArray[np.bool_] = ~np.isnan(self.values[self.leader])
        return has_value

    def _find_open(self) -> NDArray[np.bool_]:
        """For each configuration the questions that count and that it has not answered."""
        return ~self.asked & self._find_counted()

    def _find_leader(self) -> int:
        """The configuration that looks best after the first questions: its mean, shrunk towards those of similar ones."""
        import numpy as np

        seen = ~np.isnan(self.values)
        means = np.where(seen, self.values, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        weights = self._similarity**SIMILARITY_POWER
        # few questions are answered so far: the mean is drawn towards those of configurations that
        # share settings
        similar_means = (weights @ means) / weights.sum(axis=1)
        steady = OWN_MEAN_WEIGHT * means + (1 - OWN_MEAN_WEIGHT) * similar_means
        return int(np.argmax(np.where(seen.any(axis=1), steady, -np.inf)))

    def _drop_beaten(self) -> None:
        """Drop the configurations that perfect answers could not bring past the leader.

        Perfect are taken to be the open answers and also those that were given but could not be scored."""
        import numpy as np

        if self.best_value is None:
            return
        best = np.where(np.isnan(self.values), self.best_value, self.values)
        ahead = (best - self.values[self.leader])[:, self._find_counted()].sum(axis=1)
        # a tie cannot win either
        self.contenders -= {at for at in self.contenders if ahead[at] <= ROUNDING}

    def _impute(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Every value, imputed where it is missing, and the error variance of such an imputation for each question."""
        import numpy as np

        known = ~np.isnan(self.values)
        values = np.where(known, self.values, 0.0)
        count = known.sum(axis=0)
        mean = values.sum(axis=0) / np.maximum(count, 1)
        width = max(float(np.ptp(self.values[known])) if known.any() else 0.0, ROUNDING)
        weights = (UNRELATED_WEIGHT + self._similarity) * np.exp(-self._distance / width)
        # a configuration does not vouch for itself: its own values are taken as they are, below
        np.fill_diagonal(weights, 0.0)
        total_weight = weights @ known + OVERALL_MEAN_WEIGHT
        guessed = (weights @ values + OVERALL_MEAN_WEIGHT * mean) / total_weight
        spread = np.maximum((values**2).sum(axis=0) / np.maximum(count, 1) - mean**2, 0.0)
        usual = float(spread[: self.first_questions].mean()) + MIN_VARIANCE
        # drawn towards the variance of the first questions, which every configuration answers
        steady = (spread * count + PRIOR_VALUES * usual) / (count + PRIOR_VALUES)
        return np.where(known, self.values, guessed), steady

    def _order_questions(
        self, which: int, spread: NDArray[np.float64], guessed: NDArray[np.float64]
    ) -> list[int]:
        """The open questions of a configuration, the most informative first."""
        import numpy as np

        open_to = np.flatnonzero(self._find_open()[which])
        room = 0.0 if self.best_value is None else self.best_value - guessed[self.leader, open_to]
        worth = np.sqrt(spread[open_to]) + ROOM_WEIGHT * room
        return [int(at) for at in open_to[np.argsort(-worth, kind="stable")]]


def _measure_similarity(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The share of settings that two configurations have in common."""
    return float(sum(one[name] == other.get(name) for name in one)) / max(1, len(one))
