"""The summary of a generation as text: how many items were asked for, made and refused and why, and what may help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.testset.items import MEANINGS

if TYPE_CHECKING:
    from ragstone.testset.sets import TestSet

MAX_SHOWN_FILES = 3
"""Unreadable files that are named; the others are counted."""
REASONS: dict[str, str] = {
    "judge_failed": "the judge gave no usable reply",
    "empty": "no question was written",
    "no_answer": "a question without an answer below it",
    "malformed": "not what was ordered",
    "quote_not_verbatim": "the quote does not stand in the document",
    "leaked": "the question gives the answer away",
    "copied": "the question is the wording of its page",
    "not_self_contained": "the question cannot be understood on its own",
    "duplicate": "asks the same as another one",
    "not_answerable_from_evidence": "the evidence does not give the answer",
    "answerable_without_evidence": "the answer shows without the evidence",
    "answered_by_corpus": "meant to have no answer, but a document tells it",
    "ambiguous": "another document gives another answer",
    "contradictory": "two documents answer the same words and contradict each other",
}
"""A sentence for each reason in items.REASONS."""
OTHER_SOURCES = (
    "what would give questions: a model that writes them (--judge openai:MODEL, or a local server with --base-url), "
    "a log of what people asked (--from-log FILE, --from-monitor), or people who write some by hand"
)
MAX_CONTRADICTIONS = 5


def format_summary(made: TestSet) -> str:
    """The whole account."""
    return "\n".join(iter_summary_lines(made))


def iter_summary_lines(made: TestSet) -> Iterator[str]:
    """Line by line: the figures first, then the tables, then what a reader should know."""
    yield _describe_figures(made)
    if made.usage.calls:
        money = f", {made.usage.usd:,.2f} USD" if made.usage.usd else ""
        tokens = made.usage.input_tokens + made.usage.output_tokens
        each = f", {made.usage.calls / len(made.items):.1f} an item" if made.items else ""
        yield f"{_format_count(made.usage.calls, 'call')} to the judge{each}, {tokens:,} tokens{money}"
    if made.items:
        yield ""
        rows = [(kind, n, MEANINGS[kind]) for kind, n in made.kinds.items()]
        yield from _iter_table_lines("kind", rows)
    if made.rejected:
        yield ""
        refused = [(reason, n, REASONS[reason]) for reason, n in made.reasons.items()]
        yield from _iter_table_lines("refused", refused)
    notes = list(_iter_notes(made))
    if notes:
        yield ""
        yield from notes


def _describe_figures(made: TestSet) -> str:
    refused = f"made {len(made.items):,}, refused {len(made.rejected):,}"
    documents = _format_count(made.documents, "document")
    if made.route == "log":
        beside = f"; candidates from {documents}" if made.documents else ""
        return (
            f"asked {made.asked:,}, made {len(made.items):,} of "
            f"{_format_count(made.outcome.there, 'question')} of the log{beside}"
        )
    if made.route == "judge":
        return (
            f"asked {made.asked:,}, proposed {made.outcome.proposed:,}, {refused}; {made.giving:,} of "
            f"{documents} gave items"
        )
    there = _format_count(made.outcome.there, "question")
    return f"asked {made.asked:,}, {refused}; {documents} ask {there}, {made.giving:,} gave items"


def _iter_notes(made: TestSet) -> Iterator[str]:
    if made.without_text:
        yield f"{_format_count(made.without_text, 'document')} without text left out"
    if made.unreadable:
        files = _format_count(len(made.unreadable), "file")
        yield f"{files} could not be read and left out: {_name_files(made.unreadable)}"
    yield from made.outcome.notes
    contradictions = list(
        dict.fromkeys(one.detail for one in made.rejected if one.reason == "contradictory")
    )
    for detail in contradictions[:MAX_CONTRADICTIONS]:
        yield f"contradiction: {detail}"
    none = [kind for kind in made.given_up if not made.kinds.get(kind)]
    if none:
        yield f"nothing of {', '.join(none)} came; other kinds took the place"
    if made.stopped:
        yield f"stopped before the end: {made.stopped}"
    elif not made.items:
        what = {
            "documents": "these documents ask nothing that they answer",
            "log": "the log holds no question",
        }
        yield f"{what.get(made.route, 'no question passed its proofs')}; {OTHER_SOURCES}"
    elif len(made.items) < made.asked and made.route == "documents":
        yield f"the documents hold no more questions; {OTHER_SOURCES}"


def _name_files(files: Sequence[str]) -> str:
    """The first files by name, the others by their number."""
    remaining = len(files) - MAX_SHOWN_FILES
    more = [f"and {remaining:,} more"] if remaining > 0 else []
    return "; ".join([*files[:MAX_SHOWN_FILES], *more])


def _iter_table_lines(head: str, rows: list[tuple[str, int, str]]) -> Iterator[str]:
    wide = max(len(head), *(len(name) for name, _, _ in rows))
    digits = max(1, *(len(f"{count:,}") for _, count, _ in rows))
    yield head
    for name, count, meaning in rows:
        yield f"  {name:<{wide}}  {count:>{digits},}  {meaning}"


def _format_count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
