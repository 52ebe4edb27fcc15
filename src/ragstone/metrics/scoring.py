"""Scoring of one sample with one metric: whatever the metric does, the result is a Score."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from ragstone.asks import Asking
from ragstone.errors import JudgeFailed, JudgeFault, Unscored
from ragstone.locale.messages import compose
from ragstone.registry import Metric
from ragstone.types import SYSTEM_FIELDS, OutcomeKind, Sample, Score

Start = Callable[[Sample], "Score | Asking[Any]"]
"""Scores a sample, or returns the generator of a metric that asks a judge."""


def build_starter(metric: Metric) -> Start:
    """Build a function that scores a sample and never raises: an exception of the metric is an outcome."""
    function, options = metric.function, dict(metric.options)
    get_fields = _build_getter(metric.takes)
    needed = [(name, metric.takes.index(name)) for name in metric.needs]
    judges_system = not SYSTEM_FIELDS.isdisjoint(metric.takes) or "sample" in metric.takes
    finish = build_finisher(metric)
    low, high = metric.bounds or (-math.inf, math.inf)

    def start(sample: Sample) -> Score | Asking[Any]:
        if judges_system and sample.error is not None:
            return Score(outcome="system_error", reason=sample.error)
        fields = get_fields(sample)
        for name, index in needed:
            if fields[index] is None:
                return _build_missing(name)
        try:
            result = function(*fields, **options)
        except Exception as raised:
            return to_outcome(raised)
        if type(result) is Score:  # the common case, a million times over
            value = result.value
            return result if value is not None and low <= value <= high else finish(result)
        if isinstance(result, Generator):
            return result
        return finish(result)

    return start


def build_finisher(metric: Metric) -> Callable[[Any], Score]:
    """Build a function that converts the result of the metric to a Score within its bounds."""
    low, high = metric.bounds or (-math.inf, math.inf)

    def finish(result: Any) -> Score:
        if type(result) is Score:
            score = result
        else:
            try:
                score = Score(float(result))
            except (TypeError, ValueError, OverflowError):
                return _build_metric_error(compose("score_not_finite", value=repr(result)))
        value = score.value
        if value is not None and not low <= value <= high:
            return _build_metric_error(
                compose("score_out_of_range", value=repr(value), low=low, high=high)
            )
        return score

    return finish


def to_outcome(raised: BaseException) -> Score:
    """Convert an exception of a metric to its outcome."""
    if isinstance(raised, Unscored):
        outcome: OutcomeKind = raised.outcome  # type: ignore[assignment]
        kind = raised.kind if isinstance(raised, JudgeFailed) else None
        return _build_outcome(outcome, raised.reason, kind, raised.label)
    return _build_metric_error(f"{type(raised).__name__}: {raised}")


def add_notes(score: Score, notes: Mapping[str, None]) -> Score:
    """Add the notes of the judge's replies to the warnings of a score."""
    new = tuple(note for note in notes if note not in score.warnings)
    return replace(score, warnings=score.warnings + new) if new else score


def _build_metric_error(reason: str) -> Score:
    return Score(outcome="metric_error", reason=reason)


@lru_cache(maxsize=256, typed=True)  # a message is not the plain text of the same words
def _build_outcome(
    outcome: OutcomeKind, reason: str, kind: JudgeFault | None, label: str | None
) -> Score:
    return Score(outcome=outcome, reason=reason, kind=kind, label=label)


@lru_cache(maxsize=32)
def _build_missing(name: str) -> Score:
    return Score(outcome="missing_field", reason=compose("missing_field", field=name))


def _build_getter(takes: tuple[str, ...]) -> Callable[[Sample], tuple[Any, ...]]:
    if "sample" in takes:
        return lambda sample: tuple(
            sample if name == "sample" else getattr(sample, name) for name in takes
        )
    if not takes:
        return lambda sample: ()
    if len(takes) == 1:
        only = attrgetter(takes[0])
        return lambda sample: (only(sample),)
    return attrgetter(*takes)


def score_unjudged(starts: Mapping[str, Start], sample: Sample) -> dict[str, Score]:
    """Score a sample with every metric; none of them may ask a judge."""
    return {name: start(sample) for name, start in starts.items()}  # type: ignore[misc]
