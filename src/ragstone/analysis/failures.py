"""Why samples fail: each gets a class, the classes get shares, and slices that fail more than the rest are named.

The classes, in the order in which the first that fits is taken; what else fits is kept beside it:

| class              | a sample is one when                                                              |
| ------------------ | --------------------------------------------------------------------------------- |
| system_failure     | the system gave nothing                                                           |
| missed_refusal     | the question has no answer in the documents and the system gave one all the same  |
| retrieval_failure  | recall is below 0.5                                                               |
| false_refusal      | the question has an answer and the system gave none                               |
| hallucination      | faithfulness is below 0.8                                                         |
| ranking_failure    | the evidence was there but below rank 2 (mrr below 0.5), and the answer is wrong  |
| generation_failure | the evidence was there and correctness is below 0.7                               |
| judge_failure      | a metric that decides could not be scored                                         |
| fine               | none of these                                                                     |
| unclassified       | no metric of the run decides anything                                             |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from ragstone.analysis.labels import LabelRate
from ragstone.analysis.slices import Slice, SliceCounter
from ragstone.analysis.stats import wilson_interval
from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.types import FAILURES, Finding, Sample, Score

if TYPE_CHECKING:
    from ragstone.asks import Asking
    from ragstone.store import RunInfo, StoredRow

FailureClass = Literal[
    "system_failure",
    "missed_refusal",
    "retrieval_failure",
    "false_refusal",
    "hallucination",
    "ranking_failure",
    "generation_failure",
    "judge_failure",
    "fine",
    "unclassified",
]

CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)

UNKNOWN: frozenset[FailureClass] = frozenset({"judge_failure", "unclassified"})
"""Classes that say nothing of the system."""

EXAMPLES = 20
"""Samples kept of each class."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A family of metrics that decides a class, and the value on whose wrong side a sample is in it."""

    family: str
    limit: float
    above: bool = False
    """Whether values above the limit are the bad ones."""

    def is_bad(self, value: float) -> bool:
        """Whether a value is on the wrong side."""
        return value > self.limit if self.above else value < self.limit


CRITERIA: Mapping[FailureClass, tuple[Criterion, ...]] = {
    "retrieval_failure": (
        Criterion("recall", 0.5),
        Criterion("context_recall", 0.5),
        Criterion("hit_rate", 0.5),
    ),
    "hallucination": (
        Criterion("faithfulness", 0.8),
        Criterion("hallucination_rate", 0.2, above=True),
    ),
    "ranking_failure": (
        Criterion("mrr", 0.5),
        Criterion("ndcg", 0.5),
    ),
    "generation_failure": (
        Criterion("answer_correctness", 0.7),
        Criterion("completeness", 0.7),
        Criterion("token_f1", 0.3),
        Criterion("exact_match", 0.5),
    ),
}
"""For each class what decides it: the first family that the run has."""


@dataclass(frozen=True, slots=True)
class Decider:
    """A criterion with the metric of the run that it goes by."""

    metric: str
    criterion: Criterion


@dataclass(frozen=True, slots=True)
class Failure:
    """One sample and its class, with what shows it."""

    position: int
    id: str
    kind: FailureClass
    also: tuple[FailureClass, ...] = ()
    values: Mapping[str, float | str] = field(default_factory=dict)
    """What decided: metric → value, or how it ended."""
    missed: tuple[str, ...] = ()
    """Relevant documents that were not retrieved."""
    instead: tuple[str, ...] = ()
    """Documents that were retrieved and are not relevant."""
    claims: tuple[Finding, ...] = ()
    """Findings against the answer."""


@dataclass(frozen=True, slots=True)
class Failures:
    """The classes of a whole run."""

    run: RunInfo
    samples: int
    rates: tuple[LabelRate, ...]
    """Each class that occurs, with its share of all samples."""
    deciders: Mapping[FailureClass, Decider]
    """What decided, by class; a class without one could not be told apart."""
    examples: Mapping[FailureClass, tuple[Failure, ...]]
    slices: tuple[Slice, ...]
    """Every slice, the worst first."""
    dropped: tuple[str, ...]
    """Fields with too many different values to slice by."""

    @property
    def worse(self) -> tuple[Slice, ...]:
        """Slices that fail significantly more often than the rest."""
        return tuple(part for part in self.slices if part.worse)

    def count(self, kind: FailureClass) -> int:
        """How many samples are of a class."""
        return sum(rate.count for rate in self.rates if rate.label == kind)

    def to_dict(self) -> dict[str, Any]:
        """The analysis as plain JSON."""
        plain = asdict(self) | {"run": self.run.to_json()}
        for key in ("shape", "metrics", "bad"):
            plain["run"].pop(key)
        return plain


