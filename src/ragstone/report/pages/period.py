"""A period of live traffic: each figure against the period before, alerts, failures, cost, the worst interactions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.monitor.windows.period_analysis import PeriodAnalysis
from ragstone.monitor.windows.period_report import PeriodReport, SeriesChange
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.monitor.windows.window_run import MAX_INTERACTIONS
from ragstone.report.cards import Card
from ragstone.report.drawing.shapes import Drawing
from ragstone.report.figures import describe_correction
from ragstone.report.monitor.alerts import AlertView, mark_alerts, view_alert
from ragstone.report.monitor.cards import build_series, describe_series, to_point
from ragstone.report.monitor.charts import SeriesPoint, draw_sparkline, format_sparkline
from ragstone.report.monitor.rows import format_mean, open_interaction
from ragstone.report.monitor.times import format_second
from ragstone.report.pages import Page
from ragstone.report.pages.failures import FailurePage
from ragstone.report.remarks import Remark, Severity, shorten
from ragstone.report.samples import Limits, SampleList
from ragstone.report.translator import Translator, load_translator

if TYPE_CHECKING:
    from ragstone.monitor.windows.interactions import JudgedInteraction

SAMPLE_LIMITS = Limits(text=4_000, chunks=20, findings=40)
SEVERITIES: dict[str, Severity] = {"better": "good", "worse": "bad"}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A figure of the period beside the one before."""

    name: str
    is_metric: bool
    verdict: Remark
    drawing: Drawing
    """Its course."""
    sparkline: str
    """The same in characters."""
    now: str
    scored: str
    before: str
    change: str


