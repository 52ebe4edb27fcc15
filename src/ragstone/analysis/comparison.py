"""The result of comparing runs: a difference for each metric and run, what it is called, and the samples behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.changes import SampleChange
from ragstone.analysis.corrected import MetricCorrection
from ragstone.analysis.percentiles import PercentileChange
from ragstone.analysis.significance import Correction
from ragstone.errors import UnknownMetric, suggest_nearest

if TYPE_CHECKING:
    from ragstone.store import RunInfo

Verdict = Literal["better", "worse", "equivalent", "identical", "unclear", "withheld"]

Family = Literal["primary", "quality", "resource"]
"""Tests that are corrected together: the one metric that decides, every other measure of quality, latency tokens and cost."""

FAMILIES: tuple[Family, ...] = ("primary", "quality", "resource")


def to_exclusion_key(side: str, outcome: str) -> str:
    """Where a sample has no score (`before`, `after` or `both`) and why, as exports have it: `before: judge_error: refusal`."""
    return f"{side}: {outcome}"


def from_exclusion_key(key: str) -> tuple[str, str]:
    """Side and outcome of a key; the outcome may have a colon of its own."""
    side, _, outcome = key.partition(": ")
    return side, outcome


@dataclass(frozen=True, slots=True)
class Difference:
    """What one metric says of a run against the baseline."""

    metric: str
    run: str
    """Id of the run that is compared with the baseline."""
    higher_is_better: bool
    bounds: tuple[float, float] | None
    resource: bool
    """Whether it measures what answers took (latency, tokens, cost), not how good they are."""
    family: Family
    """The tests that it is corrected with; not the `family` of a metric, which is its name without options."""
    pairs: int
    """Samples scored in both runs; of two independent sets, the samples scored in either."""
    applicable: int
    """Samples that the metric applies to; some of them may have failed."""
    coverage: float | None
    """Scored out of applicable; of two independent sets, in the one that has less."""
    before: float | None
    after: float | None
    difference: float | None
    """After minus before."""
    clusters: int | None
    p: float | None
    test: str
    improved: int
    unchanged: int
    worsened: int
    left_out: dict[str, int]
    """Why samples do not count, as `to_exclusion_key` writes it → number of samples."""
    margin: float
    """A difference up to this size does not matter."""
    plain_low: float | None
    """Lower end of the 95 % interval of this difference alone."""
    plain_high: float | None
    warnings: tuple[str, ...] = ()
    low: float | None = None
    """Lower end of the interval at the corrected level: all of a family hold together in 95 % of studies."""
    high: float | None = None
    alpha: float | None = None
    """The share of studies in which this one interval may be wrong."""
    adjusted: float | None = None
    """p corrected for the tests of its family; exports know it by this name."""
    verdict: Verdict = "unclear"
    detectable: float | None = None
    """The difference that this comparison would have called one, 4 times in 5."""
    effect: float = 0.0
    """The difference that matters, in units of the score."""
    needed: int | None = None
    """About how many questions would show a difference of `effect`; with no sample moved, how many would show that none matters."""
    percentiles: tuple[PercentileChange, ...] = ()
    """Of latency: the `LATENCY_PERCENTILES`."""
    corrected: MetricCorrection | None = None
    """What labels of people say of the difference; None without labels in both runs."""

    @property
    def is_slight(self) -> bool:
        """Whether it is a difference, but one too small to matter."""
        return (
            self.verdict in ("better", "worse")
            and self.difference is not None
            and abs(self.difference) <= self.margin
        )

    @property
    def is_blind(self) -> bool:
        """Whether there are so few samples that only a difference larger than the metric's range would be found."""
        return (
            self.detectable is not None
            and self.bounds is not None
            and self.detectable >= self.bounds[1] - self.bounds[0]
        )

    @property
    def is_near(self) -> bool:
        """Whether there were samples enough for the difference that matters, and it is neither shown nor ruled out."""
        return self.verdict == "unclear" and self.needed is not None and self.needed <= self.pairs

    @property
    def ratio(self) -> float | None:
        """After as a multiple of before; None where that means nothing."""
        return self.after / self.before if self.before and self.after is not None else None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One run against the baseline."""

    run: RunInfo
    pairs: int
    """Samples in both runs; 0 when they are compared as independent sets."""
    only_before: int
    only_after: int
    differences: tuple[Difference, ...]
    only_metrics_before: tuple[str, ...]
    only_metrics_after: tuple[str, ...]
    regressed: tuple[SampleChange, ...] = ()
    """Samples that became worse, the worst first."""
    fixed: tuple[SampleChange, ...] = ()
    regressed_count: int = 0
    fixed_count: int = 0
    other_questions: tuple[str, ...] = ()
    """Ids of looked-at samples whose question is not the same in both runs."""
    same_answers: bool = False
    """Whether both runs gave the same answer to every question that they share."""

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
    tests: Mapping[Family, int]
    """How many tests of each family were corrected together."""
    floor: float
    primary: str | None = None
    """The metric that decides, tested on its own."""
    paired: bool = True
    """Whether samples are matched by id; else the runs are independent sets."""
    judged: tuple[str, ...] = field(default=())
    """Metrics named by the user; a regression on any other resource is shown but fails nothing."""
    changed_values: tuple[str, ...] = ()
    """Metrics that mean something else in some of the runs, compared all the same (`anyway`)."""

    @property
    def differences(self) -> Iterator[Difference]:
        """Those of every run."""
        return (difference for run in self.versus for difference in run.differences)

    @property
    def regressions(self) -> tuple[Difference, ...]:
        """Where a run is worse in a metric that counts."""
        return tuple(
            difference
            for difference in self.differences
            if difference.verdict == "worse" and self.is_counted(difference)
        )

    def is_counted(self, difference: Difference) -> bool:
        """Whether a loss there is a regression: in quality, and in what the user named."""
        return not difference.resource or difference.metric in (*self.judged, self.primary)

    @property
    def exit_code(self) -> int:
        """For `--fail-on-regression`: 1 if a run is worse, else 3 if a verdict had to be withheld, else 0."""
        if self.regressions:
            return 1
        return 3 if any(d.verdict == "withheld" for d in self.differences) else 0

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON."""
        plain = asdict(self) | {"baseline": self.baseline.to_json()}
        for versus, comparison in zip(plain["versus"], self.versus, strict=True):
            versus["run"] = comparison.run.to_json()
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
                replace(
                    difference, corrected=corrections.get(difference.run, {}).get(difference.metric)
                )
                for difference in compared.differences
            ),
        )
        for compared in comparison.versus
    ]
    return replace(comparison, versus=tuple(versus))
