"""The class of one sample: what its scores and its texts show, and which of it comes first.

| class              | a sample is one when                                                                   |
| ------------------ | -------------------------------------------------------------------------------------- |
| system_failure     | the system gave nothing                                                                |
| missed_refusal     | the question has no answer in the documents and the system gave one all the same       |
| wrong_language     | the answer is in another language than the question                                    |
| retrieval_failure  | the evidence was not retrieved (recall), and the answer is not known to be right       |
| faulty_evidence    | the relevant document was retrieved, but its text lacks the answer; the answer failed  |
| false_refusal      | the question has an answer and the system gave none                                    |
| ranking_failure    | the evidence was there but below rank 2 (mrr), and the answer is wrong, not made up    |
| off_topic          | the answer does not address the question (answer_relevance)                            |
| hallucination      | the answer says what the contexts do not (faithfulness)                                |
| incomplete         | the answer has a part of the reference only (completeness)                             |
| verbose            | the answer holds the reference among more that has nothing to do with the question     |
| generation_failure | the evidence was there and the answer is wrong (answer_correctness)                    |
| citation_failure   | citations do not lead to the evidence                                                  |
| judge_failure      | a metric that decides could not be scored                                              |
| fine               | none of these                                                                          |
| unclassified       | no metric of the run decides anything                                                  |

The first that fits is taken; what else fits is kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ragstone.analysis.classes import CLASSES, LEXICAL, Decider, Deciders, FailureClass, get_family
from ragstone.analysis.text_evidence import (
    holds_reference,
    is_rambling,
    is_verbatim,
    lacks_evidence,
    replaces_reference,
)
from ragstone.text.evidence import find_quote
from ragstone.text.language import identify_language, is_in_language
from ragstone.text.windows import cut_sample
from ragstone.types import FAILURES, Finding, Sample, Score

if TYPE_CHECKING:
    from ragstone.asks import Asking


@dataclass(frozen=True, slots=True)
class Failure:
    """One sample and its class, with what shows it."""

    position: int
    id: str
    kind: FailureClass
    also: tuple[FailureClass, ...] = ()
    values: Mapping[str, float | str] = field(default_factory=dict)
    """What decided: metric → value, or its outcome where there is none."""
    missed: tuple[str, ...] = ()
    """Relevant documents that were not retrieved."""
    instead: tuple[str, ...] = ()
    """Documents that were retrieved and are not relevant."""
    claims: tuple[Finding, ...] = ()
    """Findings against the answer."""
    is_verbatim: bool = False
    """Whether the answer stands word for word in its contexts, so that no error of a judge can make it a hallucination."""
    is_compared: bool = False
    """Whether the answer was compared with a reference, so that an error of answer_relevance alone cannot make it off topic."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What the deciding metrics say of a sample."""

    bad: frozenset[FailureClass]
    good: frozenset[FailureClass]
    failed: bool
    """Whether one of them could not be scored."""
    used: Mapping[FailureClass, Decider]

    @property
    def is_right(self) -> bool:
        """Whether the answer is known to be right and to rest on its contexts."""
        return {"generation_failure", "hallucination"} <= self.good


ANSWER_FAILS: frozenset[FailureClass] = frozenset(
    {"false_refusal", "off_topic", "hallucination", "incomplete", "generation_failure"}
)
"""Classes in which the answer itself failed: only there do low ranks and poor texts do harm."""


def classify(
    sample: Sample, scores: Mapping[str, Score], deciders: Deciders, *, position: int = 0
) -> Failure:
    """The class of one sample with what shows it."""
    sample = cut_sample(sample)
    language = find_language(sample)
    signals = read_signals(scores, deciders, language)
    values = {
        decider.metric: _get_value(scores[decider.metric]) for decider in signals.used.values()
    }
    verbatim = "hallucination" in signals.used and is_verbatim(
        sample.answer or "", sample.contexts, language
    )
    if verbatim:
        signals = replace(
            signals,
            bad=signals.bad - {"hallucination"},
            good=signals.good | {"hallucination"},
        )
    fits = _match_classes(sample, scores, signals, language)
    kind = fits[0] if fits else "fine" if _is_decided(sample, scores, signals) else "unclassified"
    missed, instead = _split_retrieved(sample)
    return Failure(
        position=position,
        id=sample.id,
        kind=kind,
        also=tuple(fits[1:]),
        values=values,
        missed=missed if kind == "retrieval_failure" else (),
        instead=instead if kind in ("retrieval_failure", "ranking_failure") else (),
        claims=_find_claims(kind, scores, signals),
        is_verbatim=verbatim,
        is_compared="generation_failure" in signals.good | signals.bad,
    )


def find_language(sample: Sample) -> str:
    """The language of a sample, by which scales are chosen: its own tag, or that of its question."""
    tag = sample.language or identify_language(sample.question or sample.answer or "")
    return tag.split("-")[0].lower()


def read_signals(scores: Mapping[str, Score], deciders: Deciders, language: str) -> Signals:
    """For each class whether its metric speaks for or against the sample."""
    bad: set[FailureClass] = set()
    good: set[FailureClass] = set()
    used: dict[FailureClass, Decider] = {}
    failed = False
    for kind, candidates in deciders.items():
        decider = next(
            (d for d in candidates if d.metric in scores and d.is_usable(language)), None
        )
        if decider is None:
            continue
        used[kind] = decider
        score = scores[decider.metric]
        if score.value is not None:
            (bad if decider.is_bad(score, language) else good).add(kind)
        else:
            failed = failed or score.outcome in FAILURES
    return Signals(frozenset(bad), frozenset(good), failed, used)


