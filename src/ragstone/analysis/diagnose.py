"""What to do next: the causes of a run's failures, the one that explains most first, each with advice and a test of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragstone.analysis.advice import Cause, Condition, Symptom
from ragstone.analysis.classes import FailureClass, get_family
from ragstone.analysis.columns import ComparableRun, RunColumns, read_columns
from ragstone.analysis.effects import format_value
from ragstone.analysis.failures import Failures
from ragstone.analysis.slices import Slice

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary, Summary
    from ragstone.store import RunInfo

EXAMPLES = 3
WRONG_ANSWERS = {"en": "The answers are wrong", "es": "Las respuestas son erróneas"}
"""Title of wrong answers of which nothing shows whether the evidence was there."""


@dataclass(frozen=True, slots=True)
class SymptomEvidence:
    """What shows a symptom: a metric's mean or a class's share, and the samples behind it."""

    what: str
    """The metric, or the failure class."""
    value: float
    low: float | None
    high: float | None
    limit: float
    above: bool
    samples: int
    affected: int
    """Samples on the wrong side of the limit, or in the class."""
    examples: tuple[str, ...]
    """Ids of some of them, the worst first."""
    sure: bool
    """Whether the whole interval is on the wrong side."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to try, and why it may help."""

    cause: Mapping[str, str]
    advice: Mapping[str, str]
    command: str | None
    """The ablation that would test it, when the system has the parameters."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A symptom that a run shows."""

    symptom: str
    title: Mapping[str, str]
    evidence: tuple[SymptomEvidence, ...]
    advice: tuple[Advice, ...]
    kind: FailureClass | None = None
    """The failure class; None for a symptom that goes by metrics alone, which explains no failures."""
    share: float | None = None
    """Part of all failures that are of the class, errors of what decides them deducted."""
    expected: float = 0.0
    """Samples that those errors would put into the class."""
    slice: Slice | None = None
    """Where the class gathers, if anywhere."""
    metric: str | None = None
    """What decided the class, if a metric did."""

    @property
    def sure(self) -> bool:
        """Whether the evidence leaves no doubt."""
        return self.kind is not None or any(evidence.sure for evidence in self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain JSON."""
        return asdict(self) | {"sure": self.sure}


class _Measurements:
    """Everything that conditions look at; the values of samples are read only when a condition on a metric is met."""

    def __init__(self, run: ComparableRun, summary: Summary, failures: Failures) -> None:
        self.summary, self.failures = summary, failures
        self._run = run
        self._columns: RunColumns | None = None

    @property
    def columns(self) -> RunColumns:
        """The run's values, read when the first metric is looked at."""
        if self._columns is None:
            self._columns = read_columns(self._run)
        return self._columns


def diagnose(
    run: ComparableRun, summary: Summary, failures: Failures, symptoms: Sequence[Symptom]
) -> tuple[Diagnosis, ...]:
    """The symptoms that the run shows: the class that explains most failures first, then those by metrics alone."""
    measurements = _Measurements(run, summary, failures)
    shown = []
    for symptom in symptoms:
        evidence = [_find_evidence(condition, measurements) for condition in symptom.conditions]
        present = [item for item in evidence if item is not None]
        if not present or (symptom.every and len(present) < len(evidence)):
            continue
        shown.append(_build_diagnosis(symptom, present, run.info, failures))
    shown.sort(
        key=lambda diagnosis: (
            diagnosis.kind is None,
            -(diagnosis.share or 0.0),
            not diagnosis.sure,
            -max(e.affected / max(e.samples, 1) for e in diagnosis.evidence),
        )
    )
    return tuple(shown)


def _build_diagnosis(
    symptom: Symptom, evidence: Sequence[SymptomEvidence], info: RunInfo, failures: Failures
) -> Diagnosis:
    advice = tuple(_build_advice(cause, info) for cause in symptom.causes)
    kind = next((k for k in failures.shown if any(item.what == k for item in evidence)), None)
    if kind is None:
        return Diagnosis(symptom.name, symptom.title, tuple(evidence), advice)
    decider = failures.deciders.get(kind)
    title = symptom.title
    if kind == "generation_failure" and "retrieval_failure" not in failures.deciders:
        title = WRONG_ANSWERS
    return Diagnosis(
        symptom.name,
        title,
        tuple(evidence),
        advice,
        kind=kind,
        share=failures.share_of_loss(kind),
        expected=failures.expected.get(kind, 0.0),
        slice=next(iter(failures.class_slices.get(kind, ())), None),
        metric=decider.metric if decider is not None else None,
    )


def _find_evidence(condition: Condition, measurements: _Measurements) -> SymptomEvidence | None:
    """What shows that the condition holds; None when it does not, or nothing was measured."""
    if condition.kind == "class":
        return _find_class_evidence(condition, measurements.failures)
    metric = _find_metric(condition.name, measurements.summary)
    if metric is None or metric.mean is None or not condition.is_met_by(metric.mean):
        return None
    import numpy as np

    values = measurements.columns.values[metric.metric]
    wrong = np.flatnonzero(
        values > condition.limit if condition.above else values < condition.limit
    )
    order = wrong[np.argsort(-values[wrong] if condition.above else values[wrong], kind="stable")]
    # the end of the interval that is nearest to health: beyond the limit even there means sure
    mildest = metric.low if condition.above else metric.high
    return SymptomEvidence(
        what=metric.metric,
        value=metric.mean,
        low=metric.low,
        high=metric.high,
        limit=condition.limit,
        above=condition.above,
        samples=metric.scored,
        affected=len(wrong),
        examples=tuple(measurements.columns.ids[int(i)] for i in order[:EXAMPLES]),
        sure=mildest is not None and condition.is_met_by(mildest),
    )


def _find_class_evidence(condition: Condition, failures: Failures) -> SymptomEvidence | None:
    """The class, if it has more samples than the errors of what decides it would make."""
    kind = next((shown for shown in failures.shown if shown == condition.name), None)
    rate = next((candidate for candidate in failures.rates if candidate.label == kind), None)
    if kind is None or rate is None or rate.rate is None or not condition.is_met_by(rate.rate):
        return None
    return SymptomEvidence(
        what=condition.name,
        value=rate.rate,
        low=rate.low,
        high=rate.high,
        limit=condition.limit,
        above=condition.above,
        samples=rate.total,
        affected=rate.count,
        examples=tuple(failure.id for failure in failures.examples[kind][:EXAMPLES]),
        sure=True,
    )


def _find_metric(family: str, summary: Summary) -> MetricSummary | None:
    """The run's metric of a family; of several, the first that was scored."""
    for metric in summary.metrics:
        if get_family(metric.metric) == family and metric.mean is not None:
            return metric
    return None


def _build_advice(cause: Cause, info: RunInfo) -> Advice:
    return Advice(cause.cause, cause.advice, format_ablation(info, cause.settings))


def format_ablation(info: RunInfo, settings: Mapping[str, Sequence[Any]]) -> str | None:
    """The command that tries these settings on the run's own questions; None when it cannot be typed.

    Data, system and judge must have been named: a Python object of the caller's has no name on the command line."""
    system, parameters = info.facts.system, info.facts.parameters
    fitting = {name: values for name, values in settings.items() if name in parameters}
    source = info.facts.source or info.source
    # a run with a judge that its plan does not name had the default one
    judge = info.plan.judge if info.plan.judge is not None else info.judge and "offline"
    if not (system and fitting and source) or info.facts.in_memory or isinstance(judge, Mapping):
        return None
    names = ",".join(str(metric["name"]) for metric in info.metrics)
    words = ["ragstone", "ablate", source, "--system", system, *_list_settings(info, fitting)]
    return shlex.join([*words, "-m", names, *(["--judge", judge] if judge else [])])


def _list_settings(info: RunInfo, varied: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """The flags for what is varied, the current value first (`ablate` compares the others with it), and what stays."""
    for name, values in varied.items():
        now = info.facts.parameters[name]
        tried = [now, *(value for value in values if value != now)]
        yield from ("--vary", f"{name}={','.join(map(format_value, tried))}")
    fixed = info.plan.system.settings if info.plan.system else {}
    for name in sorted(fixed.keys() - varied.keys()):
        yield from ("--set", f"{name}={format_value(fixed[name])}")
