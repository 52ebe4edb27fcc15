"""The live page: how things stand, charts by window, alerts, recent and worst interactions, each with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from ragstone._version import __version__
from ragstone.monitor import Archive
from ragstone.monitor.alerts.alert import Alert, alerts_between
from ragstone.monitor.alerts.evaluation import last_status
from ragstone.monitor.rollups.refresh import fields
from ragstone.monitor.windows.summary import between, series, time_zone
from ragstone.report import samples
from ragstone.report.figures import shortened
from ragstone.report.html import style_sheet
from ragstone.report.monitor import query as asking
from ragstone.report.monitor import reading
from ragstone.report.monitor.alerts import alert_view
from ragstone.report.monitor.cards import metric_card, traffic_cards, whole_state
from ragstone.report.monitor.query import MOST_ROWS, WINDOWS, Query
from ragstone.report.monitor.rows import MOST_SLICES, interaction_row, slice_choices, slice_rows
from ragstone.report.monitor.times import exact, length, shown, step_for, zone_name
from ragstone.report.page import resource, template
from ragstone.report.words import Words, words


@dataclass(frozen=True, slots=True)
class Frame:
    """What every page has around it."""

    say: Words
    query: Query
    now: int
    signed_in: bool = False
    """Whether there is something to sign out of."""
    address: str = ""
    """Where the server is, for the example on an empty page."""

    def fill(self, name: str, page: str = "./", *, id: str = "", **more: Any) -> str:
        """A template of ours with everything escaped."""
        other = "en" if self.say.language == "es" else "es"
        return str(
            _template(name).render(
                say=self.say,
                query=self.query,
                version=__version__,
                other=other,
                switch=self.query.href(page, lang=other, id=id),
                signed_in=self.signed_in,
                address=self.address,
                zone=zone_name(self.say),
                **more,
            )
        )


_template = lru_cache(maxsize=8)(template)


def style() -> str:
    """The style sheet of every page."""
    return style_sheet() + resource("drawing.css") + resource("monitor.css")


def script() -> str:
    """The script: refreshes the page, which works without it."""
    return resource("monitor.js")


def overview(archive: Archive, frame: Frame) -> str:
    """The page of everything."""
    say, query = frame.say, frame.query
    since, until = query.stretch(frame.now)
    where = query.slice
    found = between(archive, since, until, by=query.by or None, where=where)
    step = step_for(until - since)
    windows = series(archive, since, until, step, where=where)
    alerts = alerts_between(archive, since, until)
    status = last_status(archive)
    streams = {
        one.metric: one
        for one in (status.streams if status else ())
        if (one.field, one.value) == (where or ("", ""))
    }
    # what fires comes first: someone who comes because of an alert wants to see that
    names = sorted(
        found.whole.metrics,
        key=lambda name: name not in streams or streams[name].state != "firing",
    )
    # of what the address names only stored metrics are looked up: a metric's name can be a file to load
    known_metrics = {*names, reading.FEEDBACK}
    metric = query.metric if query.metric in known_metrics else next(iter(names), reading.FEEDBACK)
    known = fields(archive, since, until)
    return frame.fill(
        "monitor.html.j2",
        empty=not found.whole.interactions and not _any_of(archive, "interactions"),
        judged_ever=bool(names) or _any_of(archive, "monitor_scores"),
        state=whole_state(status.state if status else "unwatched", say),
        looked=say("looked_at", time=shown(status.at, say)) if status else say("never_looked"),
        complaints=asking.said(query, say),
        since=shown(since, say),
        until=shown(until, say),
        until_value="" if query.until is None else shown(query.until, say).replace(" ", "T"),
        clear=Query(lang=query.lang, tz=query.tz).href(),
        chosen=":".join(query.slice) if query.slice else "",
        step=length(step, say),
        cards=[
            metric_card(found.whole.metrics[name], windows, streams.get(name), alerts, where, say)
            for name in names
        ],
        traffic=traffic_cards(found.whole, windows, say),
        alerts=[alert_view(one, frame.now, say) for one in sorted(alerts, key=_urgent)],
        slices=slice_rows(found.slices[:MOST_SLICES], found.whole.interactions, names, query, say),
        names=names,
        more_slices=max(len(found.slices) - MOST_SLICES, 0),
        recent=[
            interaction_row(one, query, say)
            for one in reading.recent(archive, since, until, where, query.show)
        ],
        worst=[
            interaction_row(one, query, say)
            for one in reading.worst(archive, metric, since, until, where, query.show)
        ],
        metric=metric,
        metrics=[*names, reading.FEEDBACK],
        windows=list(dict.fromkeys([*WINDOWS, query.window])),
        fields=sorted({*known, *([query.by] if query.by else [])}),
        choices=slice_choices(found.slices, query),
        more_rows=min(query.show * 4, MOST_ROWS) if query.show < MOST_ROWS else 0,
    )


def interaction(archive: Archive, id: str, frame: Frame) -> str | None:
    """The page of one interaction with its claims and their evidence; None when it is not there."""
    say = frame.say
    one = archive.get(id)
    if one is None:
        return None
    (row,) = reading.seen(archive, [one])
    ranges = [reading.range_of(name) for name in row.scores]
    book = samples.opened(row, ranges)
    view = samples.view(row, book, ranges, samples.GENEROUS, say)
    facts = [
        (say("time"), f"{exact(one.at, say)} {zone_name(say)}", False),
        (say("feedback"), say.number(one.feedback, 2) if one.feedback is not None else "", False),
        (say("comment"), shortened(one.comment or "", 4000), False),
        (say("latency"), f"{say.number(one.latency)} s" if one.latency is not None else "", False),
        (say("usd"), say.money(one.cost) if one.cost is not None else "", False),
        (say("tokens"), say.whole(one.tokens) if one.tokens is not None else "", False),
        *((shortened(name, 80), shortened(text, 300), True) for name, text in one.slices.items()),
    ]
    return frame.fill(
        "monitor_interaction.html.j2",
        "interaction",
        id=id,
        s=view,
        facts=[item for item in facts if item[1]],
        judged=bool(row.scores),
        title=view.title or say("no_question"),
    )


def login(frame: Frame, to: str, *, wrong: bool = False) -> str:
    """The form that asks for the token."""
    return frame.fill("monitor_login.html.j2", to=to, wrong=wrong)


def away(frame: Frame, why: str) -> str:
    """The page while the store cannot be read: what is wrong and what to do."""
    return frame.fill("monitor_away.html.j2", why=why)


def missing(frame: Frame) -> str:
    """The page for an interaction that is not there."""
    return frame.fill("monitor_missing.html.j2")


def language_of(asked: str, accepted: str, zone: str = "UTC") -> Words:
    """The language that the address names, else the first of the browser's that there is; times in a zone."""
    here = time_zone(zone)
    if asked:
        return words(asked, here)
    ranked: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:400].split(",")):
        code, _, weight = part.strip().partition(";q=")
        try:
            ranked.append((-float(weight or 1), place, code.split("-")[0].lower()))
        except ValueError:
            continue
    return words(next((code for *_, code in sorted(ranked) if code in ("en", "es")), "en"), here)


def _urgent(one: Alert) -> tuple[bool, int]:
    return not one.open, -one.opened


def _any_of(archive: Archive, table: Literal["interactions", "monitor_scores"]) -> bool:
    return bool(archive.store.read(f"SELECT 1 FROM {table} LIMIT 1"))  # noqa: S608