@dataclass(frozen=True, slots=True)
class WorstView:
    """One of the worst interactions, for a text."""

    id: str
    when: str
    question: str
    answer: str
    scores: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PeriodPage(Page):
    """The analysis of a period."""

    kind: ClassVar[str] = "period"
    template: ClassVar[str] = "period"
    styles: ClassVar[tuple[str, ...]] = ("monitor.css", "failures.css")
    analysis: PeriodAnalysis

    @property
    def report(self) -> PeriodReport:
        """The figures of the period."""
        return self.analysis.report

    @property
    def title(self) -> str:
        """Which period."""
        return f"{self.heading}: {self.facts[0]}"

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.t("monitor")

    @property
    def footer(self) -> str:
        """The time zone."""
        return self.report.zone

    @property
    def heading(self) -> str:
        """A day, a week or a month."""
        return self.t(f"period.{self.report.period}")

    @cached_property
    def facts(self) -> list[str]:
        """Which period, how much came, how many alerts."""
        return _list_facts(self.report, self.t)

    @cached_property
    def state(self) -> Remark:
        """How many interactions fail, and what has changed."""
        return _describe_state(self.analysis, self.t)

    @property
    def against(self) -> str:
        """What it is compared with."""
        return self.t("against_unit", unit=self.t(f"unit.{self.report.period}"))

    # ── changes ───────────────────────────────────────────────────────────────────────────

    @cached_property
    def changes(self) -> list[ChangeRow]:
        """Each figure beside that of the period before."""
        return [self._build_change(change) for change in self.report.changes]

    def _build_change(self, change: SeriesChange) -> ChangeRow:
        t, report = self.t, self.report
        name, points = _name_figure(change.name, t), _list_points(report, change.name)
        margin = "" if change.margin is None else t.number(change.margin, 2)
        verdict = t(f"says.period_{change.verdict}", margin=margin)
        return ChangeRow(
            name,
            _is_metric(change, report),
            Remark(verdict, SEVERITIES.get(change.verdict, "plain")),
            draw_sparkline(points, describe_series(points, name, t)),
            format_sparkline(points),
            format_mean(change.now, t),
            "–" if change.now is None else t.whole(change.now.scored),
            format_mean(change.before, t),
            _format_change(change, t),
        )

    @property
    def corrections(self) -> list[tuple[str, Remark]]:
        """What labels of people say of each metric."""
        return [
            (name, remark)
            for name, correction in self.report.corrections.items()
            for remark in describe_correction(correction, "corrected_mean", self.t)
        ]

    @property
    def cards(self) -> list[Card]:
        """The course of each figure."""
        return [self._build_card(change) for change in self.report.changes]

    def _build_card(self, change: SeriesChange) -> Card:
        t, report = self.t, self.report
        name = _name_figure(change.name, t)
        return Card(
            name=name,
            direction=t("higher" if change.higher_is_better else "lower"),
            drawing=build_series(
                _list_points(report, change.name),
                name,
                t,
                bounds=change.bounds,
                alerts=mark_alerts(report.alerts, change.name, None, t),
                zero=change.name == "latency",
            ),
            style="" if _is_metric(change, report) else "plain",
        )

    @property
    def metrics(self) -> list[str]:
        """The metrics of the period."""
        return [*self.report.now.metrics]

    @property
    def breakdowns(self) -> list[tuple[str, list[list[str]]]]:
        """The fields whose values differ: each value, its interactions, the means, the feedback."""
        t = self.t
        return [
            (
                field,
                [
                    [
                        shorten(part.value, 80) or "–",
                        t.whole(part.interactions),
                        *(format_mean(part.metrics.get(name), t) for name in self.metrics),
                        format_mean(part.feedback, t),
                    ]
                    for part in slices
                ],
            )
            for field, slices in self.analysis.breakdowns
        ]

    # ── alerts, failures, cost, worst ─────────────────────────────────────────────────────

    @cached_property
    def alerts(self) -> list[AlertView]:
        """What was wrong in the period."""
        return [view_alert(alert, self.report.until, self.t) for alert in self.report.alerts]

    @property
    def no_alerts(self) -> str:
        """That there were none."""
        is_worse = any(change.verdict == "worse" for change in self.report.changes)
        return self.t("no_alerts_but_worse" if is_worse else "no_alerts")

    @cached_property
    def failures(self) -> FailurePage | None:
        """Why interactions fail."""
        analysis = self.analysis
        return (
            None
            if analysis.failures is None
            else FailurePage(self.t, analysis.failures, analysis.diagnoses)
        )

    @property
    def newest(self) -> str:
        """That only the newest interactions were classified; empty where all were."""
        failures = self.analysis.failures
        is_cut = failures is not None and failures.samples >= MAX_INTERACTIONS
        return self.t("newest_only", n=self.t.whole(MAX_INTERACTIONS)) if is_cut else ""

    @property
    def costs(self) -> list[list[str]]:
        """What answering and judging cost, in this period and the one before."""
        t, now, before = self.t, self.report.now, self.report.before
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
        return rows

    @property
    def worst_by(self) -> str:
        """What the worst interactions are worst in."""
        return self.t("worst_of", metric=_name_figure(self.analysis.worst_by, self.t))

    @property
    def worst(self) -> list[WorstView]:
        """The worst interactions as a table."""
        return [self._view_worst(judged) for judged in self.analysis.worst]

    def _view_worst(self, judged: JudgedInteraction) -> WorstView:
        t, interaction = self.t, judged.interaction
        scores = [
            (name, t.number(score.value) if score.ok else t.outcome(score.outcome))
            for name, score in judged.scores.items()
        ]
        question = shorten(interaction.question or t("no_question"), 120)
        answer = shorten(interaction.answer or "", 160)
        return WorstView(
            shorten(judged.id, 60),
            format_second(interaction.at, t),
            question,
            answer,
            tuple(scores),
        )

    @cached_property
    def samples(self) -> SampleList | None:
        """The worst interactions with their evidence."""
        worst = self.analysis.worst
        if not worst:
            return None
        # Positions index the list of the worst here, not the store: a period has no rows of its own.
        return SampleList(
            range(len(worst)), lambda at: open_interaction(worst[at], self.t), SAMPLE_LIMITS
        )


def open_page(result: PeriodAnalysis, t: Translator) -> PeriodPage:
    """The page of a period, with times in its zone."""
    return PeriodPage(load_translator(t.language, get_time_zone(result.report.zone)), result)


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


def _describe_state(analysis: PeriodAnalysis, t: Translator) -> Remark:
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
    calm: Severity = "good" if is_judged and not report.alerts else "warn"
    text = "; ".join(parts)
    if analysis.failing and analysis.failures is not None:
        counts = {"n": t.whole(analysis.failing), "total": t.whole(analysis.failures.samples)}
        return Remark(f"{t('summary.fail', **counts)}. {text}", "bad")
    return Remark(text, "bad" if worse else calm)


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
