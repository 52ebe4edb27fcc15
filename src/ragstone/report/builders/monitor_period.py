"""The report of a period of live traffic: each figure against the period before, alerts, failures, cost, worst."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.monitor.windows.period_analysis import PeriodAnalysis
from ragstone.monitor.windows.period_report import PeriodReport, SeriesChange
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.monitor.windows.window_run import MAX_INTERACTIONS
from ragstone.report import document as doc
from ragstone.report.builders.diagnosis import build_diagnosis, describe_withheld
from ragstone.report.builders.failures import build_classes
from ragstone.report.builders.parts import (
    build_list,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.figures import describe_correction, shorten
from ragstone.report.monitor.alerts import AlertView, mark_alerts, view_alert
from ragstone.report.monitor.cards import build_series, describe_series, to_point
from ragstone.report.monitor.charts import SeriesPoint, draw_sparkline, format_sparkline
from ragstone.report.monitor.rows import format_mean, open_interaction
from ragstone.report.monitor.times import format_second
from ragstone.report.samples import Limits
from ragstone.report.translator import Translator, load_translator

SAMPLE_LIMITS = Limits(text=4_000, chunks=20, findings=40)
SEVERITIES: dict[str, doc.Severity] = {"better": "good", "worse": "bad"}


@dataclass(frozen=True, slots=True)
class MonitorReport:
    """The analysis of a period."""

    kind: ClassVar[str] = "period"
    analysis: PeriodAnalysis
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        analysis, report = self.analysis, self.analysis.report
        t = load_translator(self.language, get_time_zone(report.zone))
        title, facts = t(f"period.{report.period}"), _list_facts(report, t)
        state = _describe_state(analysis, t)
        head = (
            doc.Heading(title, 1),
            doc.Byline(tuple(facts)),
            doc.Status(state.text, state.severity),
        )
        body = (
            *_build_changes(report, t),
            *_build_breakdowns(analysis, t),
            _build_alerts(report, t),
            *_build_failures(analysis, t),
            _build_costs(report, t),
            *_build_worst(analysis, t),
        )
        window = f"{title}: {facts[0]}"
        return doc.ReportDocument("period", t, window, t("monitor"), head, body, footer=report.zone)


def _list_facts(report: PeriodReport, t: Translator) -> list[str]:
    """Which period, how much came, how many alerts."""
    first, last = report.dates()
    facts = [
        t("period_at", since=first, until=last, zone=report.zone),
        t.count("interaction", report.now.interactions),
        t.count("alert", len(report.alerts)),
    ]
    if report.now.failed:
        facts.insert(2, t("failed_many", n=t.whole(report.now.failed)))
    return facts


def _describe_state(analysis: PeriodAnalysis, t: Translator) -> doc.Remark:
    """The period in one line: how many interactions fail, and what has changed."""
    report = analysis.report
    worse = sum(change.verdict == "worse" for change in report.changes)
    better = sum(change.verdict == "better" for change in report.changes)
    parts = []
    if worse:
        parts.append(t.count("summary.worse", worse))
    if better:
        parts.append(t.count("summary.better", better))
    is_judged = any(figure.scored for figure in report.now.metrics.values())
    if not parts:
        nothing = "summary.failed" if report.now.metrics else "summary.nothing"
        parts.append(t("summary.same" if is_judged else nothing))
    if report.alerts:
        parts.append(t.count("alert", len(report.alerts)))
    # Green needs evidence: a period in which nothing could be judged is not a good one.
    calm: doc.Severity = "good" if is_judged and not report.alerts else "warn"
    text = "; ".join(parts)
    if analysis.failing and analysis.failures is not None:
        counts = {"n": t.whole(analysis.failing), "total": t.whole(analysis.failures.samples)}
        return doc.Remark(f"{t('summary.fail', **counts)}. {text}", "bad")
    return doc.Remark(text, "bad" if worse else calm)


# ── changes ───────────────────────────────────────────────────────────────────────────────


def _build_changes(report: PeriodReport, t: Translator) -> list[doc.Section]:
    against = t("against_unit", unit=t(f"unit.{report.period}"))
    heading = doc.Heading(t("metrics"), note=against)
    if not report.changes:
        nothing = doc.Paragraph(t("summary.nothing"), style="soft")
        return [doc.Section((heading, nothing), "panel", "metrics", doc.PAGE)]
    columns = (
        *build_text_columns(t, "metric"),
        *build_text_columns(t, "verdict", "trend", where=doc.PAGE),
        *build_text_columns(t, "verdict", "trend", where=doc.TEXT),
        *build_number_columns(t, "this_period"),
        doc.TableColumn("n", numeric=True, where=doc.PAGE),
        *build_number_columns(t, "period_before", "change"),
    )
    table = build_table(columns, (_list_cells(change, report, t) for change in report.changes))
    note = doc.Paragraph(f"{t('verdict_note')} {t('weights_note')}", style="note")
    corrected = [
        (name, describe_correction(correction, "corrected_mean", t))
        for name, correction in report.corrections.items()
    ]
    remarks = [
        doc.Remark(f"{name}: {r.text}", r.severity) for name, rows in corrected for r in rows
    ]
    lines = [build_list(remarks, flush=True, style="lines")] if remarks else []
    cards = doc.CardGrid(tuple(_build_card(change, report, t) for change in report.changes))
    return [
        doc.Section((heading, table, *lines, note), "panel", "metrics"),
        doc.Section((doc.Heading(t("trend")), cards), id="trends", where=doc.PAGE),
    ]


def _list_cells(change: SeriesChange, report: PeriodReport, t: Translator) -> doc.Cells:
    """A cell for each column of `_build_changes`, in that order: verdict and trend once for a page, once for a text."""
    name, points = _name_figure(change.name, t), _list_points(report, change.name)
    margin = "" if change.margin is None else t.number(change.margin, 2)
    verdict = t(f"says.period_{change.verdict}", margin=margin)
    sparkline = draw_sparkline(points, describe_series(points, name, t))
    return [
        doc.TableCell(doc.Styled(name, "code") if _is_metric(change, report) else name),
        doc.TableCell(doc.Styled(verdict, "badge", SEVERITIES.get(change.verdict, "plain"))),
        doc.TableCell("", style="spread", spark=sparkline),
        verdict,
        format_sparkline(points),
        format_mean(change.now, t),
        "–" if change.now is None else t.whole(change.now.scored),
        format_mean(change.before, t),
        _format_change(change, t),
    ]


def _build_card(change: SeriesChange, report: PeriodReport, t: Translator) -> doc.Card:
    name = _name_figure(change.name, t)
    return doc.Card(
        name=name,
        direction=t("higher" if change.higher_is_better else "lower"),
        chart=build_series(
            _list_points(report, change.name),
            name,
            t,
            bounds=change.bounds,
            alerts=mark_alerts(report.alerts, change.name, None, t),
            zero=change.name == "latency",
        ),
        style="" if _is_metric(change, report) else "plain",
    )


def _is_metric(change: SeriesChange, report: PeriodReport) -> bool:
    return change.name in report.now.metrics or change.name in report.before.metrics


def _name_figure(name: str, t: Translator) -> str:
    """A figure's name in words; metrics are called what they are."""
    return t(name) if name in ("feedback", "latency") else name


