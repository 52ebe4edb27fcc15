"""A sample that moved between two runs, with what each run answered and what was found in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.report.figures import shortened
from ragstone.report.ledger import ledger
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.changes import Change
    from ragstone.store import StoredRow, StoredRun

FINDINGS = 12
TEXT = 1_500


@dataclass(frozen=True, slots=True)
class FoundView:
    """One finding in one of the answers."""

    text: str
    verdict: str
    tone: str
    reason: str
    metrics: str


@dataclass(frozen=True, slots=True)
class Side:
    """What one run did about the sample."""

    answer: str | None
    error: str
    contexts: tuple[str, ...]
    """Ids of the chunks, or their ranks when they have none."""
    findings: tuple[FoundView, ...]


@dataclass(frozen=True, slots=True)
class MovedView:
    """One sample in both runs."""

    id: str
    question: str
    reference: str
    scores: tuple[tuple[str, str], ...]
    """Metric, and its value before and after."""
    change: str
    before: Side
    after: Side


def moved_views(
    moved: Sequence[Change], before: StoredRun, after: StoredRun, say: Words
) -> list[MovedView]:
    """The samples as they are shown, those that moved most first."""
    found = []
    for one in moved:
        old, new = before.row(one.before), after.row(one.after)
        arrows = [
            (name, say("arrow", before=_value(pair[0], say), after=_value(pair[1], say)))
            for name, pair in one.metrics.items()
        ]
        sign = "+" if one.change > 0 else "−"
        found.append(
            MovedView(
                id=shortened(one.id, 120),
                question=shortened(old.sample.question or new.sample.question or "", 400),
                reference=shortened(old.sample.reference or new.sample.reference or "", 600),
                scores=tuple(arrows),
                change=sign + say.number(abs(one.change), 2),
                before=_side(old, one.metrics, say),
                after=_side(new, one.metrics, say),
            )
        )
    return found


def _side(row: StoredRow, metrics: Mapping[str, object], say: Words) -> Side:
    sample = row.sample
    scores = {name: score for name, score in row.scores.items() if name in metrics}
    entries = ledger(sample, scores).entries[:FINDINGS]
    chunks = sample.contexts or ()
    return Side(
        answer=None if sample.answer is None else shortened(sample.answer, TEXT),
        error=shortened(sample.error or "", 300),
        contexts=tuple(shortened(c.id or str(rank), 40) for rank, c in enumerate(chunks[:12], 1)),
        findings=tuple(
            FoundView(
                text=shortened(entry.finding.text, 300),
                verdict=say.known("verdict", entry.finding.verdict),
                tone=entry.tone,
                reason=shortened(say.message(entry.finding.reason), 200),
                metrics=", ".join(entry.metrics),
            )
            for entry in entries
        ),
    )


def _value(value: float | str, say: Words) -> str:
    return say.number(value) if isinstance(value, float) else say.outcome(value)
