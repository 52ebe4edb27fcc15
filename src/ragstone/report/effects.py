"""What each setting does, as people read it: terminal, Markdown, page, picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone._version import __version__
from ragstone.report.comparison.sentences import p_value, signed
from ragstone.report.drawing.charts import effects as drawn
from ragstone.report.drawing.shapes import NARROW, WIDE, Caption, Drawing, stacked
from ragstone.report.drawing.svg import inline
from ragstone.report.figures import shortened
from ragstone.report.markdown import code, escaped, table
from ragstone.report.page import policy, resource, template
from ragstone.report.terminal import COLOURS, Screen
from ragstone.report.words import Words, words

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.analysis.effects import Effects, Level

WIDTH = 110
"""Columns that the whole table takes on a screen."""
TONES = {"better": "good", "worse": "bad", "unclear": "plain", "": "plain"}


def show(effects: Sequence[Effects], console: Console, language: str = "en") -> None:
    """Print a table for each metric."""
    screen = Screen(console, words(language))
    say = screen.say
    for one in effects:
        screen.line(f"{one.metric} {'↑' if one.higher_is_better else '↓'}", "bold")
        heads = _heads(say)
        # a narrow screen leaves out the interval of the mean and p: those of the difference and the verdict say it
        shown = [at for at in range(len(heads)) if console.width >= WIDTH or at not in (3, 6)]
        grid = screen.table(*((heads[at], 1 < at < len(heads) - 1) for at in shown))
        for factor in one.factors:
            for number, level in enumerate(factor.levels):
                every = [factor.name if number == 0 else "", *_cells(level, say)]
                cells = [every[at] for at in shown]
                style = COLOURS[TONES[level.verdict]] if level.verdict else ""
                grid.add_row(
                    *(
                        screen.cell(text, style if at == len(cells) - 1 and style else "")
                        for at, text in enumerate(cells)
                    )
                )
        screen.put(grid)
        screen.line(_note(one, say), "dim")
        screen.line("")


def markdown(effects: Sequence[Effects], language: str = "en") -> str:
    """A table for each metric as Markdown."""
    say = words(language)
    parts = [[f"# {say('effects')}"]]
    for one in effects:
        rows = [
            [
                code(factor.name) if number == 0 else "",
                *(escaped(text) for text in _cells(level, say)),
            ]
            for factor in one.factors
            for number, level in enumerate(factor.levels)
        ]
        parts.append([f"## {code(one.metric)}"])
        parts.append(table(_heads(say), rows, words=2))
        parts.append([escaped(_note(one, say), 500)])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def page(effects: Sequence[Effects], name: str, language: str = "en") -> str:
    """A chart and a table for each metric as one self-contained HTML page."""
    from markupsafe import Markup

    say = words(language)
    style = "".join(resource(one) for one in ("report.css", "drawing.css", "failures.css"))
    parts = [
        {
            "metric": f"{one.metric} {'↑' if one.higher_is_better else '↓'}",
            "drawings": [
                Markup(inline(drawn(one, say, width), kind))  # noqa: S704 - every text in it is escaped
                for kind, width in (("wide", WIDE), ("narrow", NARROW))
            ],
            "rows": [
                {
                    "cells": [factor.name if number == 0 else "", *_cells(level, say)],
                    "tone": TONES[level.verdict],
                }
                for factor in one.factors
                for number, level in enumerate(factor.levels)
            ],
            "note": _note(one, say),
        }
        for one in effects
    ]
    return str(
        template("effects.html.j2").render(
            say=say,
            version=__version__,
            policy=policy(style),
            style=Markup(style),  # noqa: S704 - files of this package
            name=shortened(name, 200),
            heads=_heads(say),
            parts=parts,
        )
    )


def picture(effects: Sequence[Effects], language: str = "en", width: float = WIDE) -> Drawing:
    """The levels of every factor, one chart a metric."""
    say = words(language)
    charts = []
    for one in effects:
        charts.append(
            Drawing(width, 8, (Caption(0, 10, one.metric, "ink", bold=True),), one.metric)
        )
        charts.append(drawn(one, say, width))
    return stacked(charts)


def _heads(say: Words) -> list[str]:
    keys = (
        "setting",
        "value",
        "mean",
        "interval_short",
        "difference",
        "interval_short",
        "p_corrected.holm",
        "verdict",
    )
    return [say(key) for key in keys]


def _cells(level: Level, say: Words) -> list[str]:
    best = " ★" if level.best else ""
    own = [f"{level.value}{best}", say.number(level.mean), say.interval(level.low, level.high)]
    if level.base:
        return [*own, "–", "–", "–", say("in_force")]
    ends = "–"
    if level.difference_low is not None and level.difference_high is not None:
        ends = f"{signed(level.difference_low, say)} – {signed(level.difference_high, say)}"
    said = say.known("verdict_word", level.verdict) if level.verdict else "–"
    return [*own, signed(level.difference, say), ends, p_value(level.adjusted, say), said]


def _note(one: Effects, say: Words) -> str:
    how = say("effects_full" if one.full else "effects_single", n=say.whole(one.runs))
    return f"{how} {say.count('paired_on_all', one.samples)}"
