"""Failure classes, and what decides each: metrics of the run, with limits measured for the judge that gave their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.judges.scale import JudgeScale
from ragstone.types import Score

FailureClass = Literal[
    "system_failure",
    "missed_refusal",
    "wrong_language",
    "retrieval_failure",
    "faulty_evidence",
    "false_refusal",
    "ranking_failure",
    "off_topic",
    "hallucination",
    "incomplete",
    "verbose",
    "generation_failure",
    "citation_failure",
    "judge_failure",
    "fine",
    "unclassified",
]

CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)
"""In this order `classify` takes the first that fits."""

UNKNOWN: frozenset[FailureClass] = frozenset({"judge_failure", "unclassified"})
"""Classes that say nothing of the system."""

Scales = Mapping[tuple[str, str], JudgeScale]
"""Language and metric → what the metric's values are worth with the run's judge, as `load_scales` returns them."""

TEXT_RULE_ERROR = 0.01
"""Share of good samples that a rule on texts (refusals, languages, rambling) may take for bad ones."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A family of metrics that decides a class, and the value on whose wrong side a sample is in it.

    The limit holds for metrics without a judge; for judged ones it is measured (`JudgeScale.threshold`)."""

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
        Criterion("hit_rate", 0.5),
        Criterion("context_recall", 0.5),
        Criterion("context_precision", 0.5),
        Criterion("context_relevance", 0.5),
    ),
    "faulty_evidence": (Criterion("context_recall", 0.5),),
    "ranking_failure": (Criterion("mrr", 0.5), Criterion("ndcg", 0.5)),
    "off_topic": (Criterion("answer_relevance", 0.5),),
    "hallucination": (
        Criterion("faithfulness", 0.8),
        Criterion("hallucination_rate", 0.2, above=True),
    ),
    "incomplete": (Criterion("completeness", 0.7),),
    "generation_failure": (
        Criterion("answer_correctness", 0.7),
        Criterion("completeness", 0.5),
        Criterion("token_f1", 0.3),
        Criterion("exact_match", 0.5),
    ),
    "citation_failure": (
        Criterion("citation_accuracy", 0.7),
        Criterion("citation_precision", 0.7),
        Criterion("citation_recall", 0.7),
    ),
}
"""For each class what decides it: the first family that the run has and whose scale is known."""

CLAIM_FAULTS: Mapping[str, tuple[str, ...]] = {
    "faithfulness": ("contradicted", "not_found"),
    "hallucination_rate": ("contradicted", "not_found"),
    "answer_correctness": ("error", "omission"),
    "context_recall": ("contradicted", "not_found"),
    "answer_relevance": ("evasive", "missing"),
    "completeness": ("missing",),
}
"""Families whose findings show what is wrong: the verdicts that count against an answer, the worst first."""
CLASSIC: Literal["classic"] = "classic"
"""Name of the fixed limits of the criteria above: recall 0.5, correctness 0.7, faithfulness 0.8, … They are for judges that say
yes or no; one that states probabilities is read by its verdicts instead."""

LEXICAL = frozenset({"token_f1", "exact_match"})
"""Metrics that a long answer fails although it holds the reference."""


@dataclass(frozen=True, slots=True)
class Decider:
    """A criterion with the metric of the run that it goes by."""

    metric: str
    criterion: Criterion
    is_scaled: bool = False
    """Whether the limit is the one measured for the judge; not for a metric without a judge, nor where the user set one."""
    scales: Mapping[str, JudgeScale] | None = None
    """By language."""
    by_verdicts: bool = False
    """Whether claims decide where the judge states probabilities: a sample is bad with one that is more likely wrong."""

    def is_bad(self, score: Score, language: str) -> bool | None:
        """Whether a score is on the wrong side; None where the judge's scale is not known or no good."""
        assert score.value is not None
        faults = CLAIM_FAULTS.get(self.criterion.family, ())
        if self.by_verdicts and any(f.probability is not None for f in score.findings):
            return any(f.verdict in faults and not f.is_unclear for f in score.findings)
        if not self.is_scaled:
            return self.criterion.is_bad(score.value)
        scale = self.find_scale(language)
        return None if scale is None else scale.is_bad(score.value)

    def find_scale(self, language: str) -> JudgeScale | None:
        """The scale in a language, if conclusions may be drawn from it."""
        scale = (self.scales or {}).get(language)
        return scale if scale is not None and is_conclusive(scale) else None

    def is_usable(self, language: str) -> bool:
        """Whether it decides samples of a language."""
        return not self.is_scaled or self.find_scale(language) is not None

    def get_error_rate(self, language: str) -> float:
        """Share of good samples that it calls bad."""
        scale = self.find_scale(language) if self.is_scaled else None
        return 0.0 if scale is None else scale.false_alarm_rate


Deciders = Mapping[FailureClass, tuple[Decider, ...]]
"""By class the metrics that may decide it; for a sample the first that is usable in its language does."""


def is_conclusive(scale: JudgeScale) -> bool:
    """Whether a class may be told by this scale: a limit that is right often enough, on enough controls."""
    return scale.fitness == "fit" and not scale.is_rough


def choose_deciders(
    metrics: Sequence[Mapping[str, Any]],
    scales: Scales,
    thresholds: Mapping[str, float] | Literal["classic"],
) -> dict[FailureClass, tuple[Decider, ...]]:
    """For each class the metrics that may decide it, with the thresholds that the user gave."""
    is_classic = thresholds == CLASSIC
    limits: Mapping[str, float] = {} if isinstance(thresholds, str) else thresholds
    if isinstance(thresholds, str) and not is_classic:
        raise RagstoneError(
            f"no limits {thresholds!r}; write classic, or a limit by metric or class"
        )
    known = [*CRITERIA, *(criterion.family for some in CRITERIA.values() for criterion in some)]
    for name in limits:
        if name not in known:
            raise RagstoneError(f"no threshold {name!r}{suggest_nearest(name, known)}")
    deciders = {
        kind: tuple(_list_deciders(kind, criteria, metrics, scales, limits, is_classic))
        for kind, criteria in CRITERIA.items()
    }
    return {kind: some for kind, some in deciders.items() if some}


def _list_deciders(
    kind: FailureClass,
    criteria: Iterable[Criterion],
    metrics: Sequence[Mapping[str, Any]],
    scales: Scales,
    thresholds: Mapping[str, float],
    is_classic: bool,
) -> Iterable[Decider]:
    for criterion in criteria:
        # recall@3 and recall@10: the deepest one says what the generator had to work with
        described = [m for m in metrics if get_family(str(m["name"])) == criterion.family]
        if not described:
            continue
        metric = max(described, key=lambda m: _get_depth(str(m["name"])))
        user_limit = thresholds.get(criterion.family, thresholds.get(kind))
        limit = criterion.limit if user_limit is None else user_limit
        by_language = {
            language: scale
            for (language, family), scale in scales.items()
            if family == criterion.family
        }
        yield Decider(
            str(metric["name"]),
            Criterion(criterion.family, limit, criterion.above),
            is_scaled=bool(metric.get("judged")) and user_limit is None and not is_classic,
            scales=by_language,
            by_verdicts=is_classic and user_limit is None,
        )


def get_family(metric: str) -> str:
    """The name of a metric without depth and options."""
    return metric.partition("@")[0].partition("(")[0]


def _get_depth(metric: str) -> float:
    _, at, depth = metric.partition("@")
    return float(depth) if at and depth.isdigit() else float("inf")
