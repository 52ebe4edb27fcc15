"""The summary of a run as a table for a terminal, as wide as it is and in the characters it has."""

from __future__ import annotations

import shlex
import unicodedata
from typing import TYPE_CHECKING

from ragstone.analysis import label_rates
from ragstone.report import figures
from ragstone.report.words import Words, words
from ragstone.store import default_place
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from ragstone.analysis import MetricSummary, Summary
    from ragstone.types import Usage

WIDE, VERY_WIDE = 100, 118
"""Columns from which deviation and median are shown and tokens told apart, and the interval is drawn."""

COLOURS = {"good": "green", "bad": "bold red", "warn": "yellow", "plain": "dim"}

PLAIN = str.maketrans(
    {"↑": "^", "↓": "v", "✓": "+", "✗": "x", "–": "-", "…": ".", "×": "x", "·": "-", "÷": "/"}
    | {"━": "=", "┿": "|", "\u202f": " ", "\xa0": " ", "“": '"', "”": '"', "’": "'", "°": " "}
)
"""What stands for a sign where the terminal cannot write it."""


def show(summary: Summary, console: Console, language: str = "en") -> None:
    """Print the summary."""
    screen = Screen(console, words(language))
    info, say = summary.run, screen.say
    screen.line(figures.shortened(info.name or info.id, 200), "bold")
    screen.line(" · ".join(figures.heading(summary, say)), "dim")
    screen.line("")
    screen.put(_metrics(summary, screen))
    _notes(summary, screen)
    for one in summary.metrics:
        if one.labels:
            screen.line("")
            screen.put(_labels(one, screen))
    if any(one.usage != NO_USAGE for one in summary.metrics):
        screen.line("")
        screen.put(_costs(summary, screen))
    _ending(summary, screen)


def text(summary: Summary, language: str = "en", width: int = 100) -> str:
    """The summary as plain text."""
    import io

    from rich.console import Console

    out = io.StringIO()
    show(summary, Console(file=out, width=width, force_terminal=False, color_system=None), language)
    return out.getvalue()


class Screen:
    """A console with the words of one language, which never gets a character it cannot write."""

    def __init__(self, console: Console, say: Words) -> None:
        self.console = console
        self.say = say
        self.width = console.width

    def cell(self, content: str, style: str = "") -> Text:
        """Styled text; nothing in it is taken for markup or a control sequence."""
        from rich.text import Text

        return Text(fitting(content, self.console.encoding), style=style)

    def line(self, content: str, style: str = "") -> None:
        """One paragraph."""
        self.console.print(self.cell(content, style), highlight=False)

    def indented(self, content: str, style: str = "") -> None:
        """A paragraph set in by two columns."""
        for part in self.cell(content, style).wrap(self.console, max(self.width - 2, 1)):
            part.rstrip()
            self.console.print(self.cell("  ") + part, highlight=False)

    def put(self, what: RenderableType) -> None:
        """A table."""
        self.console.print(what, highlight=False)

    def table(self, *columns: tuple[str, bool]) -> Table:
        """An empty table; a column is a heading and whether it holds numbers."""
        from rich import box
        from rich.table import Table

        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for heading, numeric in columns:
            grid.add_column(
                self.cell(heading),
                justify="right" if numeric else "left",
                overflow="fold",
                no_wrap=numeric,
            )
        return grid


def fitting(content: str, encoding: str) -> str:
    """The text without control characters, in characters that the encoding has."""
    visible = "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else " " for c in content)
    try:
        visible.encode(encoding)
    except UnicodeEncodeError:
        plain = unicodedata.normalize("NFKD", visible.translate(PLAIN))
        bare = "".join(c for c in plain if not unicodedata.combining(c))
        return bare.encode(encoding, "replace").decode(encoding)
    return visible


def _metrics(summary: Summary, screen: Screen) -> Table:
    say = screen.say
    columns = [(say("metric"), False), (say("mean"), True), (say("interval_short"), True)]
    if screen.width >= VERY_WIDE:
        columns.append(("", False))
    if screen.width >= WIDE:
        columns += [(say("sd"), True), (say("median"), True)]
    columns.append((say("coverage_short"), True))
    table = screen.table(*columns)
    for one in summary.metrics:
        table.add_row(*_row(one, screen))
    return table


