"""The report of a period as one self-contained HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone._version import __version__
from ragstone.monitor.windows.period_report import Change, PeriodReport
from ragstone.monitor.windows.summary import time_zone
from ragstone.report import samples
from ragstone.report.drawing.shapes import NARROW, WIDE
from ragstone.report.drawing.svg import inline
from ragstone.report.failures import sentences
from ragstone.report.html import style_sheet
from ragstone.report.monitor import period, reading
from ragstone.report.monitor.alerts import alert_view, marks
from ragstone.report.monitor.cards import chart, series_label
from ragstone.report.monitor.charts import spark
from ragstone.report.monitor.rows import mean_cell
from ragstone.report.page import policy, resource, template
from ragstone.report.words import Words, words

if TYPE_CHECKING:
    from markupsafe import Markup

SHOWN = samples.Limits(text=4_000, chunks=20, findings=40)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One figure against the period before."""

    name: str
    metric: bool
    direction: str
    now: str
    n: str
    before: str
    change: str
    verdict: str
    tone: str
    spark: Markup
    picture: Markup


def render(whole: period.Whole, language: str = "en") -> str:
    """The page as text."""
    from markupsafe import Markup

    report = whole.report
    say = words(language, time_zone(report.zone))
    style = style_sheet() + resource("drawing.css") + resource("monitor.css")
    failures = whole.failures
    drawings = [] if failures is None else [
        Markup(inline(sentences.picture(failures, say, width), kind))  # noqa: S704 - every text in it is escaped
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    ]  # fmt: skip
    return str(
        template("monitor_report.html.j2").render(
            say=say,
            version=__version__,
            policy=policy(style),
            style=Markup(style),  # noqa: S704 - files of this package
            zone=report.zone,
            title=say(f"period.{report.period}"),
            unit=say(f"unit.{report.period}"),
            heading=period.heading(report, say),
            state=period.headline(report, say),
            rows=[_row(one, report, say) for one in report.changes],
            alerts=[alert_view(one, report.until, say) for one in report.alerts],
            drawings=drawings,
            classes=[] if failures is None else sentences.class_rows(failures, say),
            newest=period.newest_note(whole, say),
            diagnoses=sentences.diagnosis_views(whole.diagnoses, say),
            costs=period.costs(report, say),
            worst=[_sample(one, number == 0, say) for number, one in enumerate(whole.worst)],
            worst_by=period.called(whole.worst_by, say),
        )
    )


def _row(one: Change, report: PeriodReport, say: Words) -> ChangeRow:
    from markupsafe import Markup

    points = period.points(report, one.name)
    label = series_label(points, period.called(one.name, say), say)
    return ChangeRow(
        name=period.called(one.name, say),
        metric=one.name in report.now.metrics or one.name in report.before.metrics,
        direction=say("higher" if one.higher_is_better else "lower"),
        now=mean_cell(one.now, say),
        n="–" if one.now is None else say.whole(one.now.scored),
        before=mean_cell(one.before, say),
        change=period.difference(one, say),
        verdict=period.verdict(one, say),
        tone=period.TONES.get(one.verdict, "plain"),
        spark=Markup(inline(spark(points, label), "spark")),  # noqa: S704 - every text in it is escaped
        picture=chart(
            points,
            period.called(one.name, say),
            say,
            bounds=one.bounds,
            marked=marks(report.alerts, one.name, None, say),
            zero=one.name == "latency",
        ),
    )


def _sample(one: reading.Seen, open: bool, say: Words) -> Markup:
    from markupsafe import Markup

    ranges = [reading.range_of(name) for name in one.scores]
    view = samples.view(one, samples.opened(one, ranges), ranges, SHOWN, say)
    text = template("sample.html.j2").render(say=say, s=view, open=open)
    return Markup(text)  # noqa: S704 - rendered by our own template
