"""The report of a run: metrics with intervals, gates, categories, cost, facts, and its samples, worst first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ragstone.analysis import label_rates
from ragstone.report import document as doc
from ragstone.report import figures
from ragstone.report.builders.parts import (
    arrow,
    build_chart,
    build_list,
    build_remarks,
    build_row,
    name_metric,
    number_columns,
    usage_cells,
)
from ragstone.report.drawing.charts import draw_histograms, draw_metric_bars
from ragstone.report.drawing.distribution import draw_distribution
from ragstone.report.drawing.shapes import WIDE, Drawing, stack_drawings
from ragstone.report.prose import Block, blocks
from ragstone.report.samples import GENEROUS, OpenSample, open_sample
from ragstone.report.words import Words, words
from ragstone.store import default_place
from ragstone.types import NO_USAGE, OUTCOMES

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.store import StoredRun
    from ragstone.types import Usage

WORST_IN_TEXT = 10
"""Samples listed in a text; a page has the rest."""
BAD_ROWS_ON_TERMINAL = 3
WIDE_COLUMNS, VERY_WIDE_COLUMNS = 100, 118
"""Columns of a terminal from which deviation and median are shown and tokens told apart, and the interval is drawn."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run and what its scores add up to."""

    kind: ClassVar[str] = "run"
    run: StoredRun
    summary: Summary
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        summary, say = self.summary, words(self.language)
        samples = doc.SampleList(
            positions=summary.worst,
            open=self._open,
            limits=GENEROUS,
            filter=doc.SampleFilter(
                title=say("worst"),
                total=summary.samples,
                metrics=tuple((m.metric, m.higher_is_better) for m in summary.metrics),
                outcomes=tuple(_list_outcomes(summary, say)),
            ),
        )
        command = doc.CodeLine(figures.build_command(summary.run), where=doc.TEXT)
        tree = build_summary(summary, self.language)
        return replace(
            tree,
            body=(*tree.body, samples, *self._list_worst(say), command),
            skip_link="samples",
        )

    def picture(self) -> Drawing:
        """The means with their intervals and targets, and how the scores are spread."""
        say, metrics = words(self.language), self.summary.metrics
        spread = draw_histograms(metrics, say, WIDE)
        if not any(m.bounds is not None and m.mean is not None for m in metrics):
            return spread
        return stack_drawings([draw_metric_bars(self.summary, say, WIDE), spread])

    def _open(self, position: int) -> OpenSample:
        say = words(self.language)
        return open_sample(self.run.row(position), self.summary.metrics, say)

    def _list_worst(self, say: Words) -> Iterator[doc.Node]:
        metrics = self.summary.metrics
        rows = []
        for position in self.summary.worst[:WORST_IN_TEXT]:
            row = self.run.row(position)
            scores = [row.scores[metric.metric] for metric in metrics]
            rows.append(
                build_row(
                    figures.shorten(row.id, 40),
                    figures.shorten(row.sample.question or say("no_question"), 120),
                    *(say.number(s.value) if s.ok else say.outcome(s.outcome) for s in scores),
                )
            )
        heads = [doc.TableColumn("id"), doc.TableColumn(say("question"))]
        heads += [
            doc.TableColumn(doc.Styled(metric.metric, "code"), numeric=True) for metric in metrics
        ]
        if rows:
            yield doc.Heading(say("worst"), where=doc.TEXT)
            yield doc.ReportTable(tuple(heads), tuple(rows), where=doc.TEXT)


def build_summary(summary: Summary, language: str = "en") -> doc.ReportDocument:
    """The report without its samples, which is all that a terminal shows."""
    info, say = summary.run, words(language)
    name = figures.shorten(info.name or info.id, 200)
    facts = tuple(figures.list_run_facts(summary, say))
    state = figures.describe_run(summary, say)
    head = (
        doc.Heading(name, 1),
        doc.Byline((*facts, figures.format_moment(info.created)), where=doc.WRITTEN),
        doc.Byline(facts, where=doc.TERMINAL),
        doc.Status(state.text, state.tone, where=doc.WRITTEN),
    )
    unfinished = doc.Paragraph(say("unfinished"), "warn", "alert", where=doc.PAGE)
    remarks = [(m.metric, figures.describe_metric(m, summary.floor, say)) for m in summary.metrics]
    body = (
        *([unfinished] if info.status == "running" else []),
        doc.Section(
            (doc.Heading(say("metrics")), _build_cards(summary, say)), id="metrics", where=doc.PAGE
        ),
        doc.Section((_build_compact_table(summary, say),), where=doc.COMPACT),
        *build_remarks(remarks, doc.TEXT),
        *_build_overview(summary, say),
        doc.Section((*_build_gates(summary, say), *_build_labels(summary, say)), "pair"),
        doc.Section(
            (doc.Heading(say("figures")), _build_full_table(summary, say)),
            "panel",
            "figures",
            doc.PAGE,
        ),
        *_build_costs(summary, say),
        doc.Section(_build_facts(summary, say), "panel", "facts", doc.PAGE),
        *_build_judge_quality(summary, say),
        doc.Section((_build_checklist(summary, say),), where=doc.TERMINAL),
        doc.Section(_build_skipped(summary, say, doc.TEXT, len(info.bad), 300)),
        doc.Section(_build_skipped(summary, say, doc.TERMINAL, BAD_ROWS_ON_TERMINAL, 200)),
        doc.Section(tuple(_build_ending(summary, state, say)), where=doc.TERMINAL),
    )
    return doc.ReportDocument("run", say, name, say("report"), head, body)


