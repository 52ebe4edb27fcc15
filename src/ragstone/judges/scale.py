"""The scale of a judge: what a metric's values are worth with this judge, in this language, measured on controls.

A value of 0.7 means one thing with one judge and another with the next. A scale says what good and bad controls
(samples of known truth) get, where the line between them is, and how often it is right. `ragstone judge check` and
`ragstone judge measure` write scales into the store; those of the embedded judge come with the package."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ragstone.asks import digest, list_example_asks
from ragstone.judges import Judge

Fitness = Literal["fit", "rank_only", "unfit"]
"""Fit to gate on; fit to rank samples or systems, not for a limit; neither."""
ScaleSource = Literal["check", "controls", "labels"]
"""What it was measured on, the least telling first: the items of `judge check`, controls made of corpora, people's labels."""

MIN_REPLY_RATE = 0.9
"""Share of controls with a usable reply under which a judge is unfit."""
MIN_FIT_ACCURACY = 0.8
"""Balanced accuracy that a limit needs."""
MIN_RANK_AUROC = 0.7
"""AUROC that a ranking needs."""
MIN_CONTROLS = 10
"""Scored controls of each side under which a scale is too rough to conclude from."""
BASELINE_TOLERANCE = 0.05
"""How far a fit judge may be below the simplest rule: one or two of thirty controls."""
BUNDLED_FILE = Path(__file__).parent / "offline" / "learned" / "scales.json"
"""Scales of the embedded judge: a JSON list of what `JudgeScale.to_json` returns."""
LEAST_SPREAD = 0.05
"""Controls that all get one value are still not measured more sharply than this."""


@dataclass(frozen=True, slots=True)
class ControlValues:
    """What a metric gave the controls of one side."""

    mean: float
    spread: float
    """Standard deviation."""
    count: int
    """Controls with a score."""


