"""One self-contained HTML page of a run: nothing remote, everything escaped, readable without its script."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.analysis import label_rates
from ragstone.report import figures
from ragstone.report.charts import Picture, picture
from ragstone.report.drawing.charts import metric_bars
from ragstone.report.drawing.shapes import NARROW, WIDE
from ragstone.report.drawing.svg import inline
from ragstone.report.files import encoded, write_text
from ragstone.report.page import policy, resource, template
from ragstone.report.prose import blocks
from ragstone.report.samples import GENEROUS, opened, view
from ragstone.report.words import Words, words
from ragstone.types import NO_USAGE, OUTCOMES

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.store import RunInfo, StoredRun

BUDGET = 9_500_000
"""Bytes a page may take; ten megabytes still open in a mail reader and in any browser."""


def write(
    run: StoredRun, summary: Summary, path: str | os.PathLike[str], language: str = "en"
) -> None:
    """Write the page to a file."""
    write_text(path, render(run, summary, language))


def render(run: StoredRun, summary: Summary, language: str = "en", *, budget: int = BUDGET) -> str:
    """The page as text, within the budget of bytes however long the samples are."""
    from markupsafe import Markup

    say = words(language)
    frame = _frame(summary, say)
    bare = len(encoded(template("report.html.j2").render(frame)))
    samples, cut = _fitted(run, summary, say, budget - bare - 2_000)
    frame |= {
        "samples": [Markup(text) for text in samples],  # noqa: S704 - rendered by our own template
        "shown": len(samples),
        "worst_note": _worst_note(len(samples), summary, say),
        "cut": cut,
    }
    return str(template("report.html.j2").render(frame))


def summary_html(summary: Summary, language: str = "en") -> str:
    """A small table for a notebook cell."""
    say = words(language)
    lines = [
        (one.metric, line.text)
        for one in summary.metrics
        for line in figures.metric_lines(one, summary.floor, say)
    ]
    return str(
        template("summary.html.j2").render(
            say=say,
            name=figures.shortened(summary.run.name or summary.run.id, 200),
            heading=figures.heading(summary, say),
            metrics=summary.metrics,
            lines=lines,
            gates=[figures.gate_line(gate, say) for gate in summary.gates],
        )
    )


@dataclass(frozen=True, slots=True)
class Card:
    """A metric with its picture and what is to be said about it."""

    summary: MetricSummary
    meaning: str
    gist: str
    """The meaning up to its first semicolon: what a glance needs."""
    picture: Picture | None
    lines: list[figures.Line]
    method: str


def _frame(summary: Summary, say: Words) -> dict[str, Any]:
    """Everything on the page but the samples."""
    from markupsafe import Markup

    info = summary.run
    style, script = style_sheet(), resource("report.js")
    return {
        "say": say,
        "version": __version__,
        "policy": policy(style, script),
        "style": Markup(style),  # noqa: S704 - a file of this package
        "script": Markup(script),  # noqa: S704 - a file of this package
        "info": info,
        "name": figures.shortened(info.name or info.id, 200),
        "created": figures.moment(info.created),
        "heading": figures.heading(summary, say),
        **_judged(summary, say),
        "state": figures.state(summary, say),
        "cards": _cards(summary, say),
        "overview": _overview(summary, say),
        "gates": _gates(summary, say),
        "labels": _labels(summary, say),
        "costs": [(m.metric, m.usage) for m in summary.metrics if m.usage != NO_USAGE],
        "paid": summary.usage,
        "facts": _facts(info, summary, say),
        "bad": [figures.shortened(row, 300) for row in info.bad],
        "choices": _choices(summary, say),
        "samples": [],
        "shown": 0,
        "worst_note": "",
        "cut": False,
    }


def _overview(summary: Summary, say: Words) -> list[Any]:
    """All bounded metrics in one chart, once wide and once narrow; none when there are fewer than two."""
    from markupsafe import Markup

    if sum(one.bounds is not None and one.mean is not None for one in summary.metrics) < 2:
        return []
    return [
        Markup(inline(metric_bars(summary, say, width), kind))  # noqa: S704 - every text in it is escaped
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    ]


def _judged(summary: Summary, say: Words) -> dict[str, Any]:
    """What the embedded judge is worth on these metrics, and its whole page of figures to unfold."""
    lines = figures.judge_lines(summary, say)
    if not lines:
        return {"judged": [], "judge_page": []}
    from ragstone.judges.offline.quality import page

    return {"judged": lines, "judge_page": blocks(page(say.language))}


def _cards(summary: Summary, say: Words) -> list[Card]:
    meanings = figures.meanings(summary.run, say)
    return [
        Card(
            summary=one,
            meaning=figures.shortened(meanings.get(one.metric, ""), 400),
            gist=figures.shortened(_gist(meanings.get(one.metric, "")), 160),
            picture=picture(one, figures.thresholds(summary, one.metric), say),
            lines=figures.metric_lines(one, summary.floor, say),
            method=_method(one, say),
        )
        for one in summary.metrics
    ]


def _gist(meaning: str) -> str:
    first, semicolon, _ = meaning.partition(";")
    return f"{first}." if semicolon else first


def _method(one: MetricSummary, say: Words) -> str:
    text = say.known("method", one.method) if one.method else ""
    return f"{text} ({say.count('clusters', one.clusters)})" if one.clusters else text


def _gates(summary: Summary, say: Words) -> list[dict[str, str]]:
    shown = []
    for gate in summary.gates:
        line = figures.gate_line(gate, say)
        shown.append({"tone": line.tone, "text": line.text, "state": figures.gate_state(gate, say)})
    return shown


def _labels(summary: Summary, say: Words) -> list[dict[str, Any]]:
    return [
        {
            "metric": one.metric,
            "rows": [
                {
                    "name": say.known("label", row.label),
                    "count": row.count,
                    "of": figures.share_of(row, say),
                    "rate": "–" if row.rate is None else say.percent(row.rate),
                    "interval": figures.percent_interval(row, say),
                }
                for row in label_rates(one.labels)
            ],
        }
        for one in summary.metrics
        if one.labels
    ]


def _facts(info: RunInfo, summary: Summary, say: Words) -> list[tuple[str, str, bool]]:
    facts = [
        (say("data"), figures.shortened(info.source, 400), False),
        (say("format"), info.format, False),
        (say("samples"), say.whole(summary.samples), False),
        (say("metrics"), ", ".join(one.metric for one in summary.metrics), False),
        (say("judge"), info.judge or say("no_judge"), False),
        (say("date"), figures.moment(info.created), False),
        (say("identifier"), info.id, False),
        (say("version"), f"ragstone {info.facts.ragstone}", False),
    ]
    again = figures.shortened(figures.command(info), 2_000)
    return [*facts, (say("reproduce"), again, True)] if again else facts


def _choices(summary: Summary, say: Words) -> list[tuple[str, str]]:
    """Values and texts of the outcome filter: only what occurs, categories last."""
    seen = {name.partition(":")[0] for one in summary.metrics for name in one.outcomes}
    choices = [("o:ok", say("outcome.ok"))]
    if seen:
        choices.append(("o:", say("unscored")))
    choices += [(f"o:{name}", say.outcome(name)) for name in OUTCOMES if name in seen]
    labels = {name: None for one in summary.metrics for name, n in one.labels.items() if n}
    return choices + [(f"l:{name}", say.known("label", name)) for name in labels]


def _worst_note(shown: int, summary: Summary, say: Words) -> str:
    everything = summary.samples
    if shown >= everything:
        return say("worst_all", total=say.whole(everything))
    return say("worst_some", shown=say.whole(shown), total=say.whole(everything))


def _fitted(run: StoredRun, summary: Summary, say: Words, budget: int) -> tuple[list[str], bool]:
    """The samples as HTML, the largest ones shortened until all fit; and whether anything was left out."""
    sample = template("sample.html.j2")

    def drawn(cap: int) -> Iterator[tuple[str, bool]]:
        for number, position in enumerate(summary.worst):
            row = run.row(position)
            book = opened(row, summary.metrics)
            limits = GENEROUS.within(row.sample, len(book.entries))
            while True:
                shown = view(row, book, summary.metrics, limits, say)
                text = str(sample.render(say=say, s=shown, open=number == 0))
                if len(encoded(text)) < cap or limits == limits.tighter():
                    break
                limits = limits.tighter()
            yield text, shown.cut

    texts, cut, sizes = _kept(drawn(budget), budget)
    if sum(sizes) > budget:
        texts, cut, _ = _kept(drawn(_level(sizes, budget)), budget)
    return texts, cut or len(texts) < len(sizes)


def _kept(drawn: Iterator[tuple[str, bool]], budget: int) -> tuple[list[str], bool, list[int]]:
    """The texts that fit into the budget, whether one of them is shortened, and the sizes of all."""
    texts: list[str] = []
    sizes: list[int] = []
    used, cut = 0, False
    for text, shortened in drawn:
        sizes.append(len(encoded(text)) + 1)
        used += sizes[-1]
        if used <= budget:
            texts.append(text)
            cut |= shortened
    return texts, cut, sizes


def _level(sizes: Sequence[int], budget: int) -> int:
    """The size at which cutting every larger sample makes the sum fit: small ones stay whole."""
    left, ordered = budget, sorted(sizes)
    for number, size in enumerate(ordered):
        fair = left // (len(ordered) - number)
        if size > fair:
            return fair
        left -= size
    return budget


def style_sheet() -> str:
    """The style sheet with one rule a finding: pointing at it lights up its evidence, without a script."""
    lit = [
        f'details[open]:has([data-c="{n}"]:is(:hover,:focus,:focus-within)) [data-e~="{n}"]'
        for n in range(1, GENEROUS.findings + 1)
    ]
    glow = "{--lit:var(--accent-soft);--edge:var(--accent)}"
    return (
        resource("report.css")
        + resource("drawing.css")
        + "".join(f"{rule}{glow}\n" for rule in lit)
    )