def _build_cards(summary: Summary, say: Words) -> doc.CardGrid:
    meanings = figures.translate_meanings(summary.run, say)
    return doc.CardGrid(
        tuple(_build_card(m, summary, meanings.get(m.metric, ""), say) for m in summary.metrics)
    )


def _build_card(metric: MetricSummary, summary: Summary, meaning: str, say: Words) -> doc.Card:
    first, semicolon, _ = meaning.partition(";")
    drawn = draw_distribution(metric, figures.list_thresholds(summary, metric.metric), say)
    interval = (
        (doc.Styled(f"{say('interval')}: ", "unseen"), say.interval(metric.low, metric.high))
        if metric.low is not None
        else ""
    )
    direction = say("higher" if metric.higher_is_better else "lower")
    return doc.Card(
        name=metric.metric,
        figure=say.number(metric.mean),
        aside=interval,
        badge=None if metric.complete else _incomplete_badge(say),
        direction=f"{arrow(metric.higher_is_better)} {direction}",
        meaning=figures.shorten(meaning, 400),
        gist=figures.shorten(f"{first}." if semicolon else first, 160),
        chart=doc.Chart(drawn[0], style="distribution", ends=drawn[1]) if drawn else None,
        coverage=say(
            "coverage_line",
            scored=say.whole(metric.scored),
            applicable=say.whole(metric.applicable),
            total=say.whole(metric.total),
        ),
        remarks=tuple(figures.describe_metric(metric, summary.floor, say)),
        style="" if metric.complete else "incomplete",
    )


def _incomplete_badge(say: Words) -> doc.Styled:
    return doc.Styled(say("incomplete"), "badge", "warn")


def _build_compact_table(summary: Summary, say: Words) -> doc.ReportTable:
    wide, very_wide = doc.wide_terminal(WIDE_COLUMNS), doc.wide_terminal(VERY_WIDE_COLUMNS)
    columns = (
        doc.TableColumn(say("metric")),
        doc.TableColumn(say("mean"), numeric=True),
        doc.TableColumn(say("interval"), numeric=True, short=say("interval_short")),
        doc.TableColumn("", where=very_wide),
        doc.TableColumn(say("sd"), numeric=True, where=wide),
        doc.TableColumn(say("median"), numeric=True, where=wide),
        doc.TableColumn(say("median"), numeric=True, where=doc.TEXT),
        doc.TableColumn(say("coverage"), numeric=True, short=say("coverage_short")),
    )
    rows = (_build_compact_row(metric, say) for metric in summary.metrics)
    return doc.ReportTable(columns, tuple(rows))


def _build_compact_row(metric: MetricSummary, say: Words) -> doc.TableRow:
    counts = " / ".join(say.whole(n) for n in (metric.scored, metric.applicable, metric.total))
    values = (
        say.interval(metric.low, metric.high), _draw_interval(metric), say.number(metric.sd),
        say.number(metric.median), say.number(metric.median), counts,
    )  # fmt: skip
    name, mean = name_metric(metric.metric, metric.higher_is_better), say.number(metric.mean)
    if metric.complete:
        interval, bar, *others = values
        return build_row(
            doc.TableCell(name), doc.TableCell(mean, style="strong"), interval,
            doc.TableCell(bar, style="accent"), *others,
        )  # fmt: skip
    # in brackets and marked, so that nobody reads it as a finished figure
    return build_row(
        doc.TableCell((*name, " ", _incomplete_badge(say)), "warn"),
        *(doc.TableCell(text, style="soft") for text in (f"({mean})", *values)),
    )


def _draw_interval(metric: MetricSummary, width: int = 20) -> str:
    """The interval on the metric's scale, in characters."""
    if metric.bounds is None or metric.mean is None or metric.low is None or metric.high is None:
        return ""
    first, last = metric.bounds
    low, mean, high = (
        min(max(round((value - first) / (last - first) * (width - 1)), 0), width - 1)
        for value in (metric.low, metric.mean, metric.high)
    )
    marks = ["━" if low <= at <= high else "·" for at in range(width)]
    marks[mean] = "┿"
    return "".join(marks)


