"""The report of a run: metrics with intervals, gates, categories, cost, facts, and its samples, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from ragstone.analysis import label_rates
from ragstone.analysis.scales import find_scales
from ragstone.report import document as doc
from ragstone.report import figures
from ragstone.report.builders.opening import build_next_commands, build_opening
from ragstone.report.builders.parts import (
    build_chart,
    build_list,
    build_number_columns,
    build_panel,
    build_remarks,
    build_table,
    build_text_columns,
    build_usage_cells,
    choose_arrow,
    name_metric,
)
from ragstone.report.drawing.charts import draw_histograms, draw_metric_bars
from ragstone.report.drawing.distribution import draw_distribution
from ragstone.report.drawing.shapes import WIDE, Drawing, stack_drawings
from ragstone.report.prose import parse_markdown
from ragstone.report.samples import GENEROUS, OpenSample, open_sample
from ragstone.report.translator import Translator, load_translator
from ragstone.types import NO_USAGE, OUTCOMES

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.store import RunInfo, StoredRow, StoredRun
    from ragstone.types import Usage

MAX_LISTED_SAMPLES = 20_000
"""Samples beyond the worst that are tried; the room of a page ends before."""
STRETCH_SAMPLES = 512
WORST_IN_TEXT = 10
"""Samples listed in a text; a page has the rest."""
BAD_ROWS_ON_TERMINAL = 3
WIDE_COLUMNS, VERY_WIDE_COLUMNS = 100, 118
"""Columns of a terminal from which deviation, median and both kinds of tokens are shown; and from which the interval is drawn."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run and what its scores add up to."""

    kind: ClassVar[str] = "run"
    run: StoredRun
    summary: Summary
    language: str = "en"
    explain: bool = False
    """Whether exported rows have the findings behind each score."""
    raw: bool = False
    """Whether cells of CSV that a spreadsheet would execute are written as they are."""

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        summary, t = self.summary, load_translator(self.language)
        # all at once and only if a renderer shows them: each block of the store is then read once
        read_worst = cache(lambda: (self.run.rows_at(summary.worst), find_scales(self.run)))

        # those beyond the worst come in the order of the data: one stretch of them at a time is kept
        @lru_cache(maxsize=1)
        def read_stretch(number: int) -> dict[int, StoredRow]:
            first = number * STRETCH_SAMPLES + 1
            return self.run.rows_at(range(first, min(first + STRETCH_SAMPLES, summary.samples + 1)))

        def open_row(position: int) -> OpenSample:
            rows, scales = read_worst()
            row = rows.get(position) or read_stretch((position - 1) // STRETCH_SAMPLES)[position]
            return open_sample(row, summary.metrics, t, scales)

        samples = doc.SampleList(
            positions=_order_positions(summary),
            open=open_row,
            limits=GENEROUS,
            filter=doc.SampleFilter(
                title=t("worst"),
                total=summary.samples,
                metrics=tuple((m.metric, m.higher_is_better) for m in summary.metrics),
                outcomes=tuple(_list_outcomes(summary, t)),
            ),
        )
        # On a page the command stands among the facts.
        command = doc.CodeLine(figures.build_command(summary.run), where=doc.TEXT)
        opening, claims = build_opening(self.run, summary, t)
        tree = build_summary(summary, self.language, opening)
        body = (*tree.body, *claims, samples, *self._build_worst(t), command)
        return replace(tree, body=body, skip_link="samples")

    def picture(self) -> Drawing:
        """The means with their intervals and targets, and how the scores are spread."""
        t, metrics = load_translator(self.language), self.summary.metrics
        spread = draw_histograms(metrics, t, WIDE)
        if not any(m.bounds is not None and m.mean is not None for m in metrics):
            return spread
        return stack_drawings([draw_metric_bars(self.summary, t, WIDE), spread])

    def _build_worst(self, t: Translator) -> list[doc.Node]:
        """The worst samples as a table."""
        metrics, rows = self.summary.metrics, []
        worst = self.summary.worst[:WORST_IN_TEXT]
        for row in map(self.run.rows_at(worst).__getitem__, worst):
            scores = [row.scores[metric.metric] for metric in metrics]
            question = figures.shorten(row.sample.question or t("no_question"), 120)
            values = (t.number(s.value) if s.ok else t.outcome(s.outcome) for s in scores)
            # The cells follow the columns below: id, question, then the metrics in the order of the
            # summary.
            rows.append([figures.shorten(row.id, 40), question, *values])
        names = (doc.TableColumn(doc.Styled(m.metric, "code"), numeric=True) for m in metrics)
        columns = (doc.TableColumn("id"), *build_text_columns(t, "question"), *names)
        heading = doc.Heading(t("worst"), where=doc.TEXT)
        return [heading, build_table(columns, rows, doc.TEXT)] if rows else []


def _order_positions(summary: Summary) -> list[int]:
    """The worst samples, then the others in the order of the data, as far as a page could hold them."""
    worst = set(summary.worst)
    rest = (at for at in range(1, summary.samples + 1) if at not in worst)
    return [*summary.worst, *islice(rest, MAX_LISTED_SAMPLES)]


def build_terminal_report(
    run: StoredRun,
    summary: Summary,
    language: str,
    commands: Sequence[tuple[str, str]] | None = None,
) -> doc.ReportDocument:
    """What a terminal shows when a run ends: the opening, the figures, the worst claims, and what to do next.

    Without `commands` it ends with the one that writes the full report."""
    t = load_translator(language)
    opening, claims = build_opening(run, summary, t)
    following = (
        _build_full_report(summary.run, t) if commands is None else build_next_commands(commands, t)
    )
    return build_summary(summary, language, opening, (*claims, *following))


def build_summary(
    summary: Summary,
    language: str = "en",
    opening: Sequence[doc.Node] = (),
    ending: Sequence[doc.Node] | None = None,
) -> doc.ReportDocument:
    """The report without its samples; a terminal that shows an `ending` leaves out the judge's measured quality.

    None, unlike an empty one, ends with the command that writes the full report."""
    info, t = summary.run, load_translator(language)
    name = figures.shorten(info.name or info.id, 200)
    facts = tuple(figures.list_run_facts(summary, t))
    state = figures.describe_run(summary, t)
    head = (
        doc.Heading(name, 1),
        doc.Byline((*facts, figures.format_moment(info.created)), where=doc.WRITTEN),
        doc.Byline(facts, where=doc.TERMINAL),
        doc.Status(state.text, state.severity, where=doc.WRITTEN),
    )
    remarks = [(m.metric, figures.describe_metric(m, summary.floor, t)) for m in summary.metrics]
    cards, metrics = _build_cards(summary, t), _build_metrics(summary, t)
    gates = _build_gates(summary, t)
    unfinished = doc.Paragraph(t("unfinished"), "warn", "alert", where=doc.PAGE)
    body = (
        doc.Section(tuple(opening)),
        *([unfinished] if info.status == "running" else []),
        doc.Section((doc.Heading(t("metrics")), cards), id="metrics", where=doc.PAGE),
        doc.Section((metrics,), where=doc.COMPACT),
        *build_remarks(remarks, doc.TEXT),
        *_build_overview(summary, t),
        doc.Section(
            (
                *([build_panel("gates", t("gates"), gates, where=doc.WRITTEN)] if summary.gates else []),
                *_build_labels(summary, t),
            ),
            "pair",
        ),
        build_panel("figures", t("figures"), metrics, where=doc.PAGE),
        *_build_corrected(summary, t),
        *_build_costs(summary, t),
        build_panel("facts", t("facts"), *_build_facts(summary, t), where=doc.PAGE),
        *_build_judge_quality(summary, t, on_terminal=ending is None),
        doc.Section((gates,), where=doc.TERMINAL),
        doc.Section(_build_skipped(summary, t, doc.TEXT, len(info.bad), 300)),
        doc.Section(_build_skipped(summary, t, doc.TERMINAL, BAD_ROWS_ON_TERMINAL, 200)),
        doc.Section(tuple(_build_ending(summary, state, t, ending)), where=doc.TERMINAL),
    )  # fmt: skip
    return doc.ReportDocument("run", t, name, t("report"), head, body)


def _build_cards(summary: Summary, t: Translator) -> doc.CardGrid:
    meanings = figures.translate_meanings(summary.run, t)
    return doc.CardGrid(
        tuple(_build_card(m, summary, meanings.get(m.metric, ""), t) for m in summary.metrics)
    )


def _build_card(metric: MetricSummary, summary: Summary, meaning: str, t: Translator) -> doc.Card:
    # Meanings are written as gist; detail.
    first, semicolon, _ = meaning.partition(";")
    drawn = draw_distribution(metric, figures.list_thresholds(summary, metric.metric), t)
    interval = (
        (doc.Styled(f"{t('interval')}: ", "unseen"), t.interval(metric.low, metric.high))
        if metric.low is not None
        else ""
    )
    direction = t("higher" if metric.higher_is_better else "lower")
    return doc.Card(
        name=metric.metric,
        figure=t.number(metric.mean),
        aside=interval,
        badge=None if metric.complete else doc.Styled(t("incomplete"), "badge", "warn"),
        direction=f"{choose_arrow(metric.higher_is_better)} {direction}",
        meaning=figures.shorten(meaning, 400),
        gist=figures.shorten(f"{first}." if semicolon else first, 160),
        chart=doc.Chart(drawn[0], style="distribution", ends=drawn[1]) if drawn else None,
        coverage=t(
            "coverage_line",
            scored=t.whole(metric.scored),
            applicable=t.whole(metric.applicable),
            total=t.whole(metric.total),
        ),
        remarks=tuple(figures.describe_metric(metric, summary.floor, t)),
        style="" if metric.complete else "incomplete",
    )


def _name_metric(metric: MetricSummary, t: Translator) -> tuple[str | doc.Styled, ...]:
    name = name_metric(metric.metric, metric.higher_is_better)
    return name if metric.complete else (*name, " ", doc.Styled(t("incomplete"), "badge", "warn"))


def _build_metrics(summary: Summary, t: Translator) -> doc.ReportTable:
    # A new column goes in here and, at the same index, into `_build_metric_row`: each medium drops
    # the columns and cells that are not for it, and a count that differs is an error.
    columns = (
        *build_text_columns(t, "metric"),
        *build_number_columns(t, "mean", where=doc.PAGE),
        *build_number_columns(t, "mean", where=doc.COMPACT),
        *build_number_columns(t, "interval"),
        doc.TableColumn("", where=doc.wide_terminal(VERY_WIDE_COLUMNS)),
        *build_number_columns(t, "sd", where=doc.Where(("page", "terminal"), WIDE_COLUMNS)),
        *build_number_columns(t, "median", where=doc.Where(min_columns=WIDE_COLUMNS)),
        *build_number_columns(
            t, "minimum", "maximum", "scored", "applicable", "all", where=doc.PAGE
        ),
        doc.TableColumn(t("coverage"), True, t("coverage_short"), doc.COMPACT),
        *build_text_columns(t, "method", where=doc.PAGE),
    )
    rows = tuple(_build_metric_row(metric, t) for metric in summary.metrics)
    return doc.ReportTable(columns, rows, id="figures")


def _build_metric_row(metric: MetricSummary, t: Translator) -> doc.TableRow:
    """A row of figures; an incomplete mean is in brackets, so that nobody reads it as a finished figure."""
    mean, complete = t.number(metric.mean), metric.complete
    counts = [t.whole(n) for n in (metric.scored, metric.applicable, metric.total)]
    cells = (
        doc.TableCell(_name_metric(metric, t), style="" if complete else "caution"),
        mean,
        doc.TableCell(mean, style="strong") if complete else f"({mean})",
        t.interval(metric.low, metric.high),
        doc.TableCell(_draw_interval(metric), style="accent" if complete else ""),
        *map(t.number, (metric.sd, metric.median, metric.minimum, metric.maximum)),
        *counts,
        " / ".join(counts),
        _name_method(metric, t),
    )
    return doc.TableRow(cells, "" if complete else "incomplete")


def _draw_interval(metric: MetricSummary, width: int = 20) -> str:
    """The interval on the metric's scale, in characters."""
    if metric.bounds is None or metric.mean is None or metric.low is None or metric.high is None:
        return ""
    first, last = metric.bounds
    low, mean, high = (
        min(max(round((value - first) / (last - first) * (width - 1)), 0), width - 1)
        for value in (metric.low, metric.mean, metric.high)
    )
    # The mean is drawn last, over the interval, for both may fall on the same character.
    marks = ["━" if low <= at <= high else "·" for at in range(width)]
    marks[mean] = "┿"
    return "".join(marks)


def _name_method(metric: MetricSummary, t: Translator) -> str:
    text = t.translate("method", metric.method) if metric.method else ""
    return f"{text} ({t.count('clusters', metric.clusters)})" if metric.clusters else text


def _build_overview(summary: Summary, t: Translator) -> list[doc.Node]:
    """All bounded metrics in one chart; none when there are fewer than two."""
    if sum(m.bounds is not None and m.mean is not None for m in summary.metrics) < 2:
        return []
    chart = build_chart(lambda width: draw_metric_bars(summary, t, width))
    return [build_panel("overview", t("drawn.metrics"), chart, where=doc.PAGE)]


def _build_gates(summary: Summary, t: Translator) -> doc.BulletList:
    items = []
    for gate in summary.gates:
        remark = figures.describe_gate(gate, t)
        state = figures.name_gate_state(gate, t)
        items.append(doc.ListItem(remark.text, remark.severity, label=state))
    for remark in figures.describe_unfit_gates(summary.unfit_gates, summary.run.judge, t):
        items.append(
            doc.ListItem(
                doc.Styled(remark.text, "sentence"), remark.severity, label=t("gate.unfit")
            )
        )
    for remark in figures.describe_outdated_gates(summary.outdated_gates, t):
        items.append(
            doc.ListItem(
                doc.Styled(remark.text, "sentence"), remark.severity, label=t("gate.outdated")
            )
        )
    return build_list(items, flush=True, style="gates")


def _build_labels(summary: Summary, t: Translator) -> Iterator[doc.Node]:
    # several metrics put the samples into the same categories
    distinct = {
        tuple(sorted(m.labels.items())): m for m in summary.metrics if any(m.labels.values())
    }
    for number, metric in enumerate(distinct.values(), 1):
        columns = (
            doc.TableColumn(
                t("label"),
                short=t("refusals") if "answered" in metric.labels else metric.metric,
            ),
            *build_number_columns(t, "count", "rate"),
            doc.TableColumn(""),
            *build_number_columns(t, "interval"),
        )
        rows = [
            (
                t.translate("label", row.label),
                t.whole(row.count),
                doc.TableCell("–" if row.rate is None else t.percent(row.rate), style="key"),
                doc.TableCell(figures.name_denominator(row, t), style="soft"),
                figures.format_percent_interval(row, t),
            )
            for row in label_rates(metric.labels)
        ]
        title, table = t("labels_of", metric=metric.metric), build_table(columns, rows)
        yield build_panel(f"label{number}", title, table, where=doc.WRITTEN)
        name = t("refusals") if "answered" in metric.labels else metric.metric
        counted = [
            f"{t.whole(n)} {t.translate('label', label)}" for label, n in metric.labels.items() if n
        ]
        yield doc.Paragraph(f"{name}: {', '.join(counted)}", where=doc.TERMINAL)


def _build_corrected(summary: Summary, t: Translator) -> list[doc.Node]:
    """What people would say of all samples, beside what the judge says, for a page."""
    rows = []
    for metric in summary.metrics:
        estimate = metric.corrected.estimate if metric.corrected is not None else None
        if metric.corrected is None or estimate is None:
            continue
        alone = (
            f"{t.number(estimate.alone)} ({t.interval(estimate.alone_low, estimate.alone_high)})"
        )
        rows.append(
            (
                doc.TableCell(_name_metric(metric, t)),
                t.translate("target", metric.corrected.target),
                t.whole(estimate.labels),
                t.number(estimate.judge_mean),
                doc.TableCell(t.number(estimate.mean), style="strong"),
                t.interval(estimate.low, estimate.high),
                t.interval(estimate.sample_low, estimate.sample_high),
                alone,
            )
        )
    if not rows:
        return []
    columns = (
        *build_text_columns(t, "metric", "labelled_on"),
        *build_number_columns(
            t, "label_count", "judge_says", "corrected_short", "population_interval",
            "samples_interval", "labels_alone",
        ),
    )  # fmt: skip
    note = doc.Paragraph(t("corrected_note"), style="note")
    table = build_table(columns, rows, id="corrected")
    return [build_panel("corrected", t("corrected_panel"), table, note, where=doc.WRITTEN)]


def _build_costs(summary: Summary, t: Translator) -> list[doc.Node]:
    used = [metric for metric in summary.metrics if metric.usage != NO_USAGE]
    if not used:
        return []
    columns = (
        doc.TableColumn(t("metric"), short=t("usage")),
        *build_number_columns(t, "calls", "hits"),
        *build_number_columns(t, "tokens", where=doc.narrow_terminal(WIDE_COLUMNS)),
        *build_number_columns(t, "input_tokens", "output_tokens", where=doc.Where(min_columns=WIDE_COLUMNS)),
        *build_number_columns(t, "usd"),
    )  # fmt: skip

    # a cell for every column above, in that order; a medium drops those of the columns that it drops
    def build_usage(name: doc.Inline, usage: Usage) -> doc.TableRow:
        counts = (usage.calls, usage.hits, usage.input_tokens + usage.output_tokens)
        return doc.TableRow(
            (doc.TableCell(name), *map(t.whole, counts), *build_usage_cells(usage, t))
        )

    rows = tuple(build_usage(doc.Styled(m.metric, "code"), m.usage) for m in used)
    table = doc.ReportTable(columns, rows, build_usage(t("sum"), summary.usage))
    note = doc.Paragraph(t("usage_note"), style="note", where=doc.PAGE)
    return [build_panel("usage", t("usage"), table, note, heading=doc.WRITTEN)]


def _build_facts(summary: Summary, t: Translator) -> tuple[doc.Node, ...]:
    info = summary.run
    facts = {
        "data": figures.shorten(info.source, 400),
        "format": info.format,
        "samples": t.whole(summary.samples),
        "metrics": ", ".join(metric.metric for metric in summary.metrics),
        "judge": info.judge or t("no_judge"),
        "cold_start": figures.format_cold_start(info, t),
        "date": figures.format_moment(info.created),
        "identifier": info.id,
        "version": f"ragstone {info.facts.ragstone}",
        "reproduce": figures.shorten(figures.build_command(info), 2_000),
    }
    values = (doc.LabelledValue(t(k), v, k == "reproduce") for k, v in facts.items() if v)
    return (
        doc.Facts(tuple(values)),
        *_build_judge_page(summary, t),
        *_build_skipped(summary, t, doc.PAGE, len(info.bad), 300),
    )


def _build_judge_page(summary: Summary, t: Translator) -> list[doc.Node]:
    """What the embedded judge is worth on these metrics, and its whole page of figures to unfold."""
    lines = figures.describe_judge(summary, t)
    if not lines:
        return []
    from ragstone.judges.offline.quality import page

    link = doc.Styled(t("judge_page"), "link", href="#judge-page")
    nodes = tuple(parse_markdown(page(t.language), level=2))
    return [
        doc.Paragraph((f"{lines[0]} · ", link), style="note"),
        build_list(lines[1:], style="note"),
        doc.Details(f"{lines[0]}: {t('judge_page')}", nodes, "judge-page"),
    ]


def _build_judge_quality(summary: Summary, t: Translator, *, on_terminal: bool) -> list[doc.Node]:
    lines = figures.describe_judge(summary, t)
    if not lines:
        return []
    first, rest = doc.Paragraph(lines[0], style="note"), build_list(map(doc.Remark, lines[1:]))
    section = doc.Section((first, rest), where=doc.TERMINAL)
    return [build_list(lines, doc.TEXT), *([section] if on_terminal else [])]


def _build_skipped(
    summary: Summary, t: Translator, where: doc.Where, most: int, chars: int
) -> tuple[doc.Node, ...]:
    """Rows of the data that could not be read."""
    info = summary.run
    if not info.bad_count:
        return ()
    lines = [figures.shorten(row, chars) for row in info.bad[:most]]
    if info.bad_count > len(lines):
        lines.append(t("and_more", n=t.whole(info.bad_count - len(lines))))
    return (
        doc.Paragraph(t.count("skipped", info.bad_count), "warn", "note", where=where),
        build_list(map(doc.Remark, lines), where, style="note"),
    )


def _build_ending(
    summary: Summary, state: doc.Remark, t: Translator, ending: Sequence[doc.Node] | None
) -> Iterator[doc.Node]:
    info = summary.run
    if info.status == "running":
        yield doc.Paragraph(t("unfinished"), "warn")
    yield doc.Status(state.text, state.severity)
    yield from _build_full_report(info, t) if ending is None else ending


def _build_full_report(info: RunInfo, t: Translator) -> Iterator[doc.Node]:
    """The command that writes the full report of a run; nothing for one that is not kept."""
    if info.place:
        command = f"ragstone report {info.id}{figures.name_store(info)} -o report.html"
        yield doc.Paragraph(f"{t('full_report')} {command}", style="note")


def _list_outcomes(summary: Summary, t: Translator) -> list[tuple[str, str]]:
    """Values and texts of the outcome filter: only what occurs, categories last."""
    # `o:` and `l:` tell outcomes from labels: the page's script filters by these prefixes.
    seen = {name.partition(":")[0] for metric in summary.metrics for name in metric.outcomes}
    choices = [("o:ok", t("outcome.ok"))]
    if seen:
        choices.append(("o:", t("unscored")))
    choices += [(f"o:{name}", t.outcome(name)) for name in OUTCOMES if name in seen]
    labels = {name: None for m in summary.metrics for name, n in m.labels.items() if n}
    return choices + [(f"l:{name}", t.translate("label", name)) for name in labels]