class SampledRun(Protocol):
    """What failure analysis reads of a run; a StoredRun is one."""

    @property
    def info(self) -> RunInfo: ...
    def rows(self) -> Iterable[StoredRow]: ...


def analyse_failures(
    run: SampledRun,
    *,
    thresholds: Mapping[str, float] | None = None,
    by: Sequence[str] | None = None,
    examples: int = EXAMPLES,
) -> Failures:
    """Class every sample of a run, in one pass; `thresholds` by class or family, `by` the fields to slice by."""
    deciders = choose_deciders(
        [str(metric["name"]) for metric in run.info.metrics], thresholds or {}
    )
    counts: Counter[FailureClass] = Counter()
    examples_by_kind: dict[FailureClass, list[Failure]] = {kind: [] for kind in CLASSES}
    slicing = SliceCounter(by)
    for row in run.rows():
        failure = classify(row.sample, row.scores, deciders, position=row.position)
        counts[failure.kind] += 1
        if len(examples_by_kind[failure.kind]) < examples:
            examples_by_kind[failure.kind].append(failure)
        # a sample that nobody could judge must not make its slice look good or bad
        if failure.kind not in UNKNOWN:
            slicing.add(row.sample, failure.kind if failure.kind != "fine" else None)
    return Failures(
        run=run.info,
        samples=sum(counts.values()),
        rates=_compute_rates(counts),
        deciders=deciders,
        examples={kind: tuple(some) for kind, some in examples_by_kind.items() if some},
        slices=slicing.build_slices(),
        dropped=slicing.dropped,
    )


def _compute_rates(counts: Counter[FailureClass]) -> tuple[LabelRate, ...]:
    """Each class that occurs as a share of all samples."""
    total = sum(counts.values())
    return tuple(
        LabelRate(
            kind, counts[kind], total, counts[kind] / total, *wilson_interval(counts[kind], total)
        )
        for kind in CLASSES
        if counts[kind]
    )


def choose_deciders(
    metrics: Sequence[str], thresholds: Mapping[str, float]
) -> dict[FailureClass, Decider]:
    """For each class the metric that decides it, with the thresholds that the user gave."""
    known = [*CRITERIA, *(criterion.family for some in CRITERIA.values() for criterion in some)]
    for name in thresholds:
        if name not in known:
            raise RagstoneError(f"no threshold {name!r}{suggest_nearest(name, known)}")
    deciders: dict[FailureClass, Decider] = {}
    for kind, criteria in CRITERIA.items():
        for criterion in criteria:
            # recall@3 and recall@10: the deepest one says what the generator had to work with
            names = [name for name in metrics if _get_family(name) == criterion.family]
            if names:
                limit = thresholds.get(criterion.family, thresholds.get(kind, criterion.limit))
                metric = max(names, key=_get_depth)
                deciders[kind] = Decider(
                    metric, Criterion(criterion.family, limit, criterion.above)
                )
                break
    return deciders


def classify(
    sample: Sample,
    scores: Mapping[str, Score],
    deciders: Mapping[FailureClass, Decider],
    *,
    position: int = 0,
) -> Failure:
    """The class of one sample with what shows it."""
    values = {
        decider.metric: _get_value(scores[decider.metric])
        for decider in deciders.values()
        if decider.metric in scores
    }
    fits = _match_classes(sample, scores, deciders)
    kind = fits[0] if fits else "fine" if _is_decided(sample, scores, values) else "unclassified"
    missed, instead = _split_retrieved(sample)
    return Failure(
        position=position,
        id=sample.id,
        kind=kind,
        also=tuple(fits[1:]),
        values=values,
        missed=missed if kind == "retrieval_failure" else (),
        instead=instead if kind in ("retrieval_failure", "ranking_failure") else (),
        claims=_find_claims(kind, scores, deciders),
    )


