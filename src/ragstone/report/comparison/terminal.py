"""A comparison as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ragstone.report import figures
from ragstone.report.comparison import sentences
from ragstone.report.comparison.samples import moved_views
from ragstone.report.terminal import COLOURS, Screen
from ragstone.report.words import words
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ragstone.analysis.compare import Comparison, Difference, Versus
    from ragstone.store import StoredRun

WIDE = 100
"""Columns from which the verdict has one of its own."""
SAMPLES = 3
"""Samples shown each way; the HTML report has more."""


def show(
    comparison: Comparison, runs: Mapping[str, StoredRun], console: Console, language: str = "en"
) -> None:
    """Print the comparison."""
    screen = Screen(console, words(language))
    for versus in comparison.versus:
        _versus(versus, comparison, runs, screen)
    _judging(comparison, screen)
    screen.line(sentences.method(comparison, screen.say), "dim")
    screen.line("")
    verdict = sentences.state(comparison, screen.say)
    screen.line(verdict.text, COLOURS[verdict.tone])


def _versus(
    versus: Versus, comparison: Comparison, runs: Mapping[str, StoredRun], screen: Screen
) -> None:
    say = screen.say
    names = {"run": versus.run.name, "baseline": comparison.baseline.name}
    screen.line(figures.shortened(say("against", **names), 200), "bold")
    for line in sentences.notes(versus, comparison, say):
        screen.line(line.text, COLOURS[line.tone])
    screen.line("")
    screen.put(_table(versus.differences, comparison, screen))
    if screen.width < WIDE:
        for one in versus.differences:
            line = sentences.verdict(one, comparison.floor, say)
            screen.line(f"{one.metric}: {line.text}", COLOURS[line.tone])
    for one in versus.differences:
        lines = sentences.metric_notes(one, versus, comparison, say)
        if lines:
            screen.line("")
            screen.line(one.metric, "bold")
        for line in lines:
            screen.indented(line.text, COLOURS[line.tone])
    screen.line("")
    before, after = runs[comparison.baseline.id], runs[versus.run.id]
    for key, moved, total in (
        ("regressed", versus.regressed, versus.regressed_count),
        ("fixed", versus.fixed, versus.fixed_count),
    ):
        shown = list(islice(moved, SAMPLES))
        note = say("shown_most", shown=say.whole(len(shown)), total=say.whole(total))
        screen.line(f"{say(key)}: {note if shown else say('none_moved')}", "bold")
        for view in moved_views(shown, before, after, say):
            scores = ", ".join(f"{name} {arrow}" for name, arrow in view.scores[:4])
            screen.indented(f"{view.id}  {figures.shortened(view.question, 100)}")
            screen.indented(f"  {scores}", "dim")
            for label, side in (("−", view.before), ("+", view.after)):
                text = side.error or (say("no_answer") if not side.answer else side.answer)
                screen.indented(f"  {label} {figures.shortened(text, 160)}", "dim")
    screen.line("")


def _table(differences: Sequence[Difference], comparison: Comparison, screen: Screen) -> Table:
    say = screen.say
    columns = [(say("metric"), False), (say("before"), True), (say("after"), True)]
    columns += [(say("difference"), True), (say("interval_short"), True)]
    columns.append((say(f"p_corrected.{comparison.correction}"), True))
    if screen.width >= WIDE:
        columns.append((say("verdict"), False))
    table = screen.table(*columns)
    for one in sorted(differences, key=lambda one: one.resource):
        line = sentences.verdict(one, comparison.floor, say)
        style = COLOURS[line.tone] if line.tone != "plain" else ""
        cells = [
            screen.cell(f"{one.metric} {'↑' if one.higher_is_better else '↓'}"),
            screen.cell(say.number(one.before)),
            screen.cell(say.number(one.after)),
            screen.cell(sentences.signed(one.difference, say), style or "bold"),
            screen.cell(sentences.signed_interval(one, say)),
            screen.cell(sentences.p_value(one.adjusted, say)),
        ]
        if screen.width >= WIDE:
            cells.append(screen.cell(line.text, style))
        table.add_row(*cells)
    return table


def _judging(comparison: Comparison, screen: Screen) -> None:
    infos = [comparison.baseline, *(versus.run for versus in comparison.versus)]
    if all(info.usage == NO_USAGE for info in infos):
        return
    say = screen.say
    keys = ("calls", "input_tokens", "output_tokens", "usd")
    table = screen.table((say("judging"), False), *((say(key), True) for key in keys))
    for info in infos:
        used = info.usage
        table.add_row(
            screen.cell(sentences.name_of(info.name)),
            screen.cell(say.whole(used.calls)),
            screen.cell(say.whole(used.input_tokens)),
            screen.cell(say.whole(used.output_tokens)),
            screen.cell(say.money(used.usd)),
        )
    screen.put(table)
    screen.line("")
