"""The summary of a generation as text: how many items were asked for, made and rejected and why, and what may help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.testset.items import MEANINGS
from ragstone.testset.quotas import CAPPED_FROM, MAX_RULE_SHARE

if TYPE_CHECKING:
    from ragstone.testset.sets import TestSet

MAX_SHOWN_FILES = 3
"""Unreadable files that are named; the others are counted."""
REASONS: dict[str, str] = {
    "judge_failed": "the judge gave no usable reply",
    "empty": "no question or no answer",
    "malformed": "not what was ordered",
    "quote_not_verbatim": "the quote does not stand in the document",
    "leaked": "the question gives the answer away",
    "not_self_contained": "the question cannot be understood on its own",
    "duplicate": "asks the same as another one",
    "not_answerable_from_evidence": "the evidence does not give the answer",
    "answerable_without_evidence": "the answer shows without the evidence",
    "answered_by_corpus": "meant to have no answer, but a document tells it",
    "ambiguous": "another document gives another answer",
}
"""A sentence for each reason in items.REASONS."""


def format_summary(made: TestSet) -> str:
    """The whole account."""
    return "\n".join(iter_summary_lines(made))


def iter_summary_lines(made: TestSet) -> Iterator[str]:
    """Line by line: the figures first, then the tables, then what a reader should know."""
    rejected = len(made.rejected)
    yield (
        f"asked {made.asked:,}, made {len(made.items):,}, rejected {rejected:,}; "
        f"{made.giving:,} of {_format_count(made.documents, 'document')} gave items, {made.visited:,} looked through"
    )
    if made.usage.calls:
        calls_each = made.usage.calls / len(made.items) if made.items else 0
        per_item = f", {calls_each:.2f} an item" if made.items else ""
        money = f", {made.usage.usd:,.2f} USD" if made.usage.usd else ""
        tokens = made.usage.input_tokens + made.usage.output_tokens
        yield f"{_format_count(made.usage.calls, 'call')} to the judge{per_item}, {tokens:,} tokens{money}"
    if made.items:
        yield ""
        yield from _iter_table_lines(
            "kind", [(kind, n, MEANINGS[kind]) for kind, n in made.kinds.items()]
        )
    if rejected:
        yield ""
        rows = [(reason, n, REASONS[reason]) for reason, n in made.reasons.items()]
        yield from _iter_table_lines("rejected", rows)
    notes = list(_iter_notes(made))
    if notes:
        yield ""
        yield from notes


def _iter_notes(made: TestSet) -> Iterator[str]:
    yield from _iter_left_out(made)
    if made.spared:
        yield f"{made.spared} counts as a small model, so that rules wrote these questions; `small: false` in its settings has it write its own"
    yield from _iter_scarce_kinds(made)
    yield from _iter_shortfall(made)


def _iter_left_out(made: TestSet) -> Iterator[str]:
    """Documents that nothing was asked about, and why."""
    if made.without_text:
        yield f"{_format_count(made.without_text, 'document')} without text left out"
    if made.unreadable:
        files = _format_count(len(made.unreadable), "file")
        yield f"{files} could not be read and left out: {_name_files(made.unreadable)}"
    if made.other_languages:
        yield f"{_format_count(made.other_languages, 'document')} in other languages than --lang asks for left out"


def _iter_shortfall(made: TestSet) -> Iterator[str]:
    """Why there are fewer items than were asked for, and what may help."""
    if made.stopped:
        yield f"stopped before the end: {made.stopped}"
    elif len(made.items) < made.asked:
        judge = "" if made.usage.calls else ", or let a judge write with --judge"
        kinds = "allow other kinds with --kinds"
        yield (
            f"{_format_count(len(made.items), 'item')} of the {made.asked:,} wanted could be made; add "
            f"documents{', ' if judge else ' or '}{kinds}{judge}"
        )
        most = int(MAX_RULE_SHARE * made.asked)
        full = [
            kind for kind, got in made.kinds.items() if got >= most and kind not in made.given_up
        ]
        if full and made.asked >= CAPPED_FROM and not made.usage.calls:
            yield f"{', '.join(full)}: without a judge one kind fills {MAX_RULE_SHARE:.0%} of the items asked for at most; --kinds {full[0]} lifts that"


def _name_files(files: Sequence[str]) -> str:
    """The first files by name, the others by their number."""
    remaining = len(files) - MAX_SHOWN_FILES
    more = [f"and {remaining:,} more"] if remaining > 0 else []
    return "; ".join([*files[:MAX_SHOWN_FILES], *more])


def _iter_scarce_kinds(made: TestSet) -> Iterator[str]:
    """Kinds of items that the documents ran out of."""
    scarce = {kind: made.kinds.get(kind, 0) for kind in MEANINGS if kind in made.given_up}
    none = [kind for kind, got in scarce.items() if not got]
    some = [f"{kind} ({got:,})" for kind, got in scarce.items() if got]
    filled = "; other kinds took the place" if len(made.items) >= made.asked else ""
    if none:
        yield f"these documents yield no {', '.join(none)}{filled}"
    if some:
        yield f"these documents yield no more {', '.join(some)}{filled}"


def _iter_table_lines(head: str, rows: list[tuple[str, int, str]]) -> Iterator[str]:
    wide = max(len(head), *(len(name) for name, _, _ in rows))
    digits = max(1, *(len(f"{count:,}") for _, count, _ in rows))
    yield head
    for name, count, meaning in rows:
        yield f"  {name:<{wide}}  {count:>{digits},}  {meaning}"


def _format_count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
