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
from ragstone.report.words import Words, load_words

SAMPLE_LIMITS = Limits(text=4_000, chunks=20, findings=40)
TONES: dict[str, doc.Tone] = {"better": "good", "worse": "bad"}


@dataclass(frozen=True, slots=True)
class MonitorReport:
    """The analysis of a period."""

    kind: ClassVar[str] = "period"
    analysis: PeriodAnalysis
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        analysis, report = self.analysis, self.analysis.report
        say = load_words(self.language, get_time_zone(report.zone))
        title, facts = say(f"period.{report.period}"), _list_facts(report, say)
        state = _describe_state(analysis, say)
        head = (doc.Heading(title, 1), doc.Byline(tuple(facts)), doc.Status(state.text, state.tone))
        body = (
            *_build_changes(report, say),
            *_build_breakdowns(analysis, say),
            _build_alerts(report, say),
            *_build_failures(analysis, say),
            _build_costs(report, say),
            *_build_worst(analysis, say),
        )
        window = f"{title}: {facts[0]}"
        return doc.ReportDocument(
            "period", say, window, say("monitor"), head, body, footer=report.zone
        )


def _list_facts(report: PeriodReport, say: Words) -> list[str]:
    """Which period, how much came, how many alerts."""
    first, last = report.dates()
    facts = [
        say("period_at", since=first, until=last, zone=report.zone),
        say.count("interaction", report.now.interactions),
        say.count("alert", len(report.alerts)),
    ]
    if report.now.failed:
        facts.insert(2, say("failed_many", n=say.whole(report.now.failed)))
    return facts


def _describe_state(analysis: PeriodAnalysis, say: Words) -> doc.Remark:
    """The period in one line: how many interactions fail, and what has changed."""
    report = analysis.report
    worse = sum(change.verdict == "worse" for change in report.changes)
    better = sum(change.verdict == "better" for change in report.changes)
    parts = []
    if worse:
        parts.append(say.count("summary.worse", worse))
    if better:
        parts.append(say.count("summary.better", better))
    is_judged = any(figure.scored for figure in report.now.metrics.values())
    if not parts:
        nothing = "summary.failed" if report.now.metrics else "summary.nothing"
        parts.append(say("summary.same" if is_judged else nothing))
    if report.alerts:
        parts.append(say.count("alert", len(report.alerts)))
    # Green needs evidence: a period in which nothing could be judged is not a good one.
    calm: doc.Tone = "good" if is_judged and not report.alerts else "warn"
    text = "; ".join(parts)
    if analysis.failing and analysis.failures is not None:
        counts = {"n": say.whole(analysis.failing), "total": say.whole(analysis.failures.samples)}
        return doc.Remark(f"{say('summary.fail', **counts)}. {text}", "bad")
    return doc.Remark(text, "bad" if worse else calm)


# ── changes ───────────────────────────────────────────────────────────────────────────────


def _build_changes(report: PeriodReport, say: Words) -> list[doc.Section]:
    against = say("against_unit", unit=say(f"unit.{report.period}"))
    heading = doc.Heading(say("metrics"), note=against)
    if not report.changes:
        nothing = doc.Paragraph(say("summary.nothing"), style="soft")
        return [doc.Section((heading, nothing), "panel", "metrics", doc.PAGE)]
    columns = (
        *build_text_columns(say, "metric"),
        *build_text_columns(say, "verdict", "trend", where=doc.PAGE),
        *build_text_columns(say, "verdict", "trend", where=doc.TEXT),
        *build_number_columns(say, "this_period"),
        doc.TableColumn("n", numeric=True, where=doc.PAGE),
        *build_number_columns(say, "period_before", "change"),
    )
    table = build_table(columns, (_list_cells(change, report, say) for change in report.changes))
    note = doc.Paragraph(f"{say('verdict_note')} {say('weights_note')}", style="note")
    corrected = [
        (name, describe_correction(correction, "corrected_mean", say))
        for name, correction in report.corrections.items()
    ]
    remarks = [doc.Remark(f"{name}: {r.text}", r.tone) for name, rows in corrected for r in rows]
    lines = [build_list(remarks, flush=True, style="lines")] if remarks else []
    cards = doc.CardGrid(tuple(_build_card(change, report, say) for change in report.changes))
    return [
        doc.Section((heading, table, *lines, note), "panel", "metrics"),
        doc.Section((doc.Heading(say("trend")), cards), id="trends", where=doc.PAGE),
    ]


