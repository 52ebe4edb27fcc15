"""Runs compared: for each metric the difference of means, whether it is more than chance, and what to call it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.analysis.changes import find_changed_questions, find_changes, has_same_answers
from ragstone.analysis.columns import (
    RESOURCES,
    ComparableRun,
    RunColumns,
    SamplePairs,
    is_failure,
    match_samples,
    number_groups,
    read_columns,
)
from ragstone.analysis.comparison import (
    Comparison,
    Difference,
    Family,
    RunComparison,
    from_exclusion_key,
    to_exclusion_key,
)
from ragstone.analysis.paired import MeanDifference, compare_pairs
from ragstone.analysis.percentiles import compare_percentiles
from ragstone.analysis.significance import ALPHA, Correction
from ragstone.analysis.summary import COVERAGE_FLOOR
from ragstone.analysis.unpaired import compare_sets
from ragstone.analysis.value_versions import explain_changed_values, find_changed_values
from ragstone.analysis.verdicts import MeasuredDifference, decide_verdicts
from ragstone.errors import RagstoneError, UnknownMetric, suggest_nearest
from ragstone.locale.messages import compose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MARGIN = 0.02
"""Differences within this share of a metric's range do not matter, unless the user says otherwise."""
RELATIVE_MARGIN = 0.05
"""The same for metrics without a range, as a share of the baseline's mean."""
ONE_SIDED = 0.05
"""Beyond this share of samples that a metric applies to on one side only, a warning."""


def compare(
    runs: Sequence[ComparableRun],
    *,
    baseline: int = 0,
    metrics: Sequence[str] | None = None,
    primary: str | None = None,
    margin: float = MARGIN,
    effect: float | None = None,
    correction: Correction = "bonferroni",
    floor: float = COVERAGE_FLOOR,
    samples: int = 20,
    unpaired: bool = False,
    anyway: bool = False,
) -> Comparison:
    """Compare each run with the baseline, sample by sample; `samples` of those that changed most are kept.

    The primary metric is tested outside the others; without one it is that of the baseline's first gate. `unpaired` runs
    are sets of different samples, as of two weeks. Runs in which a metric means something else are refused, unless they
    are to be compared `anyway`."""
    if len(runs) < 2:
        raise RagstoneError("a comparison needs at least two runs; name another")
    metrics, primary = _choose_metrics(runs, baseline, metrics, primary)
    changed = find_changed_values(runs, metrics)
    if changed and not anyway:
        raise explain_changed_values(runs, changed)
    base = read_columns(runs[baseline], metrics)
    criteria = _Criteria(margin, primary)
    others = [run for number, run in enumerate(runs) if number != baseline]
    compared = [
        _compare_sets_of(base, read_columns(run, metrics), criteria) if unpaired
        else _compare_pairs_of(
            (runs[baseline], run), match_samples(base, read_columns(run, metrics)), criteria, samples
        )
        for run in others
    ]  # fmt: skip
    everything = [one for _, measured in compared for one in measured]
    decided, tests = decide_verdicts(everything, correction, floor, effect)
    # the verdicts come in the order of `everything`: each run takes as many as it has differences
    rest = iter(decided)
    versus = tuple(
        replace(comparison, differences=tuple(next(rest) for _ in measured))
        for comparison, measured in compared
    )
    return Comparison(
        base.info,
        versus,
        correction,
        tests,
        floor,
        primary,
        paired=not unpaired,
        judged=tuple(metrics or ()),
        changed_values=changed,
    )


@dataclass(frozen=True, slots=True)
class _Criteria:
    """What makes a difference matter, and which metric decides."""

    margin: float
    primary: str | None

    def find_test_family(self, name: str, resource: bool) -> Family:
        return "primary" if name == self.primary else "resource" if resource else "quality"


def _choose_metrics(
    runs: Sequence[ComparableRun], baseline: int, metrics: Sequence[str] | None, primary: str | None
) -> tuple[Sequence[str] | None, str | None]:
    """The metrics to compare, None for all, and the one that decides: as named, else that of the first gate."""
    shared = _check_metrics(runs, [*(metrics or ()), *([primary] if primary else [])])
    if metrics and primary and primary not in metrics:
        return [primary, *metrics], primary
    if primary is None:
        primary = next((name for name in runs[baseline].info.plan.gates if name in shared), None)
    return metrics, primary