def _row(one: MetricSummary, screen: Screen) -> list[Text]:
    say = screen.say
    name = f"{one.metric} {'↑' if one.higher_is_better else '↓'}"
    mean = say.number(one.mean)
    if one.complete:
        cells = [screen.cell(name), screen.cell(mean, "bold")]
    else:  # in brackets and marked, so that nobody reads it as a finished figure
        cells = [screen.cell(f"{name} ({say('incomplete')})", "yellow")]
        cells.append(screen.cell(f"({mean})", "dim"))
    style = "" if one.complete else "dim"
    cells.append(screen.cell(say.interval(one.low, one.high), style))
    if screen.width >= VERY_WIDE:
        cells.append(screen.cell(_drawn(one), "cyan" if one.complete else "dim"))
    if screen.width >= WIDE:
        cells += [screen.cell(say.number(value), style) for value in (one.sd, one.median)]
    counts = " / ".join(say.whole(n) for n in (one.scored, one.applicable, one.total))
    cells.append(screen.cell(counts, style))
    return cells


def _drawn(one: MetricSummary, width: int = 20) -> str:
    """The interval on the metric's scale."""
    if one.bounds is None or one.mean is None or one.low is None or one.high is None:
        return ""
    first, last = one.bounds
    place = [
        min(max(round((value - first) / (last - first) * (width - 1)), 0), width - 1)
        for value in (one.low, one.mean, one.high)
    ]
    marks = ["━" if place[0] <= at <= place[2] else "·" for at in range(width)]
    marks[place[1]] = "┿"
    return "".join(marks)


def _notes(summary: Summary, screen: Screen) -> None:
    for one in summary.metrics:
        lines = figures.metric_lines(one, summary.floor, screen.say)
        if lines:
            screen.line("")
            screen.line(one.metric, "bold")
        for line in lines:
            screen.indented(line.text, COLOURS[line.tone])


def _labels(one: MetricSummary, screen: Screen) -> Table:
    say = screen.say
    table = screen.table(
        (one.metric, False),
        (say("count"), True),
        (say("rate"), True),
        ("", False),
        (say("interval_short"), True),
    )
    for row in label_rates(one.labels):
        table.add_row(
            screen.cell(say.known("label", row.label)),
            screen.cell(say.whole(row.count)),
            screen.cell("–" if row.rate is None else say.percent(row.rate), "bold"),
            screen.cell(figures.share_of(row, say), "dim"),
            screen.cell(figures.percent_interval(row, say)),
        )
    return table


def _costs(summary: Summary, screen: Screen) -> Table:
    say = screen.say
    wide = screen.width >= WIDE
    tokens = ("input_tokens", "output_tokens") if wide else ("tokens",)
    keys = ("calls", "hits", *tokens, "usd")
    table = screen.table((say("usage"), False), *((say(key), True) for key in keys))
    used = [(one.metric, one.usage, "") for one in summary.metrics if one.usage != NO_USAGE]
    for name, usage, last in (*used, (say("sum"), summary.usage, "bold")):
        table.add_row(
            screen.cell(name, last),
            screen.cell(say.whole(usage.calls), last),
            screen.cell(say.whole(usage.hits), last),
            *(screen.cell(say.whole(count), last) for count in _tokens(usage, apart=wide)),
            screen.cell(say.money(usage.usd), last),
        )
    return table


def _tokens(usage: Usage, *, apart: bool) -> tuple[int, ...]:
    both = usage.input_tokens, usage.output_tokens
    return both if apart else (sum(both),)


def _ending(summary: Summary, screen: Screen) -> None:
    info, say = summary.run, screen.say
    judged = figures.judge_lines(summary, say)
    if judged:
        screen.line("")
        screen.line(judged[0], "dim")
        for quality in judged[1:]:
            screen.indented(quality, "dim")
    if summary.gates:
        screen.line("")
    for gate in summary.gates:
        line = figures.gate_line(gate, say)
        sign = "?" if gate.passed is None else "✓" if gate.passed else "✗"
        screen.line(f"{sign} {line.text}", COLOURS[line.tone])
    if info.bad_count:
        screen.line("")
        screen.line(say.count("skipped", info.bad_count), "yellow")
        for row in info.bad[:3]:
            screen.indented(figures.shortened(row, 200), "dim")
        if info.bad_count > 3:
            screen.indented(say("and_more", n=say.whole(info.bad_count - 3)), "dim")
    screen.line("")
    if info.status == "running":
        screen.line(say("unfinished"), "yellow")
    verdict = figures.state(summary, say)
    screen.line(verdict.text, COLOURS[verdict.tone])
    if info.place:
        where = "" if info.place == default_place() else f" --store {shlex.quote(info.place)}"
        screen.line(f"{say('full_report')} ragstone report {info.id}{where} -o report.html", "dim")