@dataclass(frozen=True, slots=True)
class JudgeScale:
    """The values of one metric with one judge in one language, on controls that are known to be good or bad."""

    judge: str
    """Fingerprint of the judge: `fingerprint_judge`; a run keeps it as `facts.judge_identity`."""
    name: str
    """Its name in reports."""
    language: str
    """`en`, `es`."""
    metric: str
    """Registered name of the metric, without options: `faithfulness`."""
    good: ControlValues
    bad: ControlValues
    threshold: float
    """Where good and bad values part."""
    balanced_accuracy: float
    """How often that line is right, each control judged by the line that the others draw."""
    auroc: float
    baseline_accuracy: float
    """Balanced accuracy of the simplest rule on the same controls; 0.5 is always the same answer."""
    reply_rate: float
    """Share of the controls that got a score."""
    source: ScaleSource
    measured: str
    """Day, as 2026-11-17."""
    higher_is_better: bool = True
    false_alarms: float = 0.0
    """Share of the good controls on the bad side of the threshold."""
    unsure: tuple[float, float] | None = None
    """Chances between which the judge's verdicts need a second judge, from labels; see `ragstone.judges.cascade`."""

    @property
    def false_alarm_rate(self) -> float:
        """Share of good samples that the threshold calls bad, by Laplace's rule: never 0 on few controls."""
        return (self.false_alarms * self.good.count + 1) / (self.good.count + 2)

    @property
    def fitness(self) -> Fitness:
        """What the metric may be used for with this judge."""
        if self.reply_rate < MIN_REPLY_RATE or self.auroc < MIN_RANK_AUROC:
            return "unfit"
        needed = find_needed_accuracy(self.baseline_accuracy)
        return "fit" if self.balanced_accuracy >= needed else "rank_only"

    @property
    def is_rough(self) -> bool:
        """Whether there were too few controls to conclude from."""
        return min(self.good.count, self.bad.count) < MIN_CONTROLS

    def is_bad(self, value: float) -> bool:
        """Whether a value is on the side of the bad controls."""
        return value < self.threshold if self.higher_is_better else value > self.threshold

    def to_json(self) -> dict[str, Any]:
        """Return the scale as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> JudgeScale:
        """Return the scale that `to_json` wrote."""
        sides = {side: ControlValues(**stored[side]) for side in ("good", "bad")}
        unsure = stored.get("unsure")
        return cls(**{**stored, **sides, "unsure": None if unsure is None else tuple(unsure)})


def measure_scale(
    good: Sequence[float],
    bad: Sequence[float],
    *,
    judge: str,
    name: str,
    language: str,
    metric: str,
    reply_rate: float,
    source: ScaleSource,
    measured: str,
    baseline_accuracy: float = 0.5,
    higher_is_better: bool = True,
) -> JudgeScale | None:
    """Build the scale from the values that good and bad controls got; None where a side has fewer than two."""
    if min(len(good), len(bad)) < 2:
        return None
    threshold = find_threshold(good, bad)
    sign = 1 if higher_is_better else -1
    return JudgeScale(
        judge=judge,
        name=name,
        language=language,
        metric=metric,
        good=_describe(good),
        bad=_describe(bad),
        threshold=threshold,
        balanced_accuracy=measure_accuracy(good, bad, higher_is_better),
        auroc=measure_auroc(good, bad) if higher_is_better else measure_auroc(bad, good),
        baseline_accuracy=baseline_accuracy,
        reply_rate=reply_rate,
        source=source,
        measured=measured,
        higher_is_better=higher_is_better,
        false_alarms=sum(sign * value < sign * threshold for value in good) / len(good),
    )


def find_needed_accuracy(baseline_accuracy: float) -> float:
    """Return the balanced accuracy that a limit needs where the simplest rule has this one."""
    return max(MIN_FIT_ACCURACY, baseline_accuracy - BASELINE_TOLERANCE)


def find_threshold(good: Sequence[float], bad: Sequence[float]) -> float:
    """Return the value that is equally many standard deviations from the means of both sides."""
    good_spread, bad_spread = (max(statistics.pstdev(side), LEAST_SPREAD) for side in (good, bad))
    weighted = statistics.fmean(good) * bad_spread + statistics.fmean(bad) * good_spread
    return weighted / (good_spread + bad_spread)


def measure_accuracy(
    good: Sequence[float], bad: Sequence[float], higher_is_better: bool = True
) -> float:
    """Return the balanced accuracy, each value judged by the threshold of all others."""
    rights = []
    for is_good, values in ((True, good), (False, bad)):
        hits = 0
        for index, value in enumerate(values):
            others = [*values[:index], *values[index + 1 :]]
            line = find_threshold(others, bad) if is_good else find_threshold(good, others)
            looks_good = value >= line if higher_is_better else value <= line
            hits += looks_good == is_good
        rights.append(hits / len(values))
    return statistics.fmean(rights)


def measure_auroc(high: Sequence[float], low: Sequence[float]) -> float:
    """Return how often a value of the first kind is above one of the second; a tie counts one half."""
    wins = sum((a > b) + 0.5 * (a == b) for a in high for b in low)
    return wins / (len(high) * len(low))


def fingerprint_judge(judge: Judge) -> str:
    """Return the hash of everything about a judge that can change a reply: model, settings, prompts, route, versions."""
    return digest([judge.identity(ask) for ask in list_example_asks(("en", "es"))])[:16]


def load_bundled_scales() -> tuple[JudgeScale, ...]:
    """Return the scales that come with the package: those of the embedded judge."""
    return _read_bundled()


@lru_cache(maxsize=1)
def _read_bundled() -> tuple[JudgeScale, ...]:
    rows = json.loads(BUNDLED_FILE.read_text("utf-8"))
    return tuple(JudgeScale.from_json(row) for row in rows)


def _describe(values: Sequence[float]) -> ControlValues:
    return ControlValues(statistics.fmean(values), statistics.pstdev(values), len(values))