def _list_cells(change: SeriesChange, report: PeriodReport, say: Words) -> doc.Cells:
    """A cell for each column of `_build_changes`, in that order: verdict and trend once for a page, once for a text."""
    name, points = _name_figure(change.name, say), _list_points(report, change.name)
    margin = "" if change.margin is None else say.number(change.margin, 2)
    verdict = say(f"says.period_{change.verdict}", margin=margin)
    sparkline = draw_sparkline(points, describe_series(points, name, say))
    return [
        doc.TableCell(doc.Styled(name, "code") if _is_metric(change, report) else name),
        doc.TableCell(doc.Styled(verdict, "badge", TONES.get(change.verdict, "plain"))),
        doc.TableCell("", style="spread", spark=sparkline),
        verdict,
        format_sparkline(points),
        format_mean(change.now, say),
        "–" if change.now is None else say.whole(change.now.scored),
        format_mean(change.before, say),
        _format_change(change, say),
    ]


def _build_card(change: SeriesChange, report: PeriodReport, say: Words) -> doc.Card:
    name = _name_figure(change.name, say)
    return doc.Card(
        name=name,
        direction=say("higher" if change.higher_is_better else "lower"),
        chart=build_series(
            _list_points(report, change.name),
            name,
            say,
            bounds=change.bounds,
            alerts=mark_alerts(report.alerts, change.name, None, say),
            zero=change.name == "latency",
        ),
        style="" if _is_metric(change, report) else "plain",
    )


def _is_metric(change: SeriesChange, report: PeriodReport) -> bool:
    return change.name in report.now.metrics or change.name in report.before.metrics


def _name_figure(name: str, say: Words) -> str:
    """A figure's name in words; metrics are called what they are."""
    return say(name) if name in ("feedback", "latency") else name


def _list_points(report: PeriodReport, name: str) -> list[SeriesPoint]:
    """A figure's course over the period."""
    return [to_point(window, _choose_figure(window, name)) for window in report.series]


def _choose_figure(window: Window, name: str) -> SeriesStats | None:
    by_name = {"feedback": window.feedback, "latency": window.latency}
    return by_name[name] if name in by_name else window.metrics.get(name)


def _format_change(change: SeriesChange, say: Words) -> str:
    """The change with its interval, signed."""
    if change.difference is None:
        return "–"
    text = _format_signed(change.difference, say)
    if change.low is None or change.high is None:
        return text
    return f"{text} ({_format_signed(change.low, say)} – {_format_signed(change.high, say)})"


def _format_signed(value: float, say: Words) -> str:
    text = say.number(value, 3 if abs(value) < 1 else None)
    return text if text.startswith("-") or value == 0 else f"+{text}"


def _build_breakdowns(analysis: PeriodAnalysis, say: Words) -> Iterator[doc.Section]:
    """The fields whose values differ, each as a table."""
    names = [*analysis.report.now.metrics]
    for field, slices in analysis.breakdowns:
        rows = [
            (
                shorten(part.value, 80) or "–",
                say.whole(part.interactions),
                *(format_mean(part.metrics.get(name), say) for name in names),
                format_mean(part.feedback, say),
            )
            for part in slices
        ]
        columns = (
            doc.TableColumn(field),
            *build_number_columns(say, "interactions"),
            *(doc.TableColumn(doc.Styled(name, "code"), numeric=True) for name in names),
            *build_number_columns(say, "feedback"),
        )
        yield build_panel(f"by-{field}", say("by_field", field=field), build_table(columns, rows))


# ── alerts, failures, cost, worst ─────────────────────────────────────────────────────────


def _build_alerts(report: PeriodReport, say: Words) -> doc.Section:
    views = tuple(view_alert(alert, report.until, say) for alert in report.alerts)
    listed = build_list((_alert_in_text(view, say) for view in views), doc.TEXT)
    is_worse = any(change.verdict == "worse" for change in report.changes)
    text = say("no_alerts_but_worse" if is_worse else "no_alerts")
    nothing = doc.Paragraph(text, style="panel soft")
    nodes = (doc.AlertList(views), listed) if views else (nothing,)
    return doc.Section((doc.Heading(say("alerts")), *nodes), id="alerts")


