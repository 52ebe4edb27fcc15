"""One metric's scores, counted as they stream by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.analysis.values import ValueSketch
from ragstone.locale.messages import clip
from ragstone.types import FAILURES, NO_USAGE, Score

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_TEXTS = 512
"""Different reasons and warnings remembered; the rarest go first."""
MAX_TEXT_CHARS = 400


class MetricTally:
    """Everything a summary says of one metric, in constant memory."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.name: str = described["name"]
        self.family = str(described.get("family", self.name))
        self.higher_is_better: bool = described.get("higher_is_better", True)
        self.binary: bool = described.get("binary", False)
        self.judged: bool = described.get("judged", False)
        self.bounds = _find_range(described.get("bounds"))
        self.total = 0
        self.values = ValueSketch()
        self.outcomes: Counter[str] = Counter()
        self.labels: dict[str, int] = dict.fromkeys(described.get("labels") or (), 0)
        self.failure_reasons = TextCounter()
        self.other_reasons = TextCounter()
        self.missing_reasons = TextCounter()
        self.warnings = TextCounter()
        self.usage = NO_USAGE

    def add(self, values: NDArray[np.float64], places: NDArray[np.int64] | None) -> None:
        """Take in one value per sample, NaN where there is none, with the number of its group (see `GroupNumbers`)."""
        import numpy as np

        self.total += len(values)
        absent = np.isnan(values)
        if absent.any():
            present = ~absent
            values = values[present]
            places = None if places is None else places[present]
        self.values.add(values, places)

    def add_details(self, score: Score) -> bool:
        """Count what comes with a score besides its value; returns whether it is a failure."""
        if score.label is not None:
            self.labels[score.label] = self.labels.get(score.label, 0) + 1
        for warning in score.warnings:
            self.warnings.add(warning)
        if score.usage is not NO_USAGE:
            self.usage += score.usage
        if score.ok:
            return False
        kind = f": {score.kind}" if score.kind else ""
        self.outcomes[score.outcome + kind] += 1
        failed = score.outcome in FAILURES
        if score.reason:
            (self.failure_reasons if failed else self.other_reasons).add(score.reason)
            if score.outcome == "missing_field":
                self.missing_reasons.add(score.reason)
        return failed

    def count(self, outcome: str) -> int:
        """How many samples ended so, whatever the kind of fault."""
        return sum(n for key, n in self.outcomes.items() if key.partition(":")[0] == outcome)

    def compute_badness(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each value is from the best possible one, 0 to 1; a metric without bounds is squashed to that."""
        import numpy as np

        if self.bounds is not None:
            low, high = self.bounds
            share = (values - low) / (high - low)
        else:
            share = 0.5 + 0.5 * values / (1 + np.abs(values))
        return np.clip(1 - share if self.higher_is_better else share, 0, 1)


class TextCounter:
    """The most common of many texts; past 512 different ones the rarer half is forgotten."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Count one more."""
        self._counts[clip(text, MAX_TEXT_CHARS)] += 1
        # texts with ids or numbers in them are all different; memory must not grow with the run
        if len(self._counts) > MAX_TEXTS:
            self._counts = Counter(dict(self._counts.most_common(MAX_TEXTS // 2)))

    def list_most_common(self, most: int) -> dict[str, int]:
        """The most common texts with their counts, the first seen first among equals."""
        return dict(self._counts.most_common(most))


def _find_range(bounds: Sequence[float] | None) -> tuple[float, float] | None:
    """Bounds that span a finite range; any other say no more than none."""
    if bounds is None:
        return None
    low, high = float(bounds[0]), float(bounds[1])
    return (low, high) if math.isfinite(high - low) and low < high else None
