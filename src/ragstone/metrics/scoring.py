"""One metric on one sample: fields in, a Score out, whatever the metric does."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping
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
"""Scores a sample at once, or begins to ask."""


def build_starter(metric: Metric) -> Start:
    """The metric as a function of a sample that never raises: a bug in it is an outcome too."""
    function, options = metric.function, dict(metric.options)
    arguments = _build_getter(metric.takes)
    needed = [(name, metric.takes.index(name)) for name in metric.needs]
    of_system = not SYSTEM_FIELDS.isdisjoint(metric.takes) or "sample" in metric.takes
    finish = build_finisher(metric)
    low, high = metric.bounds or (-math.inf, math.inf)

    def start(sample: Sample) -> Score | Asking[Any]:
        if of_system and sample.error is not None:
            return Score(outcome="system_error", reason=sample.error)
        fields = arguments(sample)
        for name, place in needed:
            if fields[place] is None:
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
    """What the metric returned, as a Score within its bounds."""
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
    """The outcome that an exception from a metric stands for."""
    if isinstance(raised, Unscored):
        outcome: OutcomeKind = raised.outcome  # type: ignore[assignment]
        kind = raised.kind if isinstance(raised, JudgeFailed) else None
        return _build_outcome(outcome, raised.reason, kind, raised.label)
    return _build_metric_error(f"{type(raised).__name__}: {raised}")


def add_notes(score: Score, notes: Mapping[str, None]) -> Score:
    """The score with what its replies want a reader to know."""
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
    """Every metric on a sample, for metrics that ask no judge."""
    return {name: start(sample) for name, start in starts.items()}  # type: ignore[misc]


def list_failures(scores: Mapping[str, Score], kinds: frozenset[OutcomeKind]) -> Iterator[str]:
    """Names of the metrics whose outcome is one of these."""
    return (name for name, score in scores.items() if score.outcome in kinds)
