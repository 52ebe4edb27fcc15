"""The cards of the live page: each metric and the traffic of a window, with state, figures and chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ragstone.analysis.corrected import MetricCorrection
from ragstone.monitor.alerts.alert import Alert
from ragstone.monitor.alerts.basis_text import describe_power, describe_value_change
from ragstone.monitor.alerts.drop_rules import MetricStream
from ragstone.monitor.windows.interactions import find_scale
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.report.cards import Card
from ragstone.report.drawing.shapes import Drawing
from ragstone.report.figures import describe_correction
from ragstone.report.monitor.alerts import SEVERITIES, mark_alerts, name_state
from ragstone.report.monitor.charts import AlertSpan, SeriesPoint, draw_series
from ragstone.report.monitor.times import format_length, format_minute
from ragstone.report.remarks import Remark
from ragstone.report.translator import Translator

CHART_WIDTH = 380.0
"""A card is about as wide as a phone, whatever the page."""
SHOWN_EVIDENCE = 0.25
"""Share of the evidence for a drop from which a card mentions it."""


def build_metric_card(
    figure: SeriesStats,
    windows: Sequence[Window],
    stream: MetricStream | None,
    alerts: Sequence[Alert],
    where: tuple[str, str] | None,
    t: Translator,
    correction: MetricCorrection | None = None,
) -> Card:
    """A metric of the window with its state by the watcher, its alerts, and what labels say of its mean."""
    name = figure.name
    scale = find_scale(name)
    points = [to_point(window, window.metrics.get(name)) for window in windows]
    spans = mark_alerts(alerts, name, where, t)
    return Card(
        name=name,
        badge=_build_badge(figure, stream, alerts, t),
        direction=t("higher" if scale.higher_is_better else "lower"),
        direction_below=True,
        figure=t.number(figure.mean),
        aside=t.interval(figure.low, figure.high) if figure.low is not None else "",
        drawing=build_series(
            points,
            name,
            t,
            bounds=scale.bounds,
            alerts=spans,
            # a median is no mean: it has no line among means
            reference=stream.reference if stream is not None and scale.bounds is not None else None,
        ),
        remarks=(
            *(Remark(text, "") for text in _describe_figure(figure, stream, t)),
            *describe_correction(correction, "corrected_mean", t),
        ),
    )


def build_traffic_cards(whole: Window, windows: Sequence[Window], t: Translator) -> Iterator[Card]:
    """Counts, feedback, latency and cost, as far as they are known."""
    counts = [
        SeriesPoint(w.since, w.until, float(w.interactions), n=w.interactions)
        for w in _drop_cut(whole, windows, lambda window: window.interactions > 0)
    ]
    failed = t("failed_many", n=t.whole(whole.failed)) if whole.failed else ""
    drawing = build_series(counts, t("interactions"), t, zero=True)
    yield Card(
        t("interactions"), t.whole(whole.interactions), failed, drawing=drawing, style="plain"
    )
    if whole.feedback is not None:
        points = [to_point(window, window.feedback) for window in windows]
        drawing = build_series(points, t("feedback"), t, bounds=(0.0, 1.0))
        note = t("feedback_note", n=t.whole(whole.feedback.scored))
        mean = t.number(whole.feedback.mean)
        yield Card(t("feedback"), mean, note, drawing=drawing, style="plain")
    if whole.latency is not None:
        percentiles = whole.latency.percentiles
        points = [to_point(window, window.latency) for window in windows]
        drawing = build_series(points, t("latency"), t, zero=True)
        p50, p95 = (t.number(percentiles.get(name)) for name in ("p50", "p95"))
        note = t("latency_note", p50=p50, p95=p95)
        mean = f"{t.number(whole.latency.mean)} s"
        yield Card(t("latency"), mean, note, drawing=drawing, style="plain")
    if whole.cost is not None:
        points = [
            SeriesPoint(w.since, w.until, w.cost.total if w.cost else None, n=w.interactions)
            for w in _drop_cut(whole, windows, lambda window: window.cost is not None)
        ]
        drawing = build_series(points, t("system_cost"), t, zero=True)
        note = f"{t('judge_cost')}: {t.money(whole.judge_usd)}"
        total = t.money(whole.cost.total)
        yield Card(t("system_cost"), total, note, drawing=drawing, style="plain")


def build_whole_state(state: str, t: Translator) -> Remark:
    """How everything stands, in a sentence."""
    return Remark(t(f"whole.{state}"), SEVERITIES.get(state, "warn"))


def to_point(window: Window, figure: SeriesStats | None) -> SeriesPoint:
    """A figure of a window as a point of its series."""
    if figure is None:
        return SeriesPoint(window.since, window.until, None)
    values = figure.mean, figure.low, figure.high, figure.scored
    return SeriesPoint(window.since, window.until, *values)


def build_series(
    points: Sequence[SeriesPoint],
    name: str,
    t: Translator,
    *,
    bounds: tuple[float, float] | None = None,
    alerts: Sequence[AlertSpan] = (),
    zero: bool = False,
    reference: float | None = None,
    ends: tuple[float, float] | None = None,
) -> Drawing:
    """A series over time as a picture."""
    label = describe_series(points, name, t)
    return draw_series(
        points,
        t,
        label=label,
        width=CHART_WIDTH,
        bounds=bounds,
        alerts=alerts,
        zero=zero,
        reference=reference,
        ends=ends,
    )


def describe_series(points: Sequence[SeriesPoint], name: str, t: Translator) -> str:
    """The series in a sentence, for those who do not see the picture."""
    known = [point.value for point in points if point.value is not None]
    if not known:
        return t("series_empty", name=name)
    return t(
        "series_of",
        name=name,
        step=format_length(points[0].until - points[0].since, t),
        since=format_minute(points[0].since, t),
        until=format_minute(points[-1].until, t),
        last=t.number(known[-1]),
        lowest=t.number(min(known)),
        highest=t.number(max(known)),
    )


def _drop_cut(
    whole: Window, windows: Sequence[Window], has_data: Callable[[Window], bool]
) -> Sequence[Window]:
    """The windows that lie whole in the time shown: the sum of a cut one would look like a fall. All, if the whole ones have no data yet."""
    full = [w for w in windows if whole.since <= w.since and w.until <= whole.until]
    # Only sums need this: the mean of half an hour is no smaller than that of an hour.
    return full if len(full) > 1 and any(map(has_data, full)) else windows


def _build_badge(
    figure: SeriesStats, stream: MetricStream | None, alerts: Sequence[Alert], t: Translator
) -> Remark:
    """The watcher's state; `resolved` while an alert that is over still lies in the window.

    What lies below its reference with its whole interval is never marked as good, whatever the watcher says of today."""
    name = figure.name
    metric_alerts = [alert for alert in alerts if alert.metric == name]
    if stream is None:
        state = next((alert.state for alert in metric_alerts if alert.open), "")
        if not state:
            return Remark(t("unwatched"), "plain")
    else:
        is_over = any(alert.state == "resolved" for alert in metric_alerts)
        # The watcher itself forgets an alert when it is over; the page still shows its strip.
        state = "resolved" if stream.state == "ok" and is_over else stream.state
        if SEVERITIES.get(state) == "good" and _is_worse(figure, stream):
            return Remark(t("worse_than_reference"), "warn")
    return Remark(name_state(state, t), SEVERITIES.get(state, "plain"))


def _is_worse(figure: SeriesStats, stream: MetricStream) -> bool:
    """Whether the interval of the shown window lies on the wrong side of the reference."""
    scale = find_scale(figure.name)
    if (
        stream.reference is None
        or scale.bounds is None
        or figure.low is None
        or figure.high is None
    ):
        return False
    if scale.higher_is_better:
        return figure.high < stream.reference
    return figure.low > stream.reference


def _describe_figure(
    figure: SeriesStats, stream: MetricStream | None, t: Translator
) -> Iterator[str]:
    covered = t(
        "covered",
        scored=t.whole(figure.scored),
        applicable=t.whole(figure.applicable),
        share="–" if figure.coverage is None else t.percent(figure.coverage),
    )
    lost = figure.outcomes.get("judge_error", 0)
    yield f"{covered}, {t('judge_lost', n=t.whole(lost))}" if lost else covered
    if stream is not None and stream.reference is not None:
        reference, mean = t.number(stream.reference), t.number(stream.mean)
        text = t("against_reference", reference=reference, mean=mean)
        if stream.evidence >= SHOWN_EVIDENCE:
            text += "; " + t("sure_of_drop", share=t.percent(min(stream.evidence, 1.0), 0))
        yield text
        yield _describe_reference(stream, t)
    if stream is not None and (text := describe_value_change(stream, t.language)):
        yield text
    if figure.trend is not None:
        slope = f"{figure.trend.slope:+.3f}".replace(".", t("decimal"))
        yield t("trend_moving", slope=slope) if figure.trend.is_moving else t("trend_flat")


def _describe_reference(stream: MetricStream, t: Translator) -> str:
    """The reference period, whose it is, and how soon a drop would be found."""
    if stream.reference_us is None:
        return ""
    since, until = (format_minute(at, t) for at in stream.reference_us)
    text = t(f"reference_basis.{stream.basis}", since=since, until=until)
    power = describe_power(stream, t.language)
    return f"{text}; {power}" if power else text


def build_small_multiples(
    slices: Sequence[tuple[Window, Sequence[Window]]],
    metric: str,
    streams: Mapping[tuple[str, str], MetricStream],
    t: Translator,
) -> Iterator[Card]:
    """One small chart a slice, all on one scale, with the watcher's state."""
    points = {
        slice.value: [to_point(window, window.metrics.get(metric)) for window in windows]
        for slice, windows in slices
    }
    known = [p.value for series in points.values() for p in series if p.value is not None]
    ends = (min(known), max(known)) if known else (0.0, 1.0)
    for slice, _ in slices:
        figure = slice.metrics.get(metric)
        if figure is not None:
            stream = streams.get((slice.field, slice.value))
            yield _build_small_card(slice.value, figure, points[slice.value], ends, stream, t)


def _build_small_card(
    value: str,
    figure: SeriesStats,
    points: Sequence[SeriesPoint],
    ends: tuple[float, float],
    stream: MetricStream | None,
    t: Translator,
) -> Card:
    scale = find_scale(figure.name)
    text = _describe_reference(stream, t) if stream is not None else ""
    reference = stream.reference if stream is not None and scale.bounds else None
    drawing = build_series(points, value, t, bounds=scale.bounds, reference=reference, ends=ends)
    return Card(
        name=value or "–",
        badge=_build_badge(figure, stream, (), t),
        figure=t.number(figure.mean),
        aside=t.interval(figure.low, figure.high) if figure.low is not None else "",
        drawing=drawing,
        remarks=(Remark(text, ""),) if text else (),
        style="plain",
    )
