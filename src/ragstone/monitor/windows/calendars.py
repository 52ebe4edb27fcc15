"""Start and end of days, weeks and months in a time zone; parsing of time zones and of times such as 2026-05-01."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

from ragstone.errors import DataError
from ragstone.monitor.interactions import from_micros, to_micros

Period = Literal["day", "week", "month"]


def iter_periods(
    period: Period, since: int, until: int, zone: str = "UTC"
) -> Iterator[tuple[int, int]]:
    """Start and end of each day, week or month of a time zone that overlaps the range."""
    zone_info = get_time_zone(zone)
    first = (
        from_micros(since).astimezone(zone_info).replace(hour=0, minute=0, second=0, microsecond=0)
    )
    if period == "week":
        first -= timedelta(days=first.weekday())
    elif period == "month":
        first = first.replace(day=1)
    while to_micros(first) < until:
        # Steps in local time: a day of 23 or 25 hours is one day.
        local = first.replace(tzinfo=None)
        if period == "month":
            following = (local.replace(day=1) + timedelta(days=32)).replace(day=1)
        else:
            following = local + timedelta(days=7 if period == "week" else 1)
        after = following.replace(tzinfo=zone_info)
        yield to_micros(first), to_micros(after)
        first = after


def get_time_zone(name: str) -> tzinfo:
    """The time zone with a name such as Europe/Madrid."""
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise DataError(
            f"no time zone {name!r}; write a name such as Europe/Madrid, or UTC"
        ) from None


def parse_local_time(text: str, zone: str = "UTC") -> int:
    """The time that a text such as `2026-05-01` or `2026-05-01T12:00` means in a time zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise DataError(f"{text!r} is no time; write 2026-05-01 or 2026-05-01T12:00:00Z") from None
    return to_micros(when if when.tzinfo else when.replace(tzinfo=get_time_zone(zone)))
