"""The lists of the live page: slices of a field, and interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.monitor.windows.summary import Figure, Window
from ragstone.report import samples
from ragstone.report.figures import shortened
from ragstone.report.monitor import reading
from ragstone.report.monitor.query import Query
from ragstone.report.monitor.times import exact
from ragstone.report.words import Words

MOST_SLICES = 20
BRIEF = samples.Limits(text=400, chunks=2, findings=8)


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One value of a field."""

    value: str
    href: str
    count: str
    share: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InteractionRow:
    """One interaction in a list."""

    id: str
    href: str
    when: str
    question: str
    answer: str
    error: str
    chips: tuple[samples.ScoreView, ...]
    feedback: str
    tone: str
    comment: str


def slice_rows(
    slices: Sequence[Window], total: int, names: Sequence[str], query: Query, say: Words
) -> list[SliceRow]:
    """Each value of a field with its means, and a link to the page of it alone."""
    whole = max(total, sum(one.interactions for one in slices), 1)
    return [
        SliceRow(
            value=shortened(one.value, 80),
            href=query.href(slice=f"{one.field}:{one.value}"),
            count=say.whole(one.interactions),
            share=say.percent(one.interactions / whole),
            cells=tuple(mean_cell(one.metrics.get(name), say) for name in names),
        )
        for one in slices
    ]


def slice_choices(slices: Sequence[Window], query: Query) -> list[tuple[str, str]]:
    """Values and texts of the slice filter: those of the chosen field, and the one that is on."""
    pairs = [(one.field, one.value) for one in slices[:MOST_SLICES]]
    if query.slice and query.slice not in pairs:
        pairs.insert(0, query.slice)
    return [(f"{field}:{value}", f"{field} = {shortened(value, 60)}") for field, value in pairs]


def interaction_row(one: reading.Seen, query: Query, say: Words) -> InteractionRow:
    """An interaction as a line of a list, with a link to its page."""
    ranges = [reading.range_of(name) for name in one.scores]
    view = samples.view(one, samples.opened(one, ranges), ranges, BRIEF, say)
    told = one.interaction
    tone = "" if told.feedback is None else "bad" if told.feedback < 0.5 else "good"
    return InteractionRow(
        id=shortened(told.id, 60),
        href=query.href("interaction", id=told.id),
        when=exact(told.at, say),
        question=view.title,
        answer=shortened(told.answer or "", 240),
        error=view.error,
        chips=tuple(view.chips[:5]),
        feedback="" if told.feedback is None else say.number(told.feedback, 2),
        tone=tone,
        comment=shortened(told.comment or "", 160),
    )


def mean_cell(figure: Figure | None, say: Words) -> str:
    """A mean with its interval."""
    if figure is None or figure.mean is None:
        return "–"
    ends = "" if figure.low is None else f" ({say.interval(figure.low, figure.high)})"
    return say.number(figure.mean) + ends
