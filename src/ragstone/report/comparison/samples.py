"""A sample that moved between two runs, with what each run answered and what was found in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ragstone.report.ledger import build_ledger
from ragstone.report.remarks import shorten
from ragstone.report.samples import FindingView, Limits, view_finding
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.changes import SampleChange
    from ragstone.analysis.columns import ComparableRun
    from ragstone.store import StoredRow

MAX_FINDINGS = 12
FINDING_LIMITS = Limits(text=300, chunks=0, findings=MAX_FINDINGS)
ANSWER_CHARS = 1_500
MIN_SHARED = 0.3
"""Share of words in common from which differences of two answers are marked."""


@dataclass(frozen=True, slots=True)
class SampleSide:
    """What one run did about the sample."""

    answer: str | None
    error: str
    contexts: tuple[str, ...]
    """Ids of the chunks, or their ranks when they have none."""
    findings: tuple[FindingView, ...]
    parts: tuple[tuple[str, bool], ...] = ()
    """The answer in stretches, and whether each is missing in the other run's answer; empty where nothing is shared."""


@dataclass(frozen=True, slots=True)
class SamplePair:
    """One sample in both runs."""

    id: str
    question: str
    reference: str
    scores: tuple[tuple[str, str], ...]
    """Metric, and its value before and after."""
    change: str
    before: SampleSide
    after: SampleSide


def view_pairs(
    changes: Sequence[SampleChange], before: ComparableRun, after: ComparableRun, t: Translator
) -> list[SamplePair]:
    """The samples as they are shown, in the order given."""
    pairs = []
    for change in changes:
        # The same sample may stand at another position in each run: positions are per run, ids are
        # shared.
        old, new = before.row(change.before), after.row(change.after)
        arrows = [
            (
                name,
                t("arrow", before=_format_value(pair[0], t), after=_format_value(pair[1], t)),
            )
            for name, pair in change.metrics.items()
        ]
        sign = "+" if change.change > 0 else "−"
        sides = _mark_sides(_view_side(old, change.metrics, t), _view_side(new, change.metrics, t))
        pairs.append(
            SamplePair(
                # Texts are cut here, not in the renderers: a page and a text show the same pair,
                # and a reply of a megabyte must not reach either.
                id=shorten(change.id, 120),
                question=shorten(old.sample.question or new.sample.question or "", 400),
                reference=shorten(old.sample.reference or new.sample.reference or "", 600),
                scores=tuple(arrows),
                change=sign + t.number(abs(change.change), 2),
                before=sides[0],
                after=sides[1],
            )
        )
    return pairs


def _view_side(row: StoredRow, metrics: Mapping[str, object], t: Translator) -> SampleSide:
    sample = row.sample
    scores = {name: score for name, score in row.scores.items() if name in metrics}
    entries = build_ledger(sample, scores).entries[:MAX_FINDINGS]
    chunks = sample.contexts or ()
    return SampleSide(
        answer=None if sample.answer is None else shorten(sample.answer, ANSWER_CHARS),
        error=shorten(t.system_error(sample, row.scores), 300),
        contexts=tuple(shorten(c.id or str(rank), 40) for rank, c in enumerate(chunks[:12], 1)),
        findings=tuple(view_finding(entry, FINDING_LIMITS, t) for entry in entries),
    )


def _mark_sides(before: SampleSide, after: SampleSide) -> tuple[SampleSide, SampleSide]:
    """Both sides with what stands in one answer only."""
    old, new = mark_differences(before.answer or "", after.answer or "")
    if not any(changed for _, changed in (*old, *new)):
        return before, after
    return replace(before, parts=old), replace(after, parts=new)


Parts = tuple[tuple[str, bool], ...]


def mark_differences(before: str, after: str) -> tuple[Parts, Parts]:
    """Both texts in stretches, and whether each stands in one of them only.

    Texts that share little are left unmarked: all of them is new."""
    words = [re.findall(r"\s*\S+", text) for text in (before, after)]
    plain = [[word.strip() for word in some] for some in words]
    matcher = SequenceMatcher(None, plain[0], plain[1], autojunk=False)
    if not all(words) or matcher.ratio() < MIN_SHARED:
        return ((before, False),), ((after, False),)
    parts: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        for some, stretch in ((0, words[0][old_from:old_to]), (1, words[1][new_from:new_to])):
            if stretch:
                parts[some].append(("".join(stretch), kind != "equal"))
    return tuple(parts[0]), tuple(parts[1])


def _format_value(value: float | str, t: Translator) -> str:
    return t.number(value) if isinstance(value, float) else t.outcome(value)