def _match_classes(
    sample: Sample, scores: Mapping[str, Score], signals: Signals, language: str
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
    # `_weigh_retrieval` adds faulty evidence, where the answer failed as well
    fits: set[FailureClass] = set(signals.bad) - {"faulty_evidence"}
    if signals.failed:
        fits.add("judge_failure")
    if refusal == "missed_refusal":
        fits.add("missed_refusal")
        # there was no right answer to give, and nothing to find
        fits -= {"generation_failure", "incomplete", "retrieval_failure", "ranking_failure"}
    elif refusal == "false_refusal":
        fits.add("false_refusal")
        fits -= {"off_topic", "hallucination", "incomplete", "generation_failure"}
    elif is_in_language(sample.answer or "", language) is False:
        # judges were measured on answers in the language of the question
        return ["wrong_language"]
    # each changes `fits`, and goes by what the one before has left in it
    _weigh_scores(fits, scores, signals)
    _weigh_answer(fits, sample, scores, signals, language)
    _weigh_retrieval(fits, sample, signals, language)
    return [kind for kind in CLASSES if kind in fits]


def _weigh_retrieval(
    fits: set[FailureClass], sample: Sample, signals: Signals, language: str
) -> None:
    """Let the texts and the answer decide what missing ids and low ranks mean."""
    failed = not fits.isdisjoint(ANSWER_FAILS)
    if signals.is_right and "false_refusal" not in fits:
        fits.discard("retrieval_failure")  # the labels miss a document that tells it as well
    may_lack = failed and fits.isdisjoint({"retrieval_failure", "missed_refusal"})
    if may_lack and ("faulty_evidence" in signals.bad or lacks_evidence(sample, language)):
        fits.add("faulty_evidence")
    is_known = "generation_failure" in signals.good | signals.bad
    harmless = (
        "retrieval_failure" in fits  # what did not come has no rank
        or "hallucination" in fits  # what was made up does not come from the order
        or (is_known and not failed)
    )
    if harmless:
        fits.discard("ranking_failure")


def _weigh_scores(fits: set[FailureClass], scores: Mapping[str, Score], signals: Signals) -> None:
    """Let one metric say what another one means."""
    if "generation_failure" in signals.good:
        fits.discard("off_topic")  # what is right is to the point
    if "generation_failure" in fits and _contradicts_contexts(scores, signals):
        fits.add("hallucination")
        fits.discard("off_topic")  # what contradicts the evidence speaks of the same thing
    if "incomplete" in fits:
        has_part = _has_part(signals.used["incomplete"], scores)
        # what answers a part of the question speaks of it; what answers nothing is wrong, not incomplete
        fits.discard("off_topic" if has_part else "incomplete")


def _weigh_answer(
    fits: set[FailureClass],
    sample: Sample,
    scores: Mapping[str, Score],
    signals: Signals,
    language: str,
) -> None:
    """Let the texts decide where a judge or a count of words would be wrong."""
    if "off_topic" in fits and replaces_reference(sample, language):
        fits.discard("off_topic")  # it speaks of the same thing and says something else of it
        fits.add("generation_failure")
    if _has_error(scores):
        return
    answer, reference = sample.answer or "", sample.reference or ""
    holds = bool(reference) and holds_reference(answer, reference, language) is True
    if not (holds or "generation_failure" in signals.good):
        return
    is_verbose = is_rambling(sample, language)
    if is_verbose or (holds and _outweighs_verdict(answer, reference, signals)):
        fits -= {"generation_failure", "incomplete", "off_topic"}
    if is_verbose:
        fits.add("verbose")


def _outweighs_verdict(answer: str, reference: str, signals: Signals) -> bool:
    """Whether the words of the reference in an answer weigh more than what decided that it is wrong.

    They do against a count of words, which long answers fail, and where the reference stands there word for word."""
    decider = signals.used.get("generation_failure")
    is_counted = decider is not None and get_family(decider.metric) in LEXICAL
    return is_counted or find_quote(reference.strip(" ."), answer) is not None


def _has_part(decider: Decider, scores: Mapping[str, Score]) -> bool:
    """Whether an answer has some of what it should: one that has nothing is wrong, not incomplete."""
    score = scores[decider.metric]
    if score.findings:
        return any(finding.verdict in ("covered", "correct") for finding in score.findings)
    return score.value is not None and score.value > 0


def _contradicts_contexts(scores: Mapping[str, Score], signals: Signals) -> bool:
    decider = signals.used.get("hallucination")
    findings = scores[decider.metric].findings if decider is not None else ()
    return any(finding.verdict == "contradicted" for finding in findings)


def _has_error(scores: Mapping[str, Score]) -> bool:
    findings = (finding for score in scores.values() for finding in score.findings)
    return any(finding.verdict in ("contradicted", "error") for finding in findings)


def refusal_label(sample: Sample, scores: Mapping[str, Score]) -> str | None:
    """Whether the system refused and should have, as the run's metric says or as its default would."""
    for name, score in scores.items():
        if get_family(name) == "abstention_accuracy" and score.label is not None:
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


def _is_decided(sample: Sample, scores: Mapping[str, Score], signals: Signals) -> bool:
    """Whether anything speaks for the sample being fine."""
    return bool(signals.good) or refusal_label(sample, scores) == "correct_refusal"


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
    kind: FailureClass, scores: Mapping[str, Score], signals: Signals
) -> tuple[Finding, ...]:
    decider = signals.used.get("hallucination" if kind == "missed_refusal" else kind)
    if decider is None:
        return ()
    findings = scores[decider.metric].findings
    return tuple(finding for finding in findings if finding.verdict in AGAINST)
