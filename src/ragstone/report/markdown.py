"""The summary of a run as GitHub-flavoured Markdown, fit for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ragstone.analysis import label_rates
from ragstone.report import figures
from ragstone.report.words import Words, words
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.store import StoredRun

WORST = 10
"""Samples listed; the HTML report has the rest."""


def render(run: StoredRun, summary: Summary, language: str = "en") -> str:
    """The report as Markdown text."""
    say = words(language)
    parts = [
        [f"# {escaped(summary.run.name or summary.run.id)}"],
        [_heading(summary, say)],
        [f"**{escaped(figures.state(summary, say).text)}**"],
        _metrics(summary, say),
        _notes(summary, say),
        _gates(summary, say),
        *(_labels(one, say) for one in summary.metrics if one.labels),
        _costs(summary, say),
        [f"- {escaped(line, 900)}" for line in figures.judge_lines(summary, say)],
        _skipped(summary, say),
        _worst(run, summary, say),
        [_command(summary)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if any(part)) + "\n"


def escaped(text: str, limit: int = 300) -> str:
    """Text on one line in which nothing is Markdown, HTML, a mention or the end of a cell."""
    line = figures.shortened("".join(c if c.isprintable() else " " for c in text), limit)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", line)
    # a pull request calls nobody and links no issue because a sample says so
    line = re.sub(r"(?<!\w)@(?=\w)|#(?=\d)", r"\g<0>&#8203;", line)
    # no heading, list or rule at its start
    return re.sub(r"^(\d+(?=[.)])|(?=[#+=.)-]))(.)", r"\1\\\2", line)


def _command(summary: Summary) -> str:
    line = figures.command(summary.run)
    return f"`{line}`" if line.isprintable() and line and "`" not in line else ""


def _heading(summary: Summary, say: Words) -> str:
    facts = [*figures.heading(summary, say), figures.moment(summary.run.created)]
    return " · ".join(escaped(fact) for fact in facts)


def _metrics(summary: Summary, say: Words) -> list[str]:
    rows = []
    for one in summary.metrics:
        mean = say.number(one.mean)
        shown = f"**{mean}**" if one.complete else f"({mean}) ⚠ {say('incomplete')}"
        counts = (one.scored, one.applicable, one.total)
        rows.append(
            [
                f"{code(one.metric)} {'↑' if one.higher_is_better else '↓'}",
                shown,
                say.interval(one.low, one.high),
                say.number(one.median),
                " / ".join(say.whole(count) for count in counts),
            ]
        )
    heads = [say(key) for key in ("metric", "mean", "interval", "median", "coverage")]
    return table(heads, rows)


def _notes(summary: Summary, say: Words) -> list[str]:
    return [
        f"- {code(one.metric)}: {escaped(line.text, 900)}"
        for one in summary.metrics
        for line in figures.metric_lines(one, summary.floor, say)
    ]


def _gates(summary: Summary, say: Words) -> list[str]:
    if not summary.gates:
        return []
    signs = {None: "❓", True: "✅", False: "❌"}
    lines = [
        f"- {signs[gate.passed]} {escaped(figures.gate_line(gate, say).text)}"
        for gate in summary.gates
    ]
    return [f"## {say('gates')}", "", *lines]


def _labels(one: MetricSummary, say: Words) -> list[str]:
    rows = [
        [
            escaped(say.known("label", row.label)),
            say.whole(row.count),
            "–" if row.rate is None else say.percent(row.rate),
            figures.share_of(row, say),
            figures.percent_interval(row, say),
        ]
        for row in label_rates(one.labels)
    ]
    heads = [say("label"), say("count"), say("rate"), "", say("interval")]
    title = say("labels_of", metric=code(one.metric))
    return [f"## {title}", "", *table(heads, rows)]


def _costs(summary: Summary, say: Words) -> list[str]:
    used = [(code(m.metric), m.usage) for m in summary.metrics if m.usage != NO_USAGE]
    if not used:
        return []
    rows = [
        [
            name,
            say.whole(usage.calls),
            say.whole(usage.hits),
            say.whole(usage.input_tokens),
            say.whole(usage.output_tokens),
            escaped(say.money(usage.usd)),
        ]
        for name, usage in (*used, (say("sum"), summary.usage))
    ]
    heads = [
        say(key) for key in ("metric", "calls", "hits", "input_tokens", "output_tokens", "usd")
    ]
    return [f"## {say('usage')}", "", *table(heads, rows)]


def _skipped(summary: Summary, say: Words) -> list[str]:
    info = summary.run
    if not info.bad_count:
        return []
    return [
        escaped(say.count("skipped", info.bad_count)),
        "",
        *(f"- {escaped(row)}" for row in info.bad),
    ]


def _worst(run: StoredRun, summary: Summary, say: Words) -> list[str]:
    rows = []
    for position in islice(summary.worst, WORST):
        row = run.row(position)
        scores = [
            say.number(score.value) if score.ok else escaped(say.outcome(score.outcome))
            for score in (row.scores[one.metric] for one in summary.metrics)
        ]
        question = escaped(row.sample.question or say("no_question"), 120)
        rows.append([escaped(row.id, 40), question, *scores])
    if not rows:
        return []
    heads = ["id", say("question"), *(code(one.metric) for one in summary.metrics)]
    return [f"## {say('worst')}", "", *table(heads, rows, words=2)]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> list[str]:
    """A table whose first columns are words and whose other ones are numbers."""
    aligned = ["---" if column < words else "---:" for column in range(len(heads))]
    return ["| " + " | ".join(cells) + " |" for cells in (heads, aligned, *rows)]


def code(name: str) -> str:
    """A metric's name as code; a name that code cannot hold is escaped instead."""
    plain = name.isprintable() and not set(name) & set("`|")
    return f"`{name}`" if plain else escaped(name)
