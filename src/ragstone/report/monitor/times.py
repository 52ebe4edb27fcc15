"""Times and lengths of time as people read them, in the reader's time zone, which the page names once."""

from __future__ import annotations

from datetime import datetime

from ragstone.monitor.interactions import from_micros
from ragstone.report.translator import Translator

MINUTE_MICROS = 60_000_000
HOUR_MICROS = 60 * MINUTE_MICROS
DAY_MICROS = 24 * HOUR_MICROS

CHART_STEPS = tuple(
    minutes * MINUTE_MICROS for minutes in (5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 10080)
)
"""Lengths of the windows that a chart can have."""


def format_minute(at: int, t: Translator) -> str:
    """To the minute."""
    return _to_local(at, t).strftime("%Y-%m-%d %H:%M")


def format_second(at: int, t: Translator) -> str:
    """To the second."""
    return _to_local(at, t).strftime("%Y-%m-%d %H:%M:%S")


def format_tick(at: int, stretch: int, t: Translator) -> str:
    """What tells times of a stretch apart: the hour within a day, else the day."""
    form = (
        "%H:%M"
        if stretch <= DAY_MICROS
        else "%m-%d %H:%M"
        if stretch <= 3 * DAY_MICROS
        else "%m-%d"
    )
    return _to_local(at, t).strftime(form)


def name_zone(t: Translator) -> str:
    """The time zone as it is chosen: Europe/Madrid, or UTC."""
    return str(getattr(t.zone, "key", t.zone))


def format_with_zone(at: int, t: Translator) -> str:
    """To the minute, with the zone's own name for that time of the year."""
    return _to_local(at, t).strftime("%Y-%m-%d %H:%M %Z")


def _to_local(at: int, t: Translator) -> datetime:
    return from_micros(at).astimezone(t.zone)


def format_length(micros: int, t: Translator) -> str:
    """A length of time in its largest fitting units."""
    minutes = max(round(micros / MINUTE_MICROS), 1)
    days, rest = divmod(minutes, 1440)
    hours, minutes = divmod(rest, 60)
    parts = (("days", days), ("hours", hours), ("minutes", minutes))
    texts = [t(f"length.{unit}", n=t.whole(n)) for unit, n in parts if n]
    return " ".join(texts[:2])


def choose_step(stretch: int, most: int = 60) -> int:
    """The shortest step with which a chart of the stretch has no more than so many windows."""
    return next((step for step in CHART_STEPS if stretch <= step * most), CHART_STEPS[-1])
