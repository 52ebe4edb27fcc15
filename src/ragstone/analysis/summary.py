"""A run in figures: each metric's mean with its interval and coverage, the gates, and the worst samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragstone.analysis.batch import ScoredRun as ScoredRun
from ragstone.analysis.batch import add_scores
from ragstone.analysis.columns import RESOURCES
from ragstone.analysis.stats import Clusters, Interval, Moments, effective_size, mean_interval
from ragstone.analysis.tally import MetricTally
from ragstone.analysis.values import GroupNumbers
from ragstone.analysis.worst import WorstSamples
from ragstone.config.gates import GateResult, check_gate, parse_gate
from ragstone.errors import UnknownMetric, suggest_nearest
from ragstone.locale.messages import compose
from ragstone.types import FAILURES, Usage

if TYPE_CHECKING:
    from ragstone.analysis.cascade import CascadeSummary
    from ragstone.analysis.corrected import MetricCorrection
    from ragstone.analysis.percentiles import Percentile
    from ragstone.analysis.scales import UnfitGate
    from ragstone.analysis.value_versions import OutdatedGate
    from ragstone.store import RunInfo

COVERAGE_FLOOR = 0.95
"""Share of the applicable samples that must be scored for a metric to be complete."""
HISTOGRAM_BINS = 20
MAX_REASONS = 5


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """What one metric says of a whole run."""

    metric: str
    higher_is_better: bool
    bounds: tuple[float, float] | None
    binary: bool
    judged: bool
    total: int
    applicable: int
    """Samples it could judge: all but `not_applicable` and `missing_field`."""
    scored: int
    mean: float | None
    sd: float | None
    minimum: float | None
    maximum: float | None
    median: float | None
    low: float | None
    """Lower end of the 95 % interval of the mean."""
    high: float | None
    method: str
    """How the interval was found: `wilson`, `t` or `clustered t`; empty without one."""
    clusters: int | None
    """Independent pieces when samples are grouped (from 8,192 groups on, some are joined); else None."""
    outcomes: dict[str, int]
    """Every outcome but ok → count; `judge_error: refusal` names the fault."""
    reasons: dict[str, int]
    """The most common reasons for no score → count, failures first."""
    if_failures_low: float | None
    """The mean if every failure had the lowest value; None without failures or bounds."""
    if_failures_high: float | None
    labels: dict[str, int]
    histogram: tuple[int, ...]
    edges: tuple[float, ...]
    usage: Usage
    warnings: tuple[str, ...]
    complete: bool
    """Whether enough of the applicable samples were scored."""
    incomplete: str = ""
    """Why it is not, in a sentence."""
    corrected: MetricCorrection | None = None
    """What labels of people say of the mean; None when nobody labelled what the metric judges."""
    cascade: CascadeSummary | None = None
    """What the second judge was asked, when the judge is a cascade."""
    percentiles: dict[str, Percentile] = field(default_factory=dict)
    """Of latency: the `LATENCY_PERCENTILES`."""

    @property
    def coverage(self) -> float | None:
        """Scored out of applicable; None when the metric applies to no sample."""
        return self.scored / self.applicable if self.applicable else None

    @property
    def corrected_ends(self) -> tuple[float, float] | None:
        """Ends of the interval of the corrected mean, which gates read."""
        estimate = self.corrected.estimate if self.corrected is not None else None
        return None if estimate is None else (estimate.low, estimate.high)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run adds up to."""

    run: RunInfo
    metrics: tuple[MetricSummary, ...]
    floor: float
    gates: tuple[GateResult, ...]
    worst: tuple[int, ...]
    """Positions of the samples to look at first; see `WorstSamples` for the order."""
    samples: int = 0
    unfit_gates: tuple[UnfitGate, ...] = ()
    """Gates on metrics that the judge was found not fit for."""
    outdated_gates: tuple[OutdatedGate, ...] = ()
    """Missed gates that were set before the values of their metric changed."""

    @property
    def usage(self) -> Usage:
        """What the run paid, and the replies that it did not have to pay for."""
        return replace(self.run.usage, hits=sum(metric.usage.hits for metric in self.metrics))

    @property
    def exit_code(self) -> int:
        """3 if a metric is incomplete or a gate cannot be decided, else 1 if a gate is missed, else 0."""
        undecided = any(gate.passed is None for gate in self.gates)
        if undecided or not all(metric.complete for metric in self.metrics):
            return 3
        return 1 if any(gate.passed is False for gate in self.gates) else 0

    @property
    def refusals(self) -> Mapping[str, int]:
        """Samples that were answered, refused rightly, refused wrongly, or answered without an answer; empty where no
        metric tells."""
        tellers = (m.labels for m in self.metrics if "false_refusal" in m.labels)
        return max(tellers, key=lambda labels: sum(labels.values()), default={})

    def __getitem__(self, metric: str) -> MetricSummary:
        for summary in self.metrics:
            if summary.metric == metric:
                return summary
        names = [summary.metric for summary in self.metrics]
        raise UnknownMetric(f"this run has no metric {metric!r}{suggest_nearest(metric, names)}")

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON: every number finite, what is unknown null."""
        plain: dict[str, Any] = _to_plain(asdict(self) | {"run": self.run.to_json()})
        for metric, summary in zip(plain["metrics"], self.metrics, strict=True):
            metric["coverage"] = summary.coverage
        return plain | {"exit_code": self.exit_code}


def summarise(
    run: ScoredRun,
    *,
    floor: float = COVERAGE_FLOOR,
    gates: Mapping[str, str] | None = None,
    worst: int = 1000,
    corrections: Mapping[str, MetricCorrection] | None = None,
    cascades: Mapping[str, CascadeSummary] | None = None,
) -> Summary:
    """Read a run's scores once, in constant memory, and say what they add up to.

    `corrections` is what labels say of metrics, as `ragstone.labels.correct_run` finds it,
    `cascades` what `summarise_cascade` does."""
    tallies = [MetricTally(described) for described in run.info.metrics]
    rules = {name: parse_gate(rule) for name, rule in (gates or {}).items()}
    names = [tally.name for tally in tallies]
    for name in rules:
        if name not in names:
            raise UnknownMetric(
                f"a gate on {name!r}, which is not among the metrics{suggest_nearest(name, names)}"
            )
    groups, first = GroupNumbers(), WorstSamples(worst)
    samples = add_scores(run, tallies, groups, first)
    corrected, cascaded = corrections or {}, cascades or {}
    metrics = tuple(
        replace(
            _metric_summary(tally, groups, floor),
            corrected=corrected.get(tally.name),
            cascade=cascaded.get(tally.name),
        )
        for tally in tallies
    )
    by_name = {metric.metric: metric for metric in metrics}
    # gates last, on the finished figures
    results = tuple(check_gate(gate, by_name[name]) for name, gate in rules.items())
    return Summary(run.info, metrics, floor, results, first.positions(), samples)


def _metric_summary(tally: MetricTally, groups: GroupNumbers, floor: float) -> MetricSummary:
    unscored = sum(tally.outcomes.values())
    scored = tally.total - unscored
    failed = sum(tally.count(outcome) for outcome in FAILURES)
    applicable = scored + failed
    moments = tally.values.moments()
    clusters = tally.values.clusters(groups)
    interval = Interval()
    if moments is not None:
        interval = mean_interval(
            moments,
            bounds=tally.bounds,
            binary=tally.binary,
            clusters=clusters,
            positive=tally.family in RESOURCES,
        )
    mean = moments.mean if moments else None
    histogram, edges = _build_histogram(tally)
    why = _explain_incomplete(tally, scored, applicable, floor)
    return MetricSummary(
        metric=tally.name,
        higher_is_better=tally.higher_is_better,
        bounds=tally.bounds,
        binary=tally.binary,
        judged=tally.judged,
        total=tally.total,
        applicable=applicable,
        scored=scored,
        mean=mean,
        sd=moments.sd if moments else None,
        minimum=tally.values.minimum,
        maximum=tally.values.maximum,
        median=tally.values.median(),
        low=interval.low,
        high=interval.high,
        method=interval.method,
        clusters=clusters.count if clusters is not None else None,
        outcomes=dict(sorted(tally.outcomes.items())),
        reasons=_collect_reasons(tally),
        if_failures_low=_if_failures(tally, mean, scored, failed, 0),
        if_failures_high=_if_failures(tally, mean, scored, failed, 1),
        labels=tally.labels,
        histogram=histogram,
        edges=edges,
        usage=tally.usage,
        warnings=_collect_warnings(tally, interval),
        complete=not why,
        incomplete=why,
        percentiles=_find_percentiles(tally, moments, clusters),
    )


def _find_percentiles(
    tally: MetricTally, moments: Moments | None, clusters: Clusters | None
) -> dict[str, Percentile]:
    if moments is None or tally.family != "latency":
        return {}
    from ragstone.analysis.percentiles import find_percentiles

    return find_percentiles(tally.values, effective_size(moments, clusters))


def _explain_incomplete(tally: MetricTally, scored: int, applicable: int, floor: float) -> str:
    """Why a metric is not complete; empty when it is.

    A metric that applies to no sample is complete when every sample says so (`not_applicable`), and incomplete when a
    field is missing: then it was asked for and could not be given."""
    if not tally.total:
        return compose("run_without_samples", metric=tally.name)
    if not applicable:
        missing = tally.count("missing_field")
        if not missing:
            return ""
        reason = next(
            iter(tally.missing_reasons.list_most_common(1)), compose("some_field_missing")
        )
        code = "no_sample_scorable" if missing == tally.total else "no_applicable_scorable"
        return compose(code, metric=tally.name, reason=reason, missing=missing, total=tally.total)
    # The tolerance keeps 0.95 × 20 = 19 from being missed by a rounding error.
    if scored >= floor * applicable - 1e-9:
        return ""
    return compose(
        "under_coverage_floor",
        metric=tally.name,
        scored=scored,
        applicable=applicable,
        share=scored / applicable,
        floor=floor,
    )


def _collect_reasons(tally: MetricTally) -> dict[str, int]:
    reasons = tally.failure_reasons.list_most_common(MAX_REASONS)
    for reason, n in tally.other_reasons.list_most_common(MAX_REASONS).items():
        if len(reasons) < MAX_REASONS or reason in reasons:
            reasons[reason] = reasons.get(reason, 0) + n
    return reasons


def _if_failures(
    tally: MetricTally, mean: float | None, scored: int, failed: int, bound: int
) -> float | None:
    """The mean if every failure had the lowest value (`bound` 0) or the highest (1)."""
    if tally.bounds is None or not failed or (scored and mean is None):
        return None
    return ((mean or 0.0) * scored + tally.bounds[bound] * failed) / (scored + failed)


def _collect_warnings(tally: MetricTally, interval: Interval) -> tuple[str, ...]:
    warnings = list(interval.warnings)
    if tally.values.huge:
        warnings.append(compose("values_too_large"))
    for text, n in tally.warnings.list_most_common(MAX_REASONS).items():
        if n == 1:
            warnings.append(compose("in_samples.one", warning=text))
        else:
            warnings.append(compose("in_samples.many", warning=text, n=n))
    return tuple(warnings)


def _build_histogram(tally: MetricTally) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Counts in equal bins over the metric's bounds, or from the least value to the largest."""
    import numpy as np

    table, counts = tally.values.table()
    if not len(table):
        return (), ()
    low, high = tally.bounds or (float(table[0]), float(table[-1]))
    width = high / 2 - low / 2  # half of it cannot overflow
    bins = 2 if tally.binary else HISTOGRAM_BINS if width > 0 else 1
    # A value on an edge belongs to the bin above it, also where 0.15 / 0.05 comes out below 3.
    share = (table / 2 - low / 2) / width if width > 0 else np.zeros(len(table))
    index = np.clip(np.floor(share * bins + 1e-9), 0, bins - 1).astype(np.int64)
    histogram = np.bincount(index, counts, minlength=bins)
    edges = [low * (1 - i / bins) + high * (i / bins) for i in range(bins)] + [high]
    return tuple(int(n) for n in histogram), tuple(edges)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    return value
