"""The live page: how things stand, charts by window, alerts, recent and worst interactions, each with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone._version import __version__
from ragstone.monitor import Archive, Interaction
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import Alert, load_alerts_between
from ragstone.monitor.alerts.drop_rules import MetricStream
from ragstone.monitor.alerts.evaluation import MonitorStatus, load_status
from ragstone.monitor.rollups import list_fields
from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.monitor.windows.corrected import correct_window
from ragstone.monitor.windows.interactions import (
    FEEDBACK,
    find_scale,
    load_recent,
    load_scores,
    load_worst,
)
from ragstone.monitor.windows.statistics import Window
from ragstone.monitor.windows.summary import summarise_between, summarise_steps
from ragstone.monitor.windows.window_run import MAX_INTERACTIONS
from ragstone.report.cards import Card
from ragstone.report.html import build_style_sheet, load_template, read_resource
from ragstone.report.monitor.alerts import view_alert
from ragstone.report.monitor.cards import (
    build_metric_card,
    build_small_multiples,
    build_traffic_cards,
    build_whole_state,
)
from ragstone.report.monitor.query import MAX_ROWS, WINDOWS, Query, describe_complaints
from ragstone.report.monitor.rows import (
    MAX_SHOWN_SLICES,
    build_entry,
    build_slices,
    list_slice_choices,
    open_interaction,
)
from ragstone.report.monitor.times import (
    choose_step,
    format_length,
    format_minute,
    format_second,
    name_zone,
)
from ragstone.report.remarks import shorten
from ragstone.report.samples import GENEROUS
from ragstone.report.translator import Translator, load_translator

MAX_SMALL_MULTIPLES = 12
"""Slices that get a chart of their own, the busiest."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What every page has around it."""

    t: Translator
    query: Query
    now: int
    signed_in: bool = False
    """Whether there is something to sign out of."""
    address: str = ""
    """Where the server takes interactions, for the example on an empty page; empty where it takes none."""
    nav: tuple[Any, ...] = ()
    """The links to the other pages of the app."""
    theme: str = ""
    """`light` or `dark` where the reader has chosen."""
    can_edit: bool = False
    """Whether interactions are added to test sets."""
    testset: str = ""
    """The test set that the reader last added to."""

    def fill(self, name: str, page: str = "", *, id: str = "", **more: Any) -> str:
        """The HTML of a template, everything escaped; `page` and `id` tell the link to the other language where it leads."""
        other = "en" if self.t.language == "es" else "es"
        return str(
            load_template(name).render(
                t=self.t,
                query=self.query,
                version=__version__,
                other=other,
                switch=self.query.href(page, lang=other, id=id),
                signed_in=self.signed_in,
                address=self.address,
                nav=self.nav,
                theme=self.theme,
                can_edit=self.can_edit,
                testset=self.testset,
                zone=name_zone(self.t),
                **more,
            )
        )


def build_style() -> str:
    """The style sheet of every page."""
    return build_style_sheet() + "".join(
        map(read_resource, ("monitor.css", "view.css", "review.css"))
    )


def build_script() -> str:
    """The script: refreshes the page, which works without it."""
    return "".join(map(read_resource, ("theme.js", "charts.js", "monitor.js")))


def render_overview(archive: Archive, frame: Frame) -> str:
    """The page of everything."""
    t, query = frame.t, frame.query
    since, until = query.bounds_at(frame.now)
    where = query.slice
    chosen = ":".join(where or ())
    summary = summarise_between(archive, since, until, by=query.by or None, where=where)
    whole, slices = summary.whole, summary.slices
    step = choose_step(until - since)
    windows = summarise_steps(archive, since, until, step, where=where)
    alerts = sorted(load_alerts_between(archive, since, until), key=_build_urgency_key)
    status = load_status(archive)
    streams = {
        stream.metric: stream
        for stream in (status.streams if status else ())
        if (stream.field, stream.value) == (where or ("", ""))
    }
    # what fires comes first: someone who comes because of an alert wants to see that
    names = sorted(
        whole.metrics, key=lambda name: name not in streams or streams[name].state != "firing"
    )
    corrections = correct_window(archive, since, until, where=where, limit=MAX_INTERACTIONS)
    cards = (
        build_metric_card(
            whole.metrics[name],
            windows,
            streams.get(name),
            alerts,
            where,
            t,
            corrections.get(name),
        )
        for name in names
    )
    views = (
        view_alert(alert, frame.now, t, lambda id: query.href("interaction", id=id))
        for alert in alerts
    )
    return frame.fill(
        "monitor.html.j2",
        empty=not whole.interactions and not _has_rows(archive, "interactions"),
        judged_ever=bool(names) or _has_rows(archive, "monitor_scores"),
        state=build_whole_state(status.state if status else "unwatched", t),
        looked=t("looked_at", time=format_minute(status.at, t)) if status else t("never_looked"),
        complaints=describe_complaints(query, t),
        since=format_minute(since, t),
        until=format_minute(until, t),
        until_value="" if query.until is None else format_minute(query.until, t).replace(" ", "T"),
        clear=Query(lang=query.lang, tz=query.tz, home=query.home).href(),
        chosen=chosen,
        compare=query.href("traffic", slice="", by="", metric="", show="", a=chosen),
        step=format_length(step, t),
        cards=list(cards),
        traffic=list(build_traffic_cards(whole, windows, t)),
        alerts=list(views),
        alert_form=query.href("alerts"),
        waiting=_list_waiting(status, t),
        names=names,
        slices=build_slices(slices[:MAX_SHOWN_SLICES], whole.interactions, names, query, t),
        multiples=_list_multiples(archive, slices, names, status, frame),
        more_slices=max(len(slices) - MAX_SHOWN_SLICES, 0),
        choices=list_slice_choices(slices, query),
        windows=list(dict.fromkeys([*WINDOWS, query.window])),
        fields=sorted({*list_fields(archive, since, until), query.by} - {""}),
        **_list_interactions(archive, names, frame),
    )  # fmt: skip