def _check_metrics(runs: Sequence[ComparableRun], metrics: Sequence[str]) -> set[str]:
    """The metrics that all runs have; a mistake when they lack a named one, or have none in common."""
    shared = set.intersection(*({str(m["name"]) for m in run.info.metrics} for run in runs))
    for name in metrics:
        if name not in shared:
            raise UnknownMetric(
                f"not all runs have a metric {name!r}{suggest_nearest(name, sorted(shared))}"
            )
    if not shared:
        raise RagstoneError(
            "the runs share no metric; score them with the same ones (`ragstone eval -m …`)"
        )
    return shared


def _compare_pairs_of(
    runs: tuple[ComparableRun, ComparableRun], pair: SamplePairs, criteria: _Criteria, samples: int
) -> tuple[RunComparison, list[MeasuredDifference]]:
    if not pair.pairs:
        raise RagstoneError(
            f"{pair.before.info.name!r} and {pair.after.info.name!r} share no sample id; "
            "compare runs of the same questions, with ids, or two independent sets with --unpaired"
        )
    shared = [name for name in pair.before.values if name in pair.after.values]
    paired = [_compare_paired_metric(pair, name, criteria) for name in shared]
    differences = [difference for difference, _ in paired]
    # the answers are read only where some score is the same for every sample, which is rare
    is_candidate = any(d.pairs and d.unchanged == d.pairs and not d.resource for d in differences)
    same = is_candidate and has_same_answers(*runs, pair)
    moved = find_changes(pair, differences, samples)
    comparison = replace(
        _begin_comparison(pair.before, pair.after),
        pairs=pair.pairs,
        only_before=pair.only_before,
        only_after=pair.only_after,
        regressed=moved.regressed,
        fixed=moved.fixed,
        regressed_count=moved.regressed_count,
        fixed_count=moved.fixed_count,
        other_questions=find_changed_questions(*runs, pair),
        same_answers=same,
    )
    return comparison, [MeasuredDifference(d, means.interval_at, same) for d, means in paired]


def _compare_sets_of(
    before: RunColumns, after: RunColumns, criteria: _Criteria
) -> tuple[RunComparison, list[MeasuredDifference]]:
    if before.ids and set(before.ids) & set(after.ids):
        raise RagstoneError(
            f"{before.info.name!r} and {after.info.name!r} share sample ids; leave out --unpaired, "
            "pairs tell more"
        )
    names = [name for name in before.values if name in after.values]
    sets = [_compare_unpaired_metric(before, after, name, criteria) for name in names]
    return _begin_comparison(before, after), [
        MeasuredDifference(d, means.interval_at, False) for d, means in sets
    ]


def _begin_comparison(before: RunColumns, after: RunColumns) -> RunComparison:
    old, new = before.values, after.values
    return RunComparison(
        run=after.info,
        pairs=0,
        only_before=len(before.ids),
        only_after=len(after.ids),
        differences=(),
        only_metrics_before=tuple(name for name in old if name not in new),
        only_metrics_after=tuple(name for name in new if name not in old),
    )


def _compare_paired_metric(
    pair: SamplePairs, name: str, criteria: _Criteria
) -> tuple[Difference, MeanDifference]:
    import numpy as np

    old, new = pair.before.values[name][pair.left], pair.after.values[name][pair.right]
    both = ~(np.isnan(old) | np.isnan(new))
    groups = None if pair.groups is None else pair.groups[both]
    traits = _MetricTraits.read(pair.before, name)
    means = compare_pairs(
        old[both], new[both], groups, bounds=traits.bounds, binary=traits.binary, positive=traits.resource
    )  # fmt: skip
    left_out, failures = _count_excluded(pair, name, both)
    difference = _build_difference(traits, means, pair.after, criteria)
    applicable = means.pairs + failures
    return replace(
        difference,
        applicable=applicable,
        coverage=means.pairs / applicable if applicable else None,
        left_out=left_out,
        unchanged=means.pairs - means.risen - means.fallen,
        percentiles=traits.compare_percentiles((old[both], new[both]), (groups, groups)),
        warnings=_collect_warnings(means, pair, left_out),
    ), means


