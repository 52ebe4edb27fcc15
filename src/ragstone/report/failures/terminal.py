"""Failure classes and advice on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.report.failures import sentences
from ragstone.report.terminal import COLOURS, Screen
from ragstone.report.words import words

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures
    from ragstone.store import StoredRun

EXAMPLES = 2


def show(failures: Failures, run: StoredRun, console: Console, language: str = "en") -> None:
    """Print the classes, the slices that fail more than the rest, and examples."""
    screen = Screen(console, words(language))
    say = screen.say
    screen.line(failures.run.name, "bold")
    screen.line("")
    wide = screen.width >= 100
    table = screen.table(
        (say("class"), False),
        (say("count"), True),
        (say("rate"), True),
        (say("interval_short"), True),
        *([(say("meaning_column"), False)] if wide else []),
    )
    for row in sentences.class_rows(failures, say):
        cells = [screen.cell(row.name, COLOURS[row.tone] if row.tone != "plain" else "")]
        cells += [screen.cell(text) for text in (row.count, row.share, row.interval)]
        table.add_row(*cells, *([screen.cell(row.means, "dim")] if wide else []))
    screen.put(table)
    for line in sentences.notes(failures, say):
        screen.line(line.text, COLOURS[line.tone])
    screen.line("")
    if failures.worse:
        screen.line(say("slices_worse"), "bold")
        heads = sentences.slice_heads(say)
        grid = screen.table(*((head, 0 < at < len(heads) - 1) for at, head in enumerate(heads)))
        for one in failures.worse:
            grid.add_row(*(screen.cell(text) for text in sentences.slice_cells(one, say)))
        screen.put(grid)
    screen.line(sentences.slices_note(failures, say), "dim")
    for kind, some in sentences.examples(failures, run, say, EXAMPLES):
        screen.line("")
        screen.line(sentences.class_name(kind, say), "bold")
        for example in some:
            screen.indented(f"{example.id}  {example.question}")
            if example.answer:
                screen.indented(f"  {say('answer')}: {example.answer}", "dim")
            for text in (example.values, *example.details):
                screen.indented(f"  {text}", "dim")
    screen.line("")
    state = sentences.state(failures, say)
    screen.line(state.text, COLOURS[state.tone])


def show_diagnosis(diagnoses: Sequence[Diagnosis], console: Console, language: str = "en") -> None:
    """Print the symptoms with their evidence and what to try."""
    screen = Screen(console, words(language))
    say = screen.say
    if not diagnoses:
        screen.line(say("no_symptoms"), "green")
    for number, one in enumerate(sentences.diagnosis_views(diagnoses, say), 1):
        doubt = "" if one.sure else f" ({say('perhaps')})"
        screen.line(f"{number}. {one.title}{doubt}", "bold")
        for text in one.evidence:
            screen.indented(text, "yellow")
        if not one.sure:
            screen.indented(say("perhaps_note"), "dim")
        for advice in one.advice:
            screen.indented(f"– {advice.cause}", "dim")
            screen.indented(f"  {say('then_try')}: {advice.advice}")
            if advice.command:
                screen.indented(f"  $ {advice.command}", "cyan")
        screen.line("")