def _list_waiting(status: MonitorStatus | None, t: Translator) -> list[str]:
    """Why thresholds cannot be decided now."""
    return [format_alert(facts, t.language) for facts in (status.waiting if status else ())]


def _list_multiples(
    archive: Archive,
    slices: Sequence[Window],
    names: Sequence[str],
    status: MonitorStatus | None,
    frame: Frame,
) -> list[tuple[str, list[Card]]]:
    """Metric → a small chart of each slice; none without slices."""
    since, until = frame.query.bounds_at(frame.now)
    step = choose_step(until - since)
    series = [
        (slice, summarise_steps(archive, since, until, step, where=(slice.field, slice.value)))
        for slice in slices[:MAX_SMALL_MULTIPLES]
    ]
    return [
        (
            name,
            list(build_small_multiples(series, name, _select_streams(status, name), frame.t)),
        )
        for name in names
        if series
    ]


def _select_streams(
    status: MonitorStatus | None, metric: str
) -> dict[tuple[str, str], MetricStream]:
    """Field and value → the stream of a metric's slice."""
    return {
        (stream.field, stream.value): stream
        for stream in (status.streams if status else ())
        if stream.metric == metric and stream.field
    }


def _list_interactions(archive: Archive, names: Sequence[str], frame: Frame) -> dict[str, Any]:
    """The newest and the worst interactions of the page."""
    t, query = frame.t, frame.query
    since, until = query.bounds_at(frame.now)
    metrics = [*names, FEEDBACK]
    # of what the address names only stored metrics are looked up: a metric's name can be a file to load
    # and by itself the page takes one with a scale, on which low means bad
    scaled = (name for name in names if find_scale(name).bounds is not None)
    metric = query.metric if query.metric in metrics else next(scaled, FEEDBACK)
    recent = load_recent(archive, since, until, query.slice, query.show)
    worst = load_worst(archive, metric, since, until, query.slice, query.show)
    return {
        "metric": metric,
        "metrics": metrics,
        "recent": [build_entry(judged, query, t) for judged in recent],
        "worst": [build_entry(judged, query, t) for judged in worst],
        "more_rows": min(query.show * 4, MAX_ROWS) if query.show < MAX_ROWS else 0,
    }


def render_interaction(archive: Archive, id: str, frame: Frame) -> str | None:
    """The page of one interaction with its claims and their evidence; None when it is not there."""
    interaction = archive.get(id)
    if interaction is None:
        return None
    (judged,) = load_scores(archive, [interaction])
    view = open_interaction(judged, frame.t).build_view(GENEROUS)
    return frame.fill(
        "monitor_interaction.html.j2",
        "interaction",
        id=id,
        interaction=interaction.id,
        s=view,
        facts=[fact for fact in _list_facts(interaction, frame.t) if fact[1]],
        judged=bool(judged.scores),
        title=view.title or frame.t("no_question"),
    )


def _list_facts(interaction: Interaction, t: Translator) -> list[tuple[str, str, bool]]:
    """Names and values, and whether the value is that of a slice."""
    feedback, latency = interaction.feedback, interaction.latency
    cost, tokens = interaction.cost, interaction.tokens
    return [
        (t("time"), f"{format_second(interaction.at, t)} {name_zone(t)}", False),
        (t("feedback"), t.number(feedback, 2) if feedback is not None else "", False),
        (t("comment"), shorten(interaction.comment or "", 4000), False),
        (t("latency"), f"{t.number(latency)} s" if latency is not None else "", False),
        (t("usd"), t.money(cost) if cost is not None else "", False),
        (t("tokens"), t.whole(tokens) if tokens is not None else "", False),
        *((shorten(name, 80), shorten(text, 300), True) for name, text in interaction.slices.items()),
    ]  # fmt: skip


def render_login(frame: Frame, to: str, *, wrong: bool = False) -> str:
    """The form that asks for the token."""
    return frame.fill("monitor_login.html.j2", to=to, wrong=wrong)


def render_away(frame: Frame, why: str) -> str:
    """The page while the store cannot be read: what is wrong and what to do."""
    return frame.fill("monitor_away.html.j2", why=why)


def render_missing(frame: Frame) -> str:
    """The page for an interaction that is not there."""
    return frame.fill("monitor_missing.html.j2")


def choose_words(asked: str, accepted: str, zone: str = "UTC") -> Translator:
    """The language that the address names, else the first of the browser's that there is; times in a zone."""
    local = get_time_zone(zone)
    if asked:
        return load_translator(asked, local)
    # Accept-Language: by weight, then by order. It is a stranger's text: cut, and parts that cannot
    # be read are passed over.
    ranked: list[tuple[float, int, str]] = []
    for order, part in enumerate(accepted[:400].split(",")):
        code, _, weight = part.strip().partition(";q=")
        try:
            ranked.append((-float(weight or 1), order, code.split("-")[0].lower()))
        except ValueError:
            continue
    return load_translator(
        next((code for *_, code in sorted(ranked) if code in ("en", "es")), "en"), local
    )


def _build_urgency_key(alert: Alert) -> tuple[bool, int]:
    return not alert.open, -alert.opened


def _has_rows(archive: Archive, table: Literal["interactions", "monitor_scores"]) -> bool:
    # EXISTS in effect; COUNT would read a table of millions to tell an empty page from a full one.
    return bool(archive.store.read(f"SELECT 1 FROM {table} LIMIT 1"))  # noqa: S608