def _compare_unpaired_metric(
    before: RunColumns, after: RunColumns, name: str, criteria: _Criteria
) -> tuple[Difference, MeanDifference]:
    import numpy as np

    traits = _MetricTraits.read(before, name)
    values, groups, coverages = [], [], []
    applicable = 0
    left_out: Counter[str] = Counter()
    for side, columns in (("before", before), ("after", after)):
        scored = ~np.isnan(columns.values[name])
        numbers = number_groups(columns.groups)
        values.append(columns.values[name][scored])
        groups.append(None if numbers is None else numbers[scored])
        failed = sum(map(is_failure, columns.missing_outcomes[name].values()))
        left_out.update(
            to_exclusion_key(side, outcome) for outcome in columns.missing_outcomes[name].values()
        )
        side_applicable = int(scored.sum()) + failed
        applicable += side_applicable
        coverages.append(int(scored.sum()) / side_applicable if side_applicable else 0.0)
    means = compare_sets(
        values[0], values[1], (groups[0], groups[1]), bounds=traits.bounds, binary=traits.binary,
        positive=traits.resource,
    )  # fmt: skip
    difference = _build_difference(traits, means, after, criteria)
    return replace(
        difference,
        applicable=applicable,
        coverage=min(coverages) if applicable else None,
        left_out=dict(left_out.most_common()),
        percentiles=traits.compare_percentiles((values[0], values[1]), (groups[0], groups[1])),
        warnings=means.interval.warnings,
    ), means


@dataclass(frozen=True, slots=True)
class _MetricTraits:
    """What a run says of a metric, as far as a comparison needs it."""

    name: str
    metric_family: str
    higher_is_better: bool
    bounds: tuple[float, float] | None
    binary: bool

    @property
    def resource(self) -> bool:
        return self.metric_family in RESOURCES

    @classmethod
    def read(cls, columns: RunColumns, name: str) -> _MetricTraits:
        described = columns.describe_metric(name)
        bounds = described.get("bounds")
        return cls(
            name,
            str(described.get("family", name)),
            bool(described.get("higher_is_better", True)),
            (float(bounds[0]), float(bounds[1])) if bounds is not None else None,
            bool(described.get("binary")),
        )

    def compare_percentiles(
        self,
        values: tuple[NDArray[np.float64], NDArray[np.float64]],
        groups: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None],
    ) -> Any:
        # a sum of tokens or money is what is paid; of waiting times the slow ones count
        is_latency = self.metric_family == "latency"
        return compare_percentiles(*values, groups, ALPHA) if is_latency else ()


def _build_difference(
    traits: _MetricTraits, means: MeanDifference, after: RunColumns, criteria: _Criteria
) -> Difference:
    limits = traits.bounds
    # `margin` is a share of the range; in a Difference it is in the metric's own units
    margin_in_units = (
        criteria.margin * (limits[1] - limits[0]) if limits
        else RELATIVE_MARGIN * abs(means.before or 0)
    )  # fmt: skip
    plain = means.interval
    return Difference(
        metric=traits.name,
        run=after.info.id,
        higher_is_better=traits.higher_is_better,
        bounds=limits,
        resource=traits.resource,
        family=criteria.find_test_family(traits.name, traits.resource),
        pairs=means.pairs,
        applicable=means.pairs,
        coverage=None,
        before=means.before,
        after=means.after,
        difference=means.difference,
        clusters=means.clusters,
        p=means.p,
        test=means.test,
        improved=means.risen if traits.higher_is_better else means.fallen,
        unchanged=0,
        worsened=means.fallen if traits.higher_is_better else means.risen,
        left_out={},
        margin=margin_in_units,
        plain_low=plain.low,
        plain_high=plain.high,
    )


def _count_excluded(pair: SamplePairs, name: str, both: Any) -> tuple[dict[str, int], int]:
    """Why samples were left out, counted by side and outcome; and how many of them are failures."""
    import numpy as np

    counts: Counter[str] = Counter()
    failures = 0
    for index in np.flatnonzero(~both).tolist():
        outcomes = {
            side: outcome
            for side, outcome in (
                ("before", pair.before.missing_outcomes[name].get(int(pair.left[index]))),
                ("after", pair.after.missing_outcomes[name].get(int(pair.right[index]))),
            )
            if outcome is not None
        }
        # the same outcome on both sides is counted once
        key = ("both", outcomes["before"]) if len(set(outcomes.values())) < len(outcomes) else None
        for side, outcome in [key] if key else outcomes.items():
            counts[to_exclusion_key(side, outcome)] += 1
        # A sample that the metric does not apply to on one side is no failure of the other.
        failures += all(is_failure(outcome) for outcome in outcomes.values())
    return dict(counts.most_common()), failures


def _collect_warnings(
    means: MeanDifference, pair: SamplePairs, left_out: dict[str, int]
) -> tuple[str, ...]:
    one_sided = 0
    for key, n in left_out.items():
        side, outcome = from_exclusion_key(key)
        one_sided += n if side != "both" and not is_failure(outcome) else 0
    warnings = list(means.interval.warnings)
    if one_sided > ONE_SIDED * pair.pairs:
        warnings.append(compose("scored_on_one_side", n=one_sided, pairs=pair.pairs))
    return tuple(warnings)