def _match_deciders(
    scores: Mapping[str, Score], deciders: Mapping[FailureClass, Decider]
) -> set[FailureClass]:
    """The classes whose metric is beyond its limit, or could not be judged."""
    fits: set[FailureClass] = set()
    for kind, decider in deciders.items():
        score = scores.get(decider.metric)
        if score is None:
            continue
        if score.value is not None and decider.criterion.is_bad(score.value):
            fits.add(kind)
        elif score.outcome in FAILURES:
            fits.add("judge_failure")
    return fits


def _match_classes(
    sample: Sample, scores: Mapping[str, Score], deciders: Mapping[FailureClass, Decider]
) -> list[FailureClass]:
    """Every class that fits, in the order of CLASSES."""
    if sample.error is not None or any(
        score.outcome == "system_error" for score in scores.values()
    ):
        return ["system_failure"]
    refusal = refusal_label(sample, scores)
    # to decline was right, so low recall or correctness is no failure
    if refusal == "correct_refusal":
        return []
    fits = _match_deciders(scores, deciders)
    if refusal == "missed_refusal":
        fits.add("missed_refusal")
    elif refusal == "false_refusal":
        fits.add("false_refusal")
    if "missed_refusal" in fits:
        fits.discard("generation_failure")  # there was no right answer to give
    if "retrieval_failure" in fits or not _is_wrong(fits, scores, deciders):
        fits.discard("ranking_failure")  # what did not come has no rank; a right answer needs none
    return [kind for kind in CLASSES if kind in fits]


def _is_wrong(
    fits: set[FailureClass], scores: Mapping[str, Score], deciders: Mapping[FailureClass, Decider]
) -> bool:
    """Whether the answer failed, or nothing tells: low evidence is a failure only where it did harm."""
    decider = deciders.get("generation_failure")
    is_known = decider is not None and decider.metric in scores and scores[decider.metric].ok
    return not is_known or bool(fits & {"generation_failure", "false_refusal", "hallucination"})


def refusal_label(sample: Sample, scores: Mapping[str, Score]) -> str | None:
    """Whether the system refused and should have, as the run's metric says or as its default would."""
    for name, score in scores.items():
        if _get_family(name) == "abstention_accuracy" and score.label is not None:
            return score.label
    if sample.answer is None:
        return None
    by_default = _load_refusal_metric()(sample)
    return by_default.label if isinstance(by_default, Score) else None


@lru_cache(maxsize=1)
def _load_refusal_metric() -> Callable[[Sample], Score | Asking[Score]]:
    from ragstone.metrics import resolve
    from ragstone.metrics.scoring import build_starter

    return build_starter(resolve("abstention_accuracy"))


def _is_decided(
    sample: Sample, scores: Mapping[str, Score], values: Mapping[str, float | str]
) -> bool:
    """Whether anything speaks for the sample being fine."""
    if any(isinstance(value, float) for value in values.values()):
        return True
    return refusal_label(sample, scores) == "correct_refusal"


def _get_value(score: Score) -> float | str:
    return score.value if score.value is not None else score.outcome


def _split_retrieved(sample: Sample) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Relevant documents that were missed, and what was retrieved that is not relevant."""
    if sample.relevant is None or sample.contexts is None:
        return (), ()
    wanted = {name for name, grade in sample.relevant.items() if grade > 0}
    retrieved = list(dict.fromkeys(sample.contexts.ids))
    missed = tuple(name for name in sample.relevant if name in wanted and name not in retrieved)
    return missed, tuple(name for name in retrieved if name not in wanted)


AGAINST = frozenset(
    {"contradicted", "not_found", "missing", "wrong", "error", "omission", "addition", "noise"}
)
"""Verdicts that speak against an answer."""


def _find_claims(
    kind: FailureClass, scores: Mapping[str, Score], deciders: Mapping[FailureClass, Decider]
) -> tuple[Finding, ...]:
    decider = deciders.get("hallucination" if kind == "missed_refusal" else kind)
    if decider is None or decider.metric not in scores:
        return ()
    findings = scores[decider.metric].findings
    return tuple(finding for finding in findings if finding.verdict in AGAINST)


def _get_family(metric: str) -> str:
    return metric.partition("@")[0].partition("(")[0]


def _get_depth(metric: str) -> float:
    _, at, depth = metric.partition("@")
    return float(depth) if at and depth.isdigit() else float("inf")
