"""The cards of the live page: each metric and the traffic of a window, with state, figures and chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.monitor.alerts.alert import Alert
from ragstone.monitor.alerts.drop_rules import Stream
from ragstone.monitor.windows.summary import Figure, Window
from ragstone.report.drawing.svg import inline
from ragstone.report.monitor import reading
from ragstone.report.monitor.alerts import TONES, marks, state_text
from ragstone.report.monitor.charts import Mark, Point, line
from ragstone.report.monitor.times import length, shown
from ragstone.report.words import Words

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH = 380.0
"""Of a chart: a card is about as wide as a phone, whatever the page."""


@dataclass(frozen=True, slots=True)
class State:
    """A state with its colour."""

    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class MetricCard:
    """A metric in the window, with its state and its chart."""

    name: str
    state: State
    direction: str
    mean: str
    interval: str
    lines: tuple[str, ...]
    picture: Markup


@dataclass(frozen=True, slots=True)
class TrafficCard:
    """How much came, what people said of it, how long it took and what it cost."""

    name: str
    figure: str
    note: str
    picture: Markup


def metric_card(
    figure: Figure,
    windows: Sequence[Window],
    stream: Stream | None,
    alerts: Sequence[Alert],
    where: tuple[str, str] | None,
    say: Words,
) -> MetricCard:
    """A metric of the window with its state by the watcher and its alerts."""
    name = figure.name
    scale = reading.range_of(name)
    points = [point(one, one.metrics.get(name)) for one in windows]
    return MetricCard(
        name=name,
        state=_metric_state(name, stream, alerts, say),
        direction=say("higher" if scale.higher_is_better else "lower"),
        mean=say.number(figure.mean),
        interval=say.interval(figure.low, figure.high) if figure.low is not None else "",
        lines=tuple(_metric_lines(figure, stream, say)),
        picture=chart(
            points, name, say, bounds=scale.bounds, marked=marks(alerts, name, where, say)
        ),
    )


def traffic_cards(whole: Window, windows: Sequence[Window], say: Words) -> list[TrafficCard]:
    """Counts, feedback, latency and cost, as far as they are known."""
    counts = [
        Point(one.since, one.until, float(one.interactions), n=one.interactions)
        for one in _uncut(whole, windows, lambda one: one.interactions > 0)
    ]
    failed = say("failed_many", n=say.whole(whole.failed)) if whole.failed else ""
    cards = [
        TrafficCard(
            say("interactions"),
            say.whole(whole.interactions),
            failed,
            chart(counts, say("interactions"), say, zero=True),
        )
    ]
    if whole.feedback is not None:
        points = [point(one, one.feedback) for one in windows]
        cards.append(
            TrafficCard(
                say("feedback"),
                say.number(whole.feedback.mean),
                say("feedback_note", n=say.whole(whole.feedback.scored)),
                chart(points, say("feedback"), say, bounds=(0.0, 1.0)),
            )
        )
    if whole.latency is not None:
        at = whole.latency.percentiles
        points = [point(one, one.latency) for one in windows]
        cards.append(
            TrafficCard(
                say("latency"),
                f"{say.number(whole.latency.mean)} s",
                say("latency_note", p50=say.number(at.get("p50")), p95=say.number(at.get("p95"))),
                chart(points, say("latency"), say, zero=True),
            )
        )
    if whole.cost is not None:
        points = [
            Point(one.since, one.until, one.cost.total if one.cost else None, n=one.interactions)
            for one in _uncut(whole, windows, lambda one: one.cost is not None)
        ]
        cards.append(
            TrafficCard(
                say("system_cost"),
                say.money(whole.cost.total),
                f"{say('judge_cost')}: {say.money(whole.judge_usd)}",
                chart(points, say("system_cost"), say, zero=True),
            )
        )
    return cards


def _uncut(
    whole: Window, windows: Sequence[Window], holds: Callable[[Window], bool]
) -> Sequence[Window]:
    """Windows that the stretch does not cut, whose sums would look like a fall; all of them if these hold nothing yet."""
    full = [one for one in windows if whole.since <= one.since and one.until <= whole.until]
    return full if len(full) > 1 and any(map(holds, full)) else windows


def whole_state(state: str, say: Words) -> State:
    """How everything stands, in a sentence."""
    return State(say(f"whole.{state}"), TONES.get(state, "warn"))


def _metric_state(name: str, stream: Stream | None, alerts: Sequence[Alert], say: Words) -> State:
    """The watcher's word; `resolved` while an alert that is over still lies in the window."""
    if stream is None:
        state = next((one.state for one in alerts if one.open and one.metric == name), "")
        return State(state_text(state, say), TONES[state]) if state else State(say("unwatched"), "plain")  # fmt: skip
    state = stream.state
    over = any(one.metric == name and one.state == "resolved" for one in alerts)
    if state == "ok" and over:
        state = "resolved"
    return State(state_text(state, say), TONES.get(state, "plain"))


def _metric_lines(figure: Figure, stream: Stream | None, say: Words) -> list[str]:
    lines = [
        say(
            "covered",
            scored=say.whole(figure.scored),
            applicable=say.whole(figure.applicable),
            share="–" if figure.coverage is None else say.percent(figure.coverage),
        )
    ]
    lost = figure.outcomes.get("judge_error", 0)
    if lost:
        lines[0] += ", " + say("judge_lost", n=say.whole(lost))
    if stream is not None and stream.reference is not None:
        text = say("against_reference", reference=say.number(stream.reference), mean=say.number(stream.mean))  # fmt: skip
        if stream.evidence >= 0.25:
            text += "; " + say("sure_of_drop", share=say.percent(min(stream.evidence, 1.0), 0))
        lines.append(text)
    if figure.trend is not None:
        slope = f"{figure.trend.slope:+.3f}".replace(".", say("decimal"))
        lines.append(say("trend_moving", slope=slope) if figure.trend.moving else say("trend_flat"))
    return lines


def point(window: Window, figure: Figure | None) -> Point:
    """A figure of a window as a point of its series."""
    if figure is None:
        return Point(window.since, window.until, None)
    return Point(window.since, window.until, figure.mean, figure.low, figure.high, figure.scored)


def chart(
    points: Sequence[Point],
    name: str,
    say: Words,
    *,
    bounds: tuple[float, float] | None = None,
    marked: Sequence[Mark] = (),
    zero: bool = False,
) -> Markup:
    """A series as inline SVG that the page colours."""
    from markupsafe import Markup

    label = series_label(points, name, say)
    drawing = line(points, say, label=label, width=WIDTH, bounds=bounds, marks=marked, zero=zero)
    return Markup(inline(drawing, "series"))  # noqa: S704 - every text in it is escaped


def series_label(points: Sequence[Point], name: str, say: Words) -> str:
    """The series in a sentence, for those who do not see the picture."""
    known = [one.value for one in points if one.value is not None]
    if not known:
        return say("series_empty", name=name)
    return say(
        "series_of",
        name=name,
        step=length(points[0].until - points[0].since, say),
        since=shown(points[0].since, say),
        until=shown(points[-1].until, say),
        last=say.number(known[-1]),
        lowest=say.number(min(known)),
        highest=say.number(max(known)),
    )
