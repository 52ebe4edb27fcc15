"""The overall metric: a weighted mean of several metrics."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any

from ragstone.asks import Asking, together
from ragstone.errors import MissingField, NotApplicable, SystemFailed, UnknownMetric, Unscored
from ragstone.locale.messages import Message, compose
from ragstone.metrics.refusal import REFUSED_WRONGLY, find_refusal
from ragstone.registry import REGISTERED, Metric, metric, resolve
from ragstone.types import Finding, Sample, Score

DEFAULT_WEIGHTS: dict[str, float] = {
    "faithfulness": 0.30,
    "answer_relevance": 0.25,
    "completeness": 0.20,
    "hallucination_rate": 0.15,
    "coherence": 0.10,
}


def _check_options(options: Mapping[str, Any]) -> str | None:
    weights = options["weights"]
    for name, weight in weights.items():
        try:
            component = resolve(name)
        except UnknownMetric as unknown:
            return str(unknown)
        if component.family == "overall":
            return "it cannot weigh itself"
        if component.bounds != (0.0, 1.0):
            return f"{name!r} has no range of 0..1, so it cannot be weighed"
        if not 0 <= weight < math.inf:
            return f"the weight of {name!r} is {weight!r}; give a number from 0 on"
    return None if any(weights.values()) else "no component has a weight above 0"


@metric(check=_check_options)
def overall(sample: Sample, *, weights: Mapping[str, float] = DEFAULT_WEIGHTS) -> Asking[Score]:
    """Weighted mean of component scores; one that is better when lower counts as 1 − its value.

    Default weights: faithfulness 0.30, answer_relevance 0.25, completeness 0.20, hallucination_rate 0.15, coherence 0.10.
    A component that does not apply, or that this judge does not answer, leaves its weight to the others, and a warning says
    which; one that failed makes it not applicable. An answer that declines a question that has an answer has 0."""
    if sample.error is not None:
        raise SystemFailed(sample.error)
    answer = sample.answer or ""
    refusal = find_refusal(answer, sample.question, sample.reference, sample.meta, sample.language)
    if refusal == "wrong":
        return Score(0.0, reason=REFUSED_WRONGLY.reason)
    components = {name: _find_component(name) for name, weight in weights.items() if weight}
    scores = yield from together(
        *(_score_component(component, sample) for component in components.values())
    )
    failed: list[Message] = []
    left_out: list[Message] = []
    findings: list[Finding] = []
    total = weighed = 0.0
    for (name, component), score in zip(components.items(), scores, strict=True):
        if isinstance(score, Unscored) or score.value is None:
            (left_out if _is_left_out(score) else failed).append(
                compose(
                    "component_without_score", name=name, outcome=score.outcome, reason=score.reason
                )
            )
        else:
            goodness = score.value if component.higher_is_better else 1 - score.value
            total += weights[name] * goodness
            weighed += weights[name]
            findings.append(
                Finding(
                    name, f"{score.value:.3f}", compose("component_weight", weight=weights[name])
                )
            )
    if failed or not weighed:
        raise NotApplicable("no_component_score", missing=tuple(failed or left_out))
    return Score(total / weighed, findings=tuple(findings), warnings=tuple(left_out))


def _is_left_out(score: Score | Unscored) -> bool:
    """Whether a component does not apply, or is a kind of question that this judge leaves to others."""
    return score.outcome == "not_applicable" or getattr(score, "kind", None) == "unsupported"


def _find_component(name: str) -> Metric:
    """Look up a metric; a plain name, the usual case, is not parsed for every sample."""
    return REGISTERED[name] if name in REGISTERED else resolve(name)


def _score_component(component: Metric, sample: Sample) -> Asking[Score]:
    """Score the sample with a component."""
    missing = [name for name in component.needs if getattr(sample, name) is None]
    if missing:
        raise MissingField("missing_fields", field=tuple(missing))
    fields = [sample if name == "sample" else getattr(sample, name) for name in component.takes]
    result = component.function(*fields, **component.options)
    if isinstance(result, Generator):
        result = yield from result
    assert isinstance(result, Score)
    return result
