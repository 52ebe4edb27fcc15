"""Runs compared answer by answer: a judge sees both answers to each question, in both orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from ragstone.analysis.preferences import (
    METRIC,
    VALUES,
    Ballot,
    LabelAgreement,
    PairPreference,
    PreferenceStudy,
    choose_vote,
    decide_preferences,
    rank_runs,
)
from ragstone.analysis.significance import Correction
from ragstone.asks import Asking, ask_all, prefer
from ragstone.engine import ProgressCallback
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.experiments.unstored import score_unstored
from ragstone.judges import Judge
from ragstone.labels import load_run_labels, resolve_labels
from ragstone.labels.agreement import measure_kappa
from ragstone.metrics.claims import list_sources
from ragstone.registry import Metric
from ragstone.store import StoredRun, set_language
from ragstone.text.words import fold_text
from ragstone.types import Finding, Ranked, Sample, Score

OTHER = "other_answer"
"""Key of `meta` under which a sample carries the answer of the second run."""
Pair = tuple[StoredRun, StoredRun]


def judge_preference(
    question: str,
    answer: str,
    meta: Mapping[str, Any],
    reference: str | None = None,
    contexts: Ranked | None = None,
    language: str | None = None,
) -> Asking[Score]:
    """Share of questions on which one answer was preferred in both orders; ties half."""
    other = str(meta[OTHER])
    if fold_text(answer) == fold_text(other):
        return Score(0.5, label="same")
    sources = list_sources(contexts) if contexts is not None else []
    replies = yield from ask_all(
        *(
            prefer(question, answers, reference=reference, sources=sources, language=language)
            for answers in ((answer, other), (other, answer))
        )
    )
    choices = [_read_choice(reply) for reply in replies]
    vote = choose_vote(*choices)
    findings = tuple(
        Finding(text=order, verdict=choice, reason=str(reply.get("reason", "")))
        for order, choice, reply in zip(("AB", "BA"), choices, replies, strict=True)
    )
    return Score(0.5, label=vote, findings=findings)


PREFERENCE_METRIC = Metric(
    name=METRIC,
    function=judge_preference,
    family=METRIC,
    takes=("question", "answer", "meta", "reference", "contexts", "language"),
    needs=("question", "answer", "meta"),
    judged=True,
)


def list_pairs(runs: Sequence[StoredRun], baseline: int = 0) -> list[Pair]:
    """Every two runs, the baseline's pairs with it as the first."""
    ordered = [runs[baseline], *(run for n, run in enumerate(runs) if n != baseline)]
    return list(combinations(ordered, 2))


def pair_samples(pair: Pair) -> list[Sample]:
    """The questions that both runs answered, with both answers and the chunks of either."""
    first, second = pair
    others = {row.id: row.sample for row in second.rows()}
    language = first.info.plan.language
    samples = []
    for row in first.rows():
        sample, other = row.sample, others.get(row.id)
        if other is None or sample.answer is None or other.answer is None:
            continue
        if sample.error is not None or other.error is not None or not sample.question:
            continue
        contexts = _join_contexts(sample.contexts, other.contexts)
        joint = replace(sample, contexts=contexts, meta={**sample.meta, OTHER: other.answer})
        samples.append(set_language(joint, language))
    return samples


def compare_answers(
    runs: Sequence[StoredRun],
    judge: Judge,
    *,
    baseline: int = 0,
    margin: float = 0.02,
    correction: Correction = "bonferroni",
    floor: float = 0.95,
    effect: float | None = None,
    concurrency: int | None = None,
    watch: ProgressCallback | None = None,
) -> PreferenceStudy:
    """Have a judge compare the answers of every two runs, question by question; replies are cached in the runs' store."""
    paired = [(pair, pair_samples(pair)) for pair in list_pairs(runs, baseline)]
    if not any(samples for _, samples in paired):
        raise RagstoneError("the runs have no question that both answered; compare runs of one set")
    scores = score_unstored(
        [sample for _, samples in paired for sample in samples], [PREFERENCE_METRIC], judge,
        runs[0].store, concurrency=concurrency, watch=watch,
    )  # fmt: skip
    rest = iter(scores)
    ballots = {
        (first.id, second.id): [_to_ballot(sample, next(rest)[METRIC]) for sample in samples]
        for (first, second), samples in paired
    }
    pairs = decide_preferences(
        ballots, margin=margin, correction=correction, floor=floor, effect=effect
    )
    agreed = [
        replace(pair, agreement=_measure_agreement(runs_of_pair, pair))
        for (runs_of_pair, _), pair in zip(paired, pairs, strict=True)
    ]
    withheld = any(pair.difference.verdict == "withheld" for pair in agreed)
    return PreferenceStudy(
        judge=judge.name,
        baseline=runs[baseline].id,
        names={run.id: run.info.name for run in runs},
        pairs=tuple(agreed),
        # where votes are missing a ranking would rest on the ties that are left
        ranking=rank_runs(agreed) if len(runs) > 2 and not withheld else (),
    )


def _read_choice(reply: Any) -> str:
    choice = reply.get("better") if isinstance(reply, Mapping) else None
    if choice not in ("A", "B", "tie"):
        raise JudgeFailed("unparseable", "reply_without_rows", rows="better")
    return str(choice)


def _to_ballot(sample: Sample, score: Score) -> Ballot:
    group = sample.group or sample.id
    if not score.ok:
        failure = f"{score.outcome}: {score.kind}" if score.kind else score.outcome
        return Ballot(sample.id, group, None, failure, score.reason)
    reasons = [finding.reason for finding in score.findings] or ["", ""]
    vote = next(vote for vote in VALUES if vote == score.label)
    return Ballot(sample.id, group, vote, reasons=(reasons[0], reasons[1]))


def _join_contexts(first: Ranked | None, second: Ranked | None) -> Ranked | None:
    """The chunks of both, each text once."""
    if first is None and second is None:
        return None
    chunks = {chunk.text.strip(): chunk for chunk in (*(first or ()), *(second or ()))}
    return Ranked(chunk for text, chunk in chunks.items() if text)


def _measure_agreement(runs: Pair, pair: PairPreference) -> LabelAgreement | None:
    """The judge's votes beside people's preferences on the same two answers; None without labels."""
    people = _collect_preferences(runs)
    table: Counter[tuple[float | str, float | str]] = Counter()
    for ballot in pair.ballots:
        if ballot.vote is not None and ballot.sample in people:
            vote = ballot.vote if ballot.vote in ("first", "second") else "tie"
            table[people[ballot.sample], vote] += 1
    if not table:
        return None
    same = sum(n for (person, vote), n in table.items() if person == vote)
    return LabelAgreement(sum(table.values()), same, *measure_kappa(table))


def _collect_preferences(runs: Pair) -> dict[str, str]:
    """Sample → which run's answer people prefer: first, second or tie.

    A label is of the run whose answer is its first; its item names the other run, by id or name."""
    preferred: dict[str, str] = {}
    for swapped, (own, other) in ((False, runs), (True, runs[::-1])):
        for label in resolve_labels(load_run_labels(own, "preference")):
            if label.item not in (other.id, other.info.name) or label.value is None:
                continue
            value = 1 - label.value if swapped else label.value
            preferred[label.sample] = "first" if value > 0.5 else "second" if value < 0.5 else "tie"
    return preferred
