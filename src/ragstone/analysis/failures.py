"""Why the samples of a run fail: each gets a class, the classes get shares, and slices that fail more are named.

A class is *shown* when it has more samples than the errors of what decides it would make of a perfect run. What is not
shown is counted, and takes no part in any conclusion."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ragstone.analysis.category_rates import LabelRate
from ragstone.analysis.classes import (
    CLASSES,
    TEXT_RULE_ERROR,
    UNKNOWN,
    Decider,
    Deciders,
    FailureClass,
    Scales,
    choose_deciders,
)
from ragstone.analysis.classify import Failure, classify, find_language
from ragstone.analysis.scales import find_scales
from ragstone.analysis.significance import ALPHA, adjust_p_values
from ragstone.analysis.slices import Slice, SliceCounter
from ragstone.analysis.stats import wilson_interval
from ragstone.errors import RagstoneError
from ragstone.types import Sample

if TYPE_CHECKING:
    from ragstone.store import RunInfo, Store, StoredRow

EXAMPLES = 20
"""Samples kept of each class."""

MAX_IDS = 10_000
"""Retrieved ids among which a relevant one is looked for."""

BY_TEXT: frozenset[FailureClass] = frozenset({"wrong_language", "verbose"})
"""Classes that rules on texts decide. A refusal is not among them: what was recognised as one counts in every score."""

NEEDS_FAILED_ANSWER: tuple[FailureClass, ...] = ("faulty_evidence", "ranking_failure")
"""Classes that a sample is put into only when its answer failed too."""

OF_RETRIEVAL: frozenset[FailureClass] = frozenset(
    {"system_failure", "retrieval_failure", "faulty_evidence", "ranking_failure"}
)
"""Classes that show in what was retrieved, so that traits of it cannot explain them."""
RETRIEVAL_TRAITS = ("chunks", "context_words", "evidence_rank")

Withholding = Literal["unknown", "unfit", "rough"]
"""Why a judged metric decides nothing: its scale was never measured, it is no good, or it rests on too few controls."""


@dataclass(frozen=True, slots=True)
class WithheldMetric:
    """A judged metric of the run that takes part in no conclusion, for one language."""

    metric: str
    language: str
    reason: Withholding


@dataclass(frozen=True, slots=True, repr=False)
class Failures:
    """The classes of a whole run."""

    run: RunInfo
    samples: int
    rates: tuple[LabelRate, ...]
    """Each class that occurs, with its share of all samples."""
    expected: Mapping[FailureClass, float]
    """How many samples of each class the errors of what decides it would make of a perfect run."""
    shown: tuple[FailureClass, ...]
    """Classes that have more samples than that, by their excess; what is not here is within the error."""
    deciders: Mapping[FailureClass, Decider]
    """What decided most samples, by class; a class without one could not be told apart."""
    withheld: tuple[WithheldMetric, ...]
    examples: Mapping[FailureClass, tuple[Failure, ...]]
    slices: tuple[Slice, ...]
    """Every slice, the worst first."""
    class_slices: Mapping[FailureClass, tuple[Slice, ...]]
    """For each class that is shown the slices that have significantly more of it than the rest, the clearest first."""
    dropped: tuple[str, ...]
    """Fields with too many different values to slice by."""
    unmatched: tuple[str, str] | None = None
    """A retrieved and a relevant id, where no retrieved id is among the relevant ones of any sample."""

    @property
    def worse(self) -> tuple[Slice, ...]:
        """Slices that fail significantly more often than the rest."""
        return tuple(part for part in self.slices if part.worse)

    def count(self, kind: FailureClass) -> int:
        """How many samples are of a class."""
        return sum(rate.count for rate in self.rates if rate.label == kind)

    @property
    def doubtful(self) -> int:
        """How many samples are of a class that may be no more than errors of what decides it."""
        sure = (*self.shown, *UNKNOWN, "fine")
        return sum(rate.count for rate in self.rates if rate.label not in sure)

    def excess(self, kind: FailureClass) -> float:
        """How many more samples are of a class than errors would explain."""
        return max(self.count(kind) - self.expected.get(kind, 0.0), 0.0)

    def __repr__(self) -> str:
        counted = ", ".join(f"{kind} {self.count(kind)}" for kind in self.shown)
        return f"<Failures: {self.samples} samples, {counted or 'no class stands out'}>"

    def share_of_loss(self, kind: FailureClass) -> float:
        """Which part of all that failed is of a class, errors deducted."""
        lost = [other for other in self.shown if other not in UNKNOWN]
        total = sum(self.excess(other) for other in lost)
        return self.excess(kind) / total if kind in lost and total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The analysis as plain JSON."""
        plain = asdict(self) | {"run": self.run.to_json()}
        for key in ("shape", "metrics", "bad"):
            plain["run"].pop(key)
        for decider in plain["deciders"].values():
            decider.pop("scales")
        return plain