def _list_points(report: PeriodReport, name: str) -> list[SeriesPoint]:
    """A figure's course over the period."""
    return [to_point(window, _choose_figure(window, name)) for window in report.series]


def _choose_figure(window: Window, name: str) -> SeriesStats | None:
    by_name = {"feedback": window.feedback, "latency": window.latency}
    return by_name[name] if name in by_name else window.metrics.get(name)


def _format_change(change: SeriesChange, t: Translator) -> str:
    """The change with its interval, signed."""
    if change.difference is None:
        return "–"
    text = _format_signed(change.difference, t)
    if change.low is None or change.high is None:
        return text
    return f"{text} ({_format_signed(change.low, t)} – {_format_signed(change.high, t)})"


def _format_signed(value: float, t: Translator) -> str:
    text = t.number(value, 3 if abs(value) < 1 else None)
    return text if text.startswith("-") or value == 0 else f"+{text}"


def _build_breakdowns(analysis: PeriodAnalysis, t: Translator) -> Iterator[doc.Section]:
    """The fields whose values differ, each as a table."""
    names = [*analysis.report.now.metrics]
    for field, slices in analysis.breakdowns:
        rows = [
            (
                shorten(part.value, 80) or "–",
                t.whole(part.interactions),
                *(format_mean(part.metrics.get(name), t) for name in names),
                format_mean(part.feedback, t),
            )
            for part in slices
        ]
        columns = (
            doc.TableColumn(field),
            *build_number_columns(t, "interactions"),
            *(doc.TableColumn(doc.Styled(name, "code"), numeric=True) for name in names),
            *build_number_columns(t, "feedback"),
        )
        yield build_panel(f"by-{field}", t("by_field", field=field), build_table(columns, rows))


# ── alerts, failures, cost, worst ─────────────────────────────────────────────────────────


