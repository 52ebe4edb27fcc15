"""The lists of the live page: slices of a field, and interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.config.monitor import BAD_FEEDBACK
from ragstone.monitor.windows.interactions import JudgedInteraction, find_scale
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.report.monitor.query import Query
from ragstone.report.monitor.times import format_second
from ragstone.report.remarks import Severity, shorten
from ragstone.report.samples import Limits, OpenSample, ScoreView, open_sample
from ragstone.report.translator import Translator

MAX_SHOWN_SLICES = 20
"""Slices that the page lists; it says how many more there are."""
MAX_CHIPS = 5
"""Scores shown beside an interaction in a list; its own page has all."""
BRIEF = Limits(text=400, chunks=2, findings=8)
"""How much of an interaction is prepared for a line of a list; its own page has more."""


@dataclass(frozen=True, slots=True)
class InteractionEntry:
    """One interaction in a list."""

    id: str
    href: str
    when: str
    question: str
    answer: str
    error: str
    chips: tuple[ScoreView, ...]
    feedback: str
    """The user's feedback from 0 to 1 as text; empty when there is none."""
    severity: Severity
    """Whether that feedback is good or bad; empty when there is none."""
    comment: str


@dataclass(frozen=True, slots=True)
class SliceEntry:
    """One value of a field in a table."""

    value: str
    href: str
    figures: tuple[str, ...]
    """Interactions, their share of all, and the mean of each metric."""


def build_slices(
    slices: Sequence[Window], total: int, names: Sequence[str], query: Query, t: Translator
) -> list[SliceEntry]:
    """Each value of a field with its means, and a link to the page of it alone."""
    # Both are read while interactions arrive: the slices may already count more than the total.
    whole = max(total, sum(slice.interactions for slice in slices), 1)
    return [
        SliceEntry(
            shorten(slice.value, 80) or "–",
            query.href(slice=f"{slice.field}:{slice.value}"),
            (
                t.whole(slice.interactions),
                t.percent(slice.interactions / whole),
                *(format_mean(slice.metrics.get(name), t) for name in names),
            ),
        )
        for slice in slices
    ]


def list_slice_choices(slices: Sequence[Window], query: Query) -> list[tuple[str, str]]:
    """Values and texts of the slice filter: those of the chosen field, and the one that is on."""
    pairs = [(slice.field, slice.value) for slice in slices[:MAX_SHOWN_SLICES]]
    if query.slice and query.slice not in pairs:
        pairs.insert(0, query.slice)
    return [(f"{field}:{value}", f"{field} = {shorten(value, 60)}") for field, value in pairs]


def open_interaction(judged: JudgedInteraction, t: Translator) -> OpenSample:
    """An interaction as a sample that can be viewed."""
    metrics = [find_scale(name) for name in judged.scores]
    return open_sample(judged, metrics, t, judged.scales)


def build_entry(judged: JudgedInteraction, query: Query, t: Translator) -> InteractionEntry:
    """An interaction as a line of a list, with a link to its page."""
    view = open_interaction(judged, t).build_view(BRIEF)
    interaction = judged.interaction
    feedback = interaction.feedback
    return InteractionEntry(
        id=interaction.id,
        href=query.href("interaction", id=interaction.id),
        when=format_second(interaction.at, t),
        question=view.title,
        answer=shorten(interaction.answer or "", 240),
        error=view.error,
        chips=tuple(view.chips[:MAX_CHIPS]),
        feedback="" if feedback is None else t.number(feedback, 2),
        severity="" if feedback is None else "bad" if feedback < BAD_FEEDBACK else "good",
        comment=shorten(interaction.comment or "", 160),
    )


def format_mean(figure: SeriesStats | None, t: Translator) -> str:
    """A mean with its interval."""
    if figure is None or figure.mean is None:
        return "–"
    ends = "" if figure.low is None else f" ({t.interval(figure.low, figure.high)})"
    return t.number(figure.mean) + ends