class SampledRun(Protocol):
    """What failure analysis reads of a run; a StoredRun is one."""

    @property
    def info(self) -> RunInfo: ...
    @property
    def store(self) -> Store: ...
    def rows(self) -> Iterable[StoredRow]: ...


def analyse_failures(
    run: SampledRun,
    *,
    scales: Scales | None = None,
    thresholds: Mapping[str, float] | Literal["classic"] | None = None,
    by: Sequence[str] | None = None,
    examples: int = EXAMPLES,
) -> Failures:
    """Class every sample of a run, in one pass; `thresholds` by class or family, or `classic`; `by` the fields to slice by.

    `scales` are those of the run's judge, by default as its store has them: without one a judged metric decides nothing."""
    known = find_scales(run) if scales is None else scales
    deciders = choose_deciders(run.info.metrics, known, thresholds or {})
    counts: Counter[FailureClass] = Counter()
    languages: Counter[str] = Counter()
    # class → language → samples that cannot be put into it by an error, see `_count_expected`
    settled: dict[FailureClass, Counter[str]] = {"hallucination": Counter(), "off_topic": Counter()}
    examples_by_kind: dict[FailureClass, list[Failure]] = {kind: [] for kind in CLASSES}
    slicing = SliceCounter(by)
    ids = _IdNames()
    for row in run.rows():
        failure = classify(row.sample, row.scores, deciders, position=row.position)
        counts[failure.kind] += 1
        ids.add(row.sample)
        language = find_language(row.sample)
        languages[language] += 1
        settled["hallucination"][language] += failure.is_verbatim
        settled["off_topic"][language] += failure.is_compared
        if len(examples_by_kind[failure.kind]) < examples:
            examples_by_kind[failure.kind].append(failure)
        # a sample that nobody could judge must not make its slice look good or bad
        if failure.kind not in UNKNOWN:
            kinds = () if failure.kind == "fine" else (failure.kind, *failure.also)
            slicing.add(row.sample, *kinds)
    if missing := slicing.list_missing():
        raise RagstoneError(f"no sample has the field {missing[0]!r} to break down by")
    expected = _count_expected(deciders, languages, settled)
    shown = choose_shown(counts, expected)
    return Failures(
        run=run.info,
        samples=sum(counts.values()),
        rates=_compute_rates(counts),
        expected=expected,
        shown=shown,
        deciders=_choose_shown_deciders(deciders, languages),
        withheld=_list_withheld(deciders, languages),
        examples={kind: tuple(some) for kind, some in examples_by_kind.items() if some},
        slices=slicing.build_slices(shown),
        class_slices={kind: _find_slices(kind, slicing) for kind in shown},
        dropped=slicing.dropped,
        unmatched=ids.find_unmatched(),
    )


class _IdNames:
    """Whether retrieved and relevant ids name documents in the same way: seen until the first that is both."""

    def __init__(self) -> None:
        self._retrieved: set[str] = set()
        self._relevant: set[str] = set()
        self._first: tuple[str, str] | None = None
        self._is_matched = False

    def add(self, sample: Sample) -> None:
        is_known = self._is_matched or len(self._retrieved) > MAX_IDS
        retrieved = [id for id in sample.contexts.ids if id] if sample.contexts else ()
        if is_known or not sample.relevant or not retrieved:
            return
        self._first = self._first or (retrieved[0], next(iter(sample.relevant)))
        self._retrieved.update(retrieved)
        self._relevant.update(sample.relevant)
        self._is_matched = not self._retrieved.isdisjoint(self._relevant)

    def find_unmatched(self) -> tuple[str, str] | None:
        return None if self._is_matched else self._first