def _build_full_table(summary: Summary, say: Words) -> doc.ReportTable:
    keys = ("mean", "interval", "sd", "median", "minimum", "maximum", "scored", "applicable", "all")
    columns = (
        doc.TableColumn(say("metric")),
        *number_columns(say, *keys),
        doc.TableColumn(say("method")),
    )
    rows = []
    for metric in summary.metrics:
        name = name_metric(metric.metric, metric.higher_is_better)
        spread = (metric.sd, metric.median, metric.minimum, metric.maximum)
        rows.append(
            build_row(
                doc.TableCell(name if metric.complete else (*name, " ", _incomplete_badge(say))),
                say.number(metric.mean),
                say.interval(metric.low, metric.high),
                *map(say.number, spread),
                *map(say.whole, (metric.scored, metric.applicable, metric.total)),
                _name_method(metric, say),
            )
        )
    return doc.ReportTable(columns, tuple(rows), id="figures")


def _name_method(metric: MetricSummary, say: Words) -> str:
    text = say.known("method", metric.method) if metric.method else ""
    return f"{text} ({say.count('clusters', metric.clusters)})" if metric.clusters else text


def _build_overview(summary: Summary, say: Words) -> list[doc.Node]:
    """All bounded metrics in one chart; none when there are fewer than two."""
    if sum(m.bounds is not None and m.mean is not None for m in summary.metrics) < 2:
        return []
    chart = build_chart(lambda width: draw_metric_bars(summary, say, width))
    return [doc.Section((doc.Heading(say("drawn.metrics")), chart), "panel", "overview", doc.PAGE)]


def _build_checklist(summary: Summary, say: Words) -> doc.Checklist:
    checks = []
    for gate in summary.gates:
        remark = figures.describe_gate(gate, say)
        checks.append(doc.Check(remark.text, remark.tone, figures.name_gate_state(gate, say)))
    return doc.Checklist(tuple(checks))


def _build_gates(summary: Summary, say: Words) -> list[doc.Node]:
    if not summary.gates:
        return []
    nodes = (doc.Heading(say("gates")), _build_checklist(summary, say))
    return [doc.Section(nodes, "panel", "gates", doc.WRITTEN)]


def _build_labels(summary: Summary, say: Words) -> Iterator[doc.Node]:
    for number, metric in enumerate((m for m in summary.metrics if m.labels), 1):
        columns = (
            doc.TableColumn(say("label"), short=metric.metric),
            *number_columns(say, "count", "rate"),
            doc.TableColumn(""),
            doc.TableColumn(say("interval"), numeric=True, short=say("interval_short")),
        )
        rows = [
            build_row(
                say.known("label", row.label),
                say.whole(row.count),
                doc.TableCell("–" if row.rate is None else say.percent(row.rate), style="key"),
                doc.TableCell(figures.name_denominator(row, say), style="soft"),
                figures.format_percent_interval(row, say),
            )
            for row in label_rates(metric.labels)
        ]
        heading = doc.Heading(say("labels_of", metric=metric.metric), where=doc.WRITTEN)
        yield doc.Section(
            (heading, doc.ReportTable(columns, tuple(rows))), "panel", f"label{number}"
        )


def _build_costs(summary: Summary, say: Words) -> list[doc.Node]:
    if all(metric.usage == NO_USAGE for metric in summary.metrics):
        return []
    narrow = doc.Where(("terminal",), max_columns=WIDE_COLUMNS - 1)
    full = doc.Where(min_columns=WIDE_COLUMNS)
    columns = (
        doc.TableColumn(say("metric"), short=say("usage")),
        *number_columns(say, "calls", "hits"),
        doc.TableColumn(say("tokens"), numeric=True, where=narrow),
        doc.TableColumn(say("input_tokens"), numeric=True, where=full),
        doc.TableColumn(say("output_tokens"), numeric=True, where=full),
        *number_columns(say, "usd"),
    )

    def build_usage(name: doc.Inline, usage: Usage) -> doc.TableRow:
        tokens = say.whole(usage.input_tokens + usage.output_tokens)
        counts = (say.whole(usage.calls), say.whole(usage.hits), tokens)
        return build_row(doc.TableCell(name), *counts, *usage_cells(usage, say))

    rows = [
        build_usage(doc.Styled(m.metric, "code"), m.usage)
        for m in summary.metrics
        if m.usage != NO_USAGE
    ]
    nodes = (
        doc.Heading(say("usage"), where=doc.WRITTEN),
        doc.ReportTable(columns, tuple(rows), build_usage(say("sum"), summary.usage)),
        doc.Paragraph(say("usage_note"), style="note", where=doc.PAGE),
    )
    return [doc.Section(nodes, "panel", "usage")]