def _build_alerts(report: PeriodReport, t: Translator) -> doc.Section:
    views = tuple(view_alert(alert, report.until, t) for alert in report.alerts)
    listed = build_list((_alert_in_text(view, t) for view in views), doc.TEXT)
    is_worse = any(change.verdict == "worse" for change in report.changes)
    text = t("no_alerts_but_worse" if is_worse else "no_alerts")
    nothing = doc.Paragraph(text, style="panel soft")
    nodes = (doc.AlertList(views), listed) if views else (nothing,)
    return doc.Section((doc.Heading(t("alerts")), *nodes), id="alerts")


def _alert_in_text(view: AlertView, t: Translator) -> doc.ListItem:
    items: list[str | doc.ListItem] = [
        f"{shorten(example.id, 80)} {example.question} {example.value}".rstrip()
        for example in view.examples
    ]
    for symptom, causes in view.symptoms[:1]:
        advice = "; ".join(text for _, text in causes)
        strong = doc.Styled(f"{t('then_try')}:", "strong")
        items.append(doc.ListItem((f"{symptom}. ", strong, f" {advice}")))
    return doc.ListItem(
        (doc.Styled(view.state, "strong"), f" {view.title} ({view.when})"),
        nodes=(*([doc.Paragraph(view.slice)] if view.slice else []), build_list(items)),
    )


def _build_failures(analysis: PeriodAnalysis, t: Translator) -> Iterator[doc.Node]:
    if analysis.failures is not None:
        nodes: list[doc.Node] = [*build_classes(analysis.failures, t)]
        if analysis.failures.samples >= MAX_INTERACTIONS:
            newest = t("newest_only", n=t.whole(MAX_INTERACTIONS))
            nodes.append(doc.Paragraph(newest, style="note"))
        for note in describe_withheld(analysis.failures, t):
            nodes.append(doc.Paragraph(doc.Styled(note.text, "sentence"), note.severity, "note"))
        yield build_panel("classes", t("failures"), *nodes)
        if analysis.diagnoses:
            yield build_diagnosis(analysis.diagnoses, analysis.failures, t)


def _build_costs(report: PeriodReport, t: Translator) -> doc.Section:
    """What answering and judging cost, in this period and the one before."""
    now, before = report.now, report.before
    rows = [[t("judge_cost"), t.money(now.judge_usd), t.money(before.judge_usd)]]
    for name, figure in now.metrics.items():
        if figure.calls:
            earlier = before.metrics.get(name)
            paid = f"{t.money(figure.usd)}, {t('calls_many', n=t.whole(figure.calls))}"
            rows.append([f"· {name}", paid, "–" if earlier is None else t.money(earlier.usd)])
    if now.cost is not None or before.cost is not None:
        totals = [t.money(w.cost.total) if w.cost else "–" for w in (now, before)]
        # What the system itself cost stands before what judging it cost; both are absent from most
        # logs.
        rows.insert(0, [t("system_cost"), *totals])
    if now.tokens is not None:
        spent = [t.whole(round(w.tokens.total)) if w.tokens else "–" for w in (now, before)]
        rows.insert(1, [t("tokens"), *spent])
    columns = (doc.TableColumn(""), *build_number_columns(t, "this_period", "period_before"))
    return build_panel("costs", t("costs"), build_table(columns, rows))


def _build_worst(analysis: PeriodAnalysis, t: Translator) -> list[doc.Section]:
    if not analysis.worst:
        return []
    rows = []
    for judged in analysis.worst:
        scores: list[str | doc.Styled] = []
        for name, score in judged.scores.items():
            value = t.number(score.value) if score.ok else t.outcome(score.outcome)
            scores += [", "] * bool(scores) + [doc.Styled(name, "code"), f" {value}"]
        interaction = judged.interaction
        rows.append(
            (
                shorten(judged.id, 60),
                format_second(interaction.at, t),
                shorten(interaction.question or t("no_question"), 120),
                shorten(interaction.answer or "", 160),
                doc.TableCell(tuple(scores)),
            )
        )
    columns = (
        doc.TableColumn("id"),
        *build_text_columns(t, "time", "question", "answer", "scores"),
    )
    samples = doc.SampleList(
        range(len(analysis.worst)),
        # Positions index the list of the worst here, not the store: a period has no rows of its
        # own.
        lambda position: open_interaction(analysis.worst[position], t),
        SAMPLE_LIMITS,
    )
    by = t("worst_of", metric=_name_figure(analysis.worst_by, t))
    heading = doc.Heading(t("worst_interactions"), note=by)
    return [doc.Section((heading, samples, build_table(columns, rows, doc.TEXT)), id="worst")]