def choose_shown(
    counts: Mapping[FailureClass, int], expected: Mapping[FailureClass, float]
) -> tuple[FailureClass, ...]:
    """The classes with more samples than errors would make, corrected by Holm over the classes; most excess first."""
    total = sum(counts.values())
    kinds = [kind for kind in CLASSES if counts.get(kind) and kind not in ("fine", "unclassified")]
    ps = [binomial_tail(counts[kind], total, expected.get(kind, 0.0) / total) for kind in kinds]
    clear = [k for k, p in zip(kinds, adjust_p_values(ps, "holm"), strict=True) if p <= ALPHA]
    return tuple(sorted(clear, key=lambda kind: expected.get(kind, 0.0) - counts[kind]))


def binomial_tail(count: int, total: int, rate: float) -> float:
    """How often at least so many of a total would be hit at a rate."""
    if rate <= 0:
        return 0.0 if count else 1.0
    if rate >= 1:
        return 1.0
    logs = (
        math.lgamma(total + 1)
        - math.lgamma(k + 1)
        - math.lgamma(total - k + 1)
        + k * math.log(rate)
        + (total - k) * math.log1p(-rate)
        for k in range(count, total + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def _count_expected(
    deciders: Deciders,
    languages: Mapping[str, int],
    settled: Mapping[FailureClass, Mapping[str, int]],
) -> dict[FailureClass, float]:
    """How many samples of each class errors would make, were all samples good.

    `settled` are samples that something else protects from an error: answers that stand word for word in their contexts
    are no hallucination, and answers that agree with the reference are not off topic."""
    total = sum(languages.values())
    expected: dict[FailureClass, float] = dict.fromkeys(BY_TEXT, TEXT_RULE_ERROR * total)
    for kind, candidates in deciders.items():
        protected = settled.get(kind, {})
        expected[kind] = sum(
            (count - protected.get(language, 0)) * decider.get_error_rate(language)
            for language, count in languages.items()
            if (decider := _find_usable(candidates, language)) is not None
        )
    # low ranks and poor texts count only where the answer failed, which has an error of its own
    answer = expected.get("generation_failure", 0.0)
    for kind in NEEDS_FAILED_ANSWER:
        expected[kind] = max(expected.get(kind, 0.0), answer, TEXT_RULE_ERROR * total)
    # answers with a reference are protected above: one is off topic only if both metrics err
    if "off_topic" in expected:
        expected["off_topic"] += answer
    return expected


def _find_usable(candidates: Iterable[Decider], language: str) -> Decider | None:
    return next((decider for decider in candidates if decider.is_usable(language)), None)


def _choose_shown_deciders(
    deciders: Deciders, languages: Mapping[str, int]
) -> dict[FailureClass, Decider]:
    chosen: dict[FailureClass, Decider] = {}
    for kind, candidates in deciders.items():
        votes: dict[str, int] = defaultdict(int)
        by_name = {decider.metric: decider for decider in candidates}
        for language, count in languages.items():
            decider = _find_usable(candidates, language)
            if decider is not None:
                votes[decider.metric] += count
        if votes:
            chosen[kind] = by_name[max(votes, key=votes.__getitem__)]
    return chosen


def _list_withheld(deciders: Deciders, languages: Mapping[str, int]) -> tuple[WithheldMetric, ...]:
    """Judged metrics that would decide a class for a language, were their scale known and good."""
    withheld: dict[tuple[str, str], WithheldMetric] = {}
    for candidates in deciders.values():
        for language in languages:
            for decider in candidates:
                if decider.is_usable(language):
                    break
                scale = (decider.scales or {}).get(language)
                reason: Withholding = (
                    "unknown" if scale is None else "rough" if scale.is_rough else "unfit"
                )
                key = decider.metric, language
                withheld[key] = WithheldMetric(*key, reason)
    return tuple(withheld[key] for key in sorted(withheld))


def _find_slices(kind: FailureClass, slicing: SliceCounter) -> tuple[Slice, ...]:
    skipped: tuple[str, ...] = RETRIEVAL_TRAITS if kind in OF_RETRIEVAL else ()
    if kind == "wrong_language":
        skipped = ("language_pair",)
    return tuple(part for part in slicing.build_slices((kind,), skipped, every=True) if part.worse)


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
