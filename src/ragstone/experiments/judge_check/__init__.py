"""`ragstone judge check`: what a judge is fit for, measured on controls of known truth for each kind of Ask.

The controls are samples, scored by the metrics that a run would use: what is measured here is what a run gets."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ragstone.asks import KINDS
from ragstone.engine import ProgressCallback
from ragstone.errors import RagstoneError
from ragstone.experiments.judge_check.controls import Control, ControlSet, build_control_sets
from ragstone.experiments.run import aevaluate
from ragstone.judges import Judge
from ragstone.judges.scale import (
    MIN_CONTROLS,
    MIN_REPLY_RATE,
    Fitness,
    JudgeScale,
    find_needed_accuracy,
    fingerprint_judge,
    measure_accuracy,
    measure_scale,
)
from ragstone.registry import REGISTERED, Metric
from ragstone.types import NO_USAGE, Score, Usage

FIRST_CONTROLS = 6
"""Controls of a kind that are put first."""
FIRST_WRITTEN = 2
"""Controls that are put first where replies are long: whoever fails at both is waited for no longer than needed."""
CALIBRATION_BINS = 5
KindObserver = Callable[[str, int, int], ProgressCallback | None]
"""Called with the kind of Ask that begins, its number from 0 and how many there are; returns who follows its samples."""


@dataclass(frozen=True, slots=True)
class KindResult:
    """What a judge made of the controls of one kind of Ask, by the metric that is shown."""

    kind: str
    metric: str
    controls: int
    replies: int
    """Controls that got a score."""
    right: int
    """Controls on the right side of the line that the others draw; those without a reply are not."""
    scale: JudgeScale | None
    """None where every control is good (`claims`, `write`), or too few got a score."""
    baseline_accuracy: float
    """Balanced accuracy of the simplest rule, or where every control is good its share of right ones."""
    calibration_error: float | None
    """Expected calibration error of the probabilities; None where the judge gives none."""
    failures: Mapping[str, int]
    """Reasons why controls got no score, each with its count."""
    skipped: int
    """Controls that the budget did not reach; nothing is concluded then."""
    usage: Usage
    seconds: float
    is_unreachable: bool
    """Whether no control got through to the model at all."""
    is_unanswered: bool
    """Whether it is a kind of question that this judge leaves to others."""

    @property
    def fitness(self) -> Fitness:
        """What the metric may be used for."""
        if self.scale is not None:
            return self.scale.fitness
        needed = find_needed_accuracy(self.baseline_accuracy)
        is_fit = self.replies >= MIN_REPLY_RATE * self.controls and self.agreement >= needed
        # bad controls, and yet no scale: too few replies to conclude from
        return "fit" if is_fit and not self.has_bad else "unfit"

    @property
    def has_bad(self) -> bool:
        """Whether there were bad controls, so that a scale could be measured."""
        # the kinds that `build_control_sets` builds with has_bad=False
        return self.kind not in ("claims", "write")

    @property
    def agreement(self) -> float:
        """Share of all controls that were judged right."""
        return self.right / self.controls


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """The results of one judge on one route in one language."""

    judge: str
    language: str
    results: tuple[KindResult, ...]
    scales: tuple[JudgeScale, ...]
    """Of all metrics that were scored, also those that are not shown."""

    @property
    def usage(self) -> Usage:
        """What all of it cost."""
        return sum((result.usage for result in self.results), NO_USAGE)

    @property
    def skipped(self) -> int:
        """Controls that the budget did not reach."""
        return sum(result.skipped for result in self.results)

    @property
    def is_fit(self) -> bool:
        """Whether everything that the judge answers is fit to gate on."""
        return all(r.fitness == "fit" for r in self.results if not r.is_unanswered)


async def check_judge(
    judge: Judge,
    language: str,
    *,
    metrics: Sequence[str] = (),
    watch: KindObserver | None = None,
) -> JudgeCheck:
    """Measure a judge on the controls of every kind, or of the kinds that these metrics ask."""
    sets = choose_sets(build_control_sets(language), metrics)
    results, scales = [], []
    for number, controls in enumerate(sets):
        follow = watch(controls.kind, number, len(sets)) if watch is not None else None
        first = FIRST_WRITTEN if KINDS[controls.kind].is_text else FIRST_CONTROLS
        result, measured = await check_set(judge, controls, language, follow, first=first)
        if result.is_unreachable:
            raise RagstoneError(f"{judge.name} could not be asked: {next(iter(result.failures))}")
        results.append(result)
        scales += measured
    return JudgeCheck(judge.name, language, tuple(results), tuple(scales))


def choose_sets(sets: Sequence[ControlSet], metrics: Sequence[str]) -> list[ControlSet]:
    """Return the sets whose metrics are named; all of them when none is."""
    if not metrics:
        return list(sets)
    known = [metric.family for controls in sets for metric in controls.metrics]
    unknown = [name for name in metrics if name not in known]
    if unknown:
        raise RagstoneError(
            f"there are no controls for {', '.join(unknown)}; there are for {', '.join(known)}"
        )
    return [s for s in sets if any(metric.family in metrics for metric in s.metrics)]


async def check_set(
    judge: Judge,
    controls: ControlSet,
    language: str,
    watch: ProgressCallback | None = None,
    *,
    first: int = FIRST_CONTROLS,
) -> tuple[KindResult, list[JudgeScale]]:
    """Score the controls of one kind; returns the result and the scale of each metric.

    The `first` ones are put at once, then as many as so far each time, and no more once too many have failed for the
    metric to be fit: whoever waits for a verdict gets it when it is certain."""
    started = time.monotonic()
    rows: list[Mapping[str, Score]] = []
    while len(rows) < len(controls.controls) and not _is_settled(controls, rows):
        part = controls.controls[len(rows) : max(first, 2 * len(rows))]
        # in memory: stored replies of an earlier check would cost nothing and take no time
        run = await aevaluate(
            [control.sample for control in part],
            list(controls.metrics),
            judge=judge,
            store=":memory:",
            language=language,
            watch=_shift_progress(watch, len(rows), len(controls.controls)),
        )
        rows += run.scores().values()
        run.stored.store.close()
    seconds = time.monotonic() - started
    # a part says nothing of the whole, and checks like `_SOLVED` are no metrics of a run
    is_whole = len(rows) == len(controls.controls)
    controls = replace(controls, controls=controls.controls[: len(rows)])
    scales = {
        metric.family: _measure_metric(
            judge, controls, metric, [row[metric.name] for row in rows], language
        )
        for metric in controls.metrics
    }
    shown = [row[controls.metrics[0].name] for row in rows]
    usage = sum((score.usage for row in rows for score in row.values()), NO_USAGE)
    result = _sum_up(controls, shown, scales[controls.metrics[0].family], usage, seconds)
    is_whole = is_whole and not result.skipped
    measured = [
        s for name, s in scales.items() if s is not None and is_whole and name in REGISTERED
    ]
    return result, measured


def _shift_progress(
    watch: ProgressCallback | None, done: int, total: int
) -> ProgressCallback | None:
    """Return who follows a part as a part of the whole."""
    if watch is None:
        return None
    return lambda progress: watch(replace(progress, done=done + progress.done, total=total))


def _is_settled(controls: ControlSet, rows: Sequence[Mapping[str, Score]]) -> bool:
    """Whether too many controls have failed for the shown metric to be fit, whatever the others get."""
    metric = controls.metrics[0].name
    scores = [row[metric] for row in rows]
    failed = sum(score.value is None and score.outcome != "skipped_budget" for score in scores)
    return len(controls.controls) - failed < MIN_REPLY_RATE * len(controls.controls)


def _measure_metric(
    judge: Judge, controls: ControlSet, metric: Metric, scores: Sequence[Score], language: str
) -> JudgeScale | None:
    if not controls.has_bad:
        return None
    good, bad = (
        [
            score.value
            for control, score in zip(controls.controls, scores, strict=True)
            if control.is_good == side and score.value is not None
        ]
        for side in (True, False)
    )
    return measure_scale(
        good,
        bad,
        judge=fingerprint_judge(judge),
        name=judge.name,
        language=language,
        metric=metric.family,
        reply_rate=(len(good) + len(bad)) / len(scores),
        source="check",
        measured=f"{datetime.now(UTC):%Y-%m-%d}",
        baseline_accuracy=measure_baseline(controls),
        higher_is_better=metric.higher_is_better,
    )


def measure_baseline(controls: ControlSet) -> float:
    """Return the balanced accuracy of the simplest rule; always the same answer has 0.5."""
    good, bad = (
        [control.baseline for control in controls.controls if control.is_good == side]
        for side in (True, False)
    )
    if not controls.has_bad:
        return sum(good) / len(good)
    # with one control of a side nothing can be measured
    return max(0.5, measure_accuracy(good, bad)) if min(len(good), len(bad)) > 1 else 0.5


def _sum_up(
    controls: ControlSet,
    scores: Sequence[Score],
    scale: JudgeScale | None,
    usage: Usage,
    seconds: float,
) -> KindResult:
    scored = [
        (control, score)
        for control, score in zip(controls.controls, scores, strict=True)
        if score.value is not None
    ]
    failed = [score for score in scores if score.value is None]
    if scale is not None:  # estimated: the accuracy of the threshold, applied to all replies
        right = round(scale.balanced_accuracy * len(scored))
    else:
        right = 0 if controls.has_bad else sum(score.value == 1.0 for _, score in scored)
    return KindResult(
        kind=controls.kind,
        metric=controls.metrics[0].family,
        controls=len(scores),
        replies=len(scored),
        right=right,
        scale=scale,
        baseline_accuracy=measure_baseline(controls),
        calibration_error=measure_calibration(scored),
        failures=dict(Counter(score.reason for score in failed).most_common()),
        skipped=sum(score.outcome == "skipped_budget" for score in failed),
        usage=usage,
        seconds=seconds,
        is_unreachable=all(score.kind == "transport" for score in scores),
        is_unanswered=all(score.code == "kind_unknown_offline" for score in scores),
    )


def measure_calibration(scored: Sequence[tuple[Control, Score]]) -> float | None:
    """Return the expected calibration error: how far stated chances are from shares of good controls, on average.

    None where not every score states a chance, or few do."""
    stated = [(read_chance(score), control.is_good) for control, score in scored]
    chances = [(chance, is_good) for chance, is_good in stated if chance is not None]
    if len(chances) < max(len(stated), MIN_CONTROLS):
        return None
    bins: dict[int, list[tuple[float, bool]]] = {}
    for chance, is_good in chances:
        bins.setdefault(min(int(chance * CALIBRATION_BINS), CALIBRATION_BINS - 1), []).append(
            (chance, is_good)
        )
    gaps = [
        abs(sum(chance for chance, _ in members) - sum(is_good for _, is_good in members))
        for members in bins.values()
    ]
    return sum(gaps) / len(chances)


def read_chance(score: Score) -> float | None:
    """Return the chance that a score states: its own, or the mean of its findings where each has one."""
    if score.probability is not None:
        return score.probability
    chances: list[Any] = [finding.probability for finding in score.findings]
    if not chances or None in chances:
        return None
    return float(sum(chances) / len(chances))