def _alert_in_text(view: AlertView, say: Words) -> doc.ListItem:
    items: list[str | doc.ListItem] = [
        f"{shorten(example.id, 80)} {example.question} {example.value}".rstrip()
        for example in view.examples
    ]
    for symptom, causes in view.symptoms[:1]:
        advice = "; ".join(text for _, text in causes)
        strong = doc.Styled(f"{say('then_try')}:", "strong")
        items.append(doc.ListItem((f"{symptom}. ", strong, f" {advice}")))
    return doc.ListItem(
        (doc.Styled(view.state, "strong"), f" {view.title} ({view.when})"),
        nodes=(*([doc.Paragraph(view.slice)] if view.slice else []), build_list(items)),
    )


def _build_failures(analysis: PeriodAnalysis, say: Words) -> Iterator[doc.Node]:
    if analysis.failures is not None:
        nodes: list[doc.Node] = [*build_classes(analysis.failures, say)]
        if analysis.failures.samples >= MAX_INTERACTIONS:
            newest = say("newest_only", n=say.whole(MAX_INTERACTIONS))
            nodes.append(doc.Paragraph(newest, style="note"))
        for note in describe_withheld(analysis.failures, say):
            nodes.append(doc.Paragraph(doc.Styled(note.text, "sentence"), note.tone, "note"))
        yield build_panel("classes", say("failures"), *nodes)
        if analysis.diagnoses:
            yield build_diagnosis(analysis.diagnoses, analysis.failures, say)


def _build_costs(report: PeriodReport, say: Words) -> doc.Section:
    """What answering and judging cost, in this period and the one before."""
    now, before = report.now, report.before
    rows = [[say("judge_cost"), say.money(now.judge_usd), say.money(before.judge_usd)]]
    for name, figure in now.metrics.items():
        if figure.calls:
            earlier = before.metrics.get(name)
            paid = f"{say.money(figure.usd)}, {say('calls_many', n=say.whole(figure.calls))}"
            rows.append([f"· {name}", paid, "–" if earlier is None else say.money(earlier.usd)])
    if now.cost is not None or before.cost is not None:
        totals = [say.money(w.cost.total) if w.cost else "–" for w in (now, before)]
        # What the system itself cost stands before what judging it cost; both are absent from most
        # logs.
        rows.insert(0, [say("system_cost"), *totals])
    if now.tokens is not None:
        spent = [say.whole(round(w.tokens.total)) if w.tokens else "–" for w in (now, before)]
        rows.insert(1, [say("tokens"), *spent])
    columns = (doc.TableColumn(""), *build_number_columns(say, "this_period", "period_before"))
    return build_panel("costs", say("costs"), build_table(columns, rows))


def _build_worst(analysis: PeriodAnalysis, say: Words) -> list[doc.Section]:
    if not analysis.worst:
        return []
    rows = []
    for judged in analysis.worst:
        scores: list[str | doc.Styled] = []
        for name, score in judged.scores.items():
            value = say.number(score.value) if score.ok else say.outcome(score.outcome)
            scores += [", "] * bool(scores) + [doc.Styled(name, "code"), f" {value}"]
        interaction = judged.interaction
        rows.append(
            (
                shorten(judged.id, 60),
                format_second(interaction.at, say),
                shorten(interaction.question or say("no_question"), 120),
                shorten(interaction.answer or "", 160),
                doc.TableCell(tuple(scores)),
            )
        )
    columns = (
        doc.TableColumn("id"),
        *build_text_columns(say, "time", "question", "answer", "scores"),
    )
    samples = doc.SampleList(
        range(len(analysis.worst)),
        # Positions index the list of the worst here, not the store: a period has no rows of its
        # own.
        lambda position: open_interaction(analysis.worst[position], say),
        SAMPLE_LIMITS,
    )
    by = say("worst_of", metric=_name_figure(analysis.worst_by, say))
    heading = doc.Heading(say("worst_interactions"), note=by)
    return [doc.Section((heading, samples, build_table(columns, rows, doc.TEXT)), id="worst")]
