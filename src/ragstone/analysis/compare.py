"""Runs compared: for each metric the paired difference, whether it is more than chance, and what to call it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.changes import SampleChange, find_changed_questions, find_changes
from ragstone.analysis.columns import (
    RESOURCES,
    ComparableRun,
    SamplePairs,
    is_failure,
    match_samples,
    read_columns,
)
from ragstone.analysis.corrected import MetricCorrection
from ragstone.analysis.paired import PairedDifference, compare_pairs
from ragstone.analysis.power import POWER, detectable_difference, round_up_questions
from ragstone.analysis.significance import ALPHA, Correction, adjust_p_values
from ragstone.analysis.stats import MIN_CLUSTERS
from ragstone.analysis.summary import COVERAGE_FLOOR
from ragstone.errors import RagstoneError, UnknownMetric, suggest_nearest
from ragstone.locale.messages import compose

if TYPE_CHECKING:
    from ragstone.store import RunInfo

Verdict = Literal["better", "worse", "equivalent", "unclear", "withheld"]

MARGIN = 0.02
"""Differences within this share of a metric's range do not matter, unless the user says otherwise."""
RELATIVE_MARGIN = 0.05
"""The same for metrics without a range, as a share of the baseline's mean."""
ONE_SIDED = 0.05
"""Beyond this share of samples that a metric applies to on one side only, a warning."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What one metric says of a run against the baseline, on the samples scored in both."""

    metric: str
    run: str
    """Id of the run that is compared with the baseline."""
    higher_is_better: bool
    bounds: tuple[float, float] | None
    resource: bool
    """Whether it measures what answers took (latency, tokens, cost), not how good they are."""
    pairs: int
    applicable: int
    """Shared samples that the metric applies to on both sides; some of them may have failed."""
    before: float | None
    after: float | None
    difference: float | None
    """After minus before."""
    low: float | None
    high: float | None
    clusters: int | None
    p: float | None
    adjusted: float | None
    """p corrected for everything that the comparison shows."""
    test: str
    improved: int
    unchanged: int
    worsened: int
    left_out: dict[str, int]
    """Why shared samples do not count: `before: judge_error: refusal` → number of samples."""
    margin: float
    """A difference up to this size does not matter."""
    verdict: Verdict
    detectable: float | None
    """The difference this comparison would have called one, 4 times in 5."""
    effect: float
    needed: int | None
    """About how many questions would show a difference of `effect`."""
    warnings: tuple[str, ...] = ()
    corrected: MetricCorrection | None = None
    """What labels of people say of the difference; None without labels in both runs."""

    @property
    def coverage(self) -> float | None:
        """Pairs scored on both sides, of those that could be."""
        return self.pairs / self.applicable if self.applicable else None

    @property
    def slight(self) -> bool:
        """Whether it is a difference, but one too small to matter."""
        return (
            self.verdict in ("better", "worse")
            and self.difference is not None
            and abs(self.difference) <= self.margin
        )


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One run against the baseline."""

    run: RunInfo
    pairs: int
    only_before: int
    only_after: int
    differences: tuple[Difference, ...]
    only_metrics_before: tuple[str, ...]
    only_metrics_after: tuple[str, ...]
    regressed: tuple[SampleChange, ...]
    """Samples that became worse, the worst first."""
    fixed: tuple[SampleChange, ...]
    regressed_count: int
    fixed_count: int
    other_questions: tuple[str, ...]
    """Ids of looked-at samples whose question is not the same in both runs."""

    def __getitem__(self, metric: str) -> Difference:
        for difference in self.differences:
            if difference.metric == metric:
                return difference
        names = [difference.metric for difference in self.differences]
        raise UnknownMetric(f"the runs share no metric {metric!r}{suggest_nearest(metric, names)}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several runs against one."""

    baseline: RunInfo
    versus: tuple[RunComparison, ...]
    correction: Correction
    tests: int
    """How many p-values were corrected together."""
    floor: float
    judged: tuple[str, ...] = ()
    """Metrics named by the user; a regression on any other resource is shown but fails nothing."""

    @property
    def regressions(self) -> tuple[Difference, ...]:
        """Where a run is worse in a metric that counts."""
        return tuple(
            difference
            for run in self.versus
            for difference in run.differences
            if difference.verdict == "worse"
            and (not difference.resource or difference.metric in self.judged)
        )

    @property
    def exit_code(self) -> int:
        """For `--fail-on-regression`: 1 if a run is worse, else 3 if a verdict had to be withheld, else 0."""
        if self.regressions:
            return 1
        verdicts = [difference.verdict for run in self.versus for difference in run.differences]
        return 3 if "withheld" in verdicts else 0

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON."""
        plain = asdict(self) | {"baseline": self.baseline.to_json()}
        for versus, comparison in zip(plain["versus"], self.versus, strict=True):
            versus["run"] = comparison.run.to_json()
            for row, difference in zip(versus["differences"], comparison.differences, strict=True):
                row["coverage"] = difference.coverage
        for info in (plain["baseline"], *(versus["run"] for versus in plain["versus"])):
            for key in ("shape", "metrics", "bad"):
                info.pop(key)
        regressions = [
            {"run": regression.run, "metric": regression.metric} for regression in self.regressions
        ]
        return plain | {"regressions": regressions, "exit_code": self.exit_code}


def attach_corrections(
    comparison: Comparison, corrections: Mapping[str, Mapping[str, MetricCorrection]]
) -> Comparison:
    """The comparison with what labels say of its differences: run → metric → correction."""
    versus = [
        replace(
            compared,
            differences=tuple(
                replace(d, corrected=corrections.get(d.run, {}).get(d.metric))
                for d in compared.differences
            ),
        )
        for compared in comparison.versus
    ]
    return replace(comparison, versus=tuple(versus))


def compare(
    runs: Sequence[ComparableRun],
    *,
    baseline: int = 0,
    metrics: Sequence[str] | None = None,
    margin: float = MARGIN,
    effect: float | None = None,
    correction: Correction = "holm",
    floor: float = COVERAGE_FLOOR,
    samples: int = 20,
) -> Comparison:
    """Compare each run with the baseline, sample by sample; `samples` of those that changed most are kept."""
    if len(runs) < 2:
        raise RagstoneError("a comparison needs at least two runs; name another")
    _check_metrics(runs, metrics)
    base = read_columns(runs[baseline], metrics)
    comparisons = []
    for number, run in enumerate(runs):
        if number != baseline:
            pair = match_samples(base, read_columns(run, metrics))
            comparisons.append(_compare_run(runs[baseline], run, pair, margin, floor, samples))
    tested = [d for comparison in comparisons for d in comparison.differences if d.p is not None]
    # over all runs and metrics together: everything that the report shows is one family of tests
    ps = adjust_p_values([d.p for d in tested if d.p is not None], correction)
    corrected = {(d.run, d.metric): p for d, p in zip(tested, ps, strict=True)}
    judged = tuple(
        _decide_verdicts(comparison, corrected, len(tested), correction, floor, effect)
        for comparison in comparisons
    )
    return Comparison(base.info, judged, correction, len(tested), floor, tuple(metrics or ()))


def _check_metrics(runs: Sequence[ComparableRun], metrics: Sequence[str] | None) -> None:
    shared = set.intersection(*({str(m["name"]) for m in run.info.metrics} for run in runs))
    for name in metrics or ():
        if name not in shared:
            raise UnknownMetric(
                f"not all runs have a metric {name!r}{suggest_nearest(name, sorted(shared))}"
            )
    if not shared:
        raise RagstoneError(
            "the runs share no metric; score them with the same ones (`ragstone eval -m …`)"
        )


def _compare_run(
    before: ComparableRun,
    after: ComparableRun,
    pair: SamplePairs,
    margin: float,
    floor: float,
    samples: int,
) -> RunComparison:
    if not pair.pairs:
        raise RagstoneError(
            f"{pair.before.info.name!r} and {pair.after.info.name!r} share no sample id; "
            "compare runs of the same questions, with ids"
        )
    own, theirs = pair.before.values, pair.after.values
    differences = [_compare_metric(pair, name, margin) for name in own if name in theirs]
    moved = find_changes(pair, differences, samples)
    return RunComparison(
        run=pair.after.info,
        pairs=pair.pairs,
        only_before=pair.only_before,
        only_after=pair.only_after,
        differences=tuple(differences),
        only_metrics_before=tuple(name for name in own if name not in theirs),
        only_metrics_after=tuple(name for name in theirs if name not in own),
        regressed=moved.regressed,
        fixed=moved.fixed,
        regressed_count=moved.regressed_count,
        fixed_count=moved.fixed_count,
        other_questions=find_changed_questions(before, after, pair),
    )


def _compare_metric(pair: SamplePairs, name: str, margin: float) -> Difference:
    import numpy as np

    described = pair.before.describe_metric(name)
    bounds = described.get("bounds")
    limits = (float(bounds[0]), float(bounds[1])) if bounds is not None else None
    old, new = pair.before.values[name][pair.left], pair.after.values[name][pair.right]
    both = ~(np.isnan(old) | np.isnan(new))
    groups = None if pair.groups is None else pair.groups[both]
    paired = compare_pairs(
        old[both], new[both], groups, bounds=limits, binary=bool(described.get("binary"))
    )
    # `margin` is a share of the range; `reach` below is in the metric's own units
    left_out, failures = _count_excluded(pair, name, both)
    reach = (
        margin * (limits[1] - limits[0]) if limits else RELATIVE_MARGIN * abs(paired.before or 0)
    )
    higher = bool(described.get("higher_is_better", True))
    return Difference(
        metric=name,
        run=pair.after.info.id,
        higher_is_better=higher,
        bounds=limits,
        resource=str(described.get("family", name)) in RESOURCES,
        pairs=paired.pairs,
        applicable=paired.pairs + failures,
        before=paired.before,
        after=paired.after,
        difference=paired.difference,
        low=paired.interval.low,
        high=paired.interval.high,
        clusters=paired.clusters,
        p=paired.p,
        adjusted=None,
        test=paired.test,
        improved=paired.risen if higher else paired.fallen,
        unchanged=paired.pairs - paired.risen - paired.fallen,
        worsened=paired.fallen if higher else paired.risen,
        left_out=left_out,
        margin=reach,
        verdict="unclear",
        detectable=None,
        effect=reach,
        needed=None,
        warnings=_collect_warnings(paired, pair, left_out),
    )


def _count_excluded(pair: SamplePairs, name: str, both: Any) -> tuple[dict[str, int], int]:
    """Why samples were left out, counted by side and end; and how many of them are failures."""
    import numpy as np

    counts: Counter[str] = Counter()
    failures = 0
    for index in np.flatnonzero(~both).tolist():
        ends = {
            side: end
            for side, end in (
                ("before", pair.before.ends[name].get(int(pair.left[index]))),
                ("after", pair.after.ends[name].get(int(pair.right[index]))),
            )
            if end is not None
        }
        key = ("both", ends["before"]) if len(set(ends.values())) < len(ends) else None
        for side, end in [key] if key else ends.items():
            counts[f"{side}: {end}"] += 1
        # A sample that the metric does not apply to on one side is no failure of the other.
        failures += all(is_failure(end) for end in ends.values())
    return dict(counts.most_common()), failures


def _collect_warnings(
    paired: PairedDifference, pair: SamplePairs, left_out: dict[str, int]
) -> tuple[str, ...]:
    one_sided = sum(
        n
        for key, n in left_out.items()
        if not key.startswith("both") and not is_failure(key.split(": ")[1])
    )
    warnings = list(paired.interval.warnings)
    if one_sided > ONE_SIDED * pair.pairs:
        warnings.append(compose("scored_on_one_side", n=one_sided, pairs=pair.pairs))
    return tuple(warnings)


def _decide_verdicts(
    comparison: RunComparison,
    corrected: dict[tuple[str, str], float],
    tests: int,
    correction: Correction,
    floor: float,
    effect: float | None,
) -> RunComparison:
    # the smallest of Holm's levels: what could be detected must not be promised too small
    alpha = ALPHA / tests if correction == "holm" and tests else ALPHA
    return replace(
        comparison,
        differences=tuple(
            _decide_verdict(d, corrected.get((d.run, d.metric)), alpha, floor, effect)
            for d in comparison.differences
        ),
    )


def _decide_verdict(
    difference: Difference, p: float | None, alpha: float, floor: float, effect: float | None
) -> Difference:
    wanted = difference.effect
    if effect is not None and difference.bounds is not None:
        wanted = effect * (difference.bounds[1] - difference.bounds[0])
    seen = needed = None
    if difference.low is not None and difference.high is not None:
        seen = detectable_difference((difference.high - difference.low) / 2, alpha, POWER)
        needed = round_up_questions(difference.pairs * (seen / wanted) ** 2) if wanted > 0 else None
    verdict: Verdict = "unclear"
    # The tolerance keeps 0.95 × 20 = 19 from being missed by a rounding error.
    if (
        p is None
        or difference.difference is None
        or difference.pairs < floor * difference.applicable - 1e-9
    ):
        verdict = "withheld"
    # both test and interval must agree before a run is called better or worse
    elif p <= ALPHA and not _includes_zero(difference):
        verdict = (
            "better" if (difference.difference > 0) == difference.higher_is_better else "worse"
        )
    elif _is_within_margin(difference):
        verdict = "equivalent"
    return replace(
        difference, adjusted=p, verdict=verdict, detectable=seen, effect=wanted, needed=needed
    )


def _includes_zero(difference: Difference) -> bool:
    """Whether the interval allows no difference at all; a few outliers can make it so although most samples moved."""
    return (
        difference.low is not None
        and difference.high is not None
        and difference.low <= 0 <= difference.high
    )


def _is_within_margin(difference: Difference) -> bool:
    """Whether the whole interval is; without one, whether no sample of many moved at all."""
    if difference.low is None or difference.high is None:
        return difference.unchanged == difference.pairs >= MIN_CLUSTERS
    return -difference.margin <= difference.low and difference.high <= difference.margin