def _build_facts(summary: Summary, say: Words) -> tuple[doc.Node, ...]:
    info = summary.run
    command = figures.shorten(figures.build_command(info), 2_000)
    facts = [
        doc.LabelledValue(say("data"), figures.shorten(info.source, 400)),
        doc.LabelledValue(say("format"), info.format),
        doc.LabelledValue(say("samples"), say.whole(summary.samples)),
        doc.LabelledValue(say("metrics"), ", ".join(metric.metric for metric in summary.metrics)),
        doc.LabelledValue(say("judge"), info.judge or say("no_judge")),
        doc.LabelledValue(say("date"), figures.format_moment(info.created)),
        doc.LabelledValue(say("identifier"), info.id),
        doc.LabelledValue(say("version"), f"ragstone {info.facts.ragstone}"),
        *([doc.LabelledValue(say("reproduce"), command, code=True)] if command else []),
    ]
    return (
        doc.Heading(say("facts")),
        doc.Facts(tuple(facts)),
        *_build_judge_page(summary, say),
        *_build_skipped(summary, say, doc.PAGE, len(info.bad), 300),
    )


def _build_judge_page(summary: Summary, say: Words) -> list[doc.Node]:
    """What the embedded judge is worth on these metrics, and its whole page of figures to unfold."""
    lines = figures.describe_judge(summary, say)
    if not lines:
        return []
    from ragstone.judges.offline.quality import page

    link = doc.Styled(say("judge_page"), "link", href="#judge-page")
    nodes = tuple(_convert_block(block) for block in blocks(page(say.language)))
    return [
        doc.Paragraph((f"{lines[0]} · ", link), style="note"),
        doc.BulletList(tuple(map(doc.ListItem, lines[1:])), style="note"),
        doc.Details(f"{lines[0]}: {say('judge_page')}", nodes, "judge-page"),
    ]


def _convert_block(block: Block) -> doc.Node:
    """A block of our own Markdown as a node, two levels below the page's title."""
    match block.kind:
        case "heading":
            return doc.Heading(block.rows[0][0], block.level + 2)
        case "paragraph":
            return doc.Paragraph(block.rows[0][0])
        case "list":
            return doc.BulletList(tuple(doc.ListItem(row[0]) for row in block.rows), ordered=True)
    columns = tuple(doc.TableColumn(head) for head in block.rows[0])
    return doc.ReportTable(
        columns, tuple(build_row(*row) for row in block.rows[1:]), row_heads=False
    )


def _build_judge_quality(summary: Summary, say: Words) -> list[doc.Node]:
    lines = figures.describe_judge(summary, say)
    if not lines:
        return []
    remarks = [doc.Remark(line) for line in lines]
    first = doc.Paragraph(lines[0], style="note", where=doc.TERMINAL)
    return [
        doc.BulletList(tuple(map(doc.ListItem, lines)), where=doc.TEXT),
        doc.Section((first, build_list(remarks[1:])), where=doc.TERMINAL),
    ]


def _build_skipped(
    summary: Summary, say: Words, where: doc.Where, most: int, chars: int
) -> tuple[doc.Node, ...]:
    """Rows of the data that could not be read."""
    info = summary.run
    if not info.bad_count:
        return ()
    remarks = [doc.Remark(figures.shorten(row, chars)) for row in info.bad[:most]]
    if info.bad_count > len(remarks):
        remarks.append(doc.Remark(say("and_more", n=say.whole(info.bad_count - len(remarks)))))
    return (
        doc.Paragraph(say.count("skipped", info.bad_count), "warn", "note", where=where),
        replace(build_list(remarks, style="note"), where=where),
    )


def _build_ending(summary: Summary, state: doc.Remark, say: Words) -> Iterator[doc.Node]:
    info = summary.run
    if info.status == "running":
        yield doc.Paragraph(say("unfinished"), "warn")
    yield doc.Status(state.text, state.tone)
    if info.place:
        store = "" if info.place == default_place() else f" --store {shlex.quote(info.place)}"
        command = f"ragstone report {info.id}{store} -o report.html"
        yield doc.Paragraph(f"{say('full_report')} {command}", style="note")


def _list_outcomes(summary: Summary, say: Words) -> list[tuple[str, str]]:
    """Values and texts of the outcome filter: only what occurs, categories last."""
    seen = {name.partition(":")[0] for metric in summary.metrics for name in metric.outcomes}
    choices = [("o:ok", say("outcome.ok"))]
    if seen:
        choices.append(("o:", say("unscored")))
    choices += [(f"o:{name}", say.outcome(name)) for name in OUTCOMES if name in seen]
    labels = {name: None for m in summary.metrics for name, n in m.labels.items() if n}
    return choices + [(f"l:{name}", say.known("label", name)) for name in labels]
