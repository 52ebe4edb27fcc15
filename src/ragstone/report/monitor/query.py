"""What the address of the live page asks for: window, end, slice, field, metric; the same state written back as links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from ragstone.config.durations import duration
from ragstone.data.strict import BadRow
from ragstone.errors import DataError
from ragstone.monitor.interactions import moment
from ragstone.monitor.windows.summary import time_zone
from ragstone.report.words import Words

WINDOWS = ("1h", "6h", "24h", "7d", "30d")
LONGEST = "366d"
ROWS, MOST_ROWS = 15, 200


@dataclass(frozen=True, slots=True)
class Query:
    """The state of the page, all of it from the address."""

    window: str = "24h"
    until: int | None = None
    """None is now, and moves on."""
    until_text: str = ""
    slice: tuple[str, str] | None = None
    by: str = ""
    metric: str = ""
    """What the worst interactions are ordered by."""
    show: int = ROWS
    lang: str = ""
    """Only when the address names it."""
    tz: str = ""
    """The time zone, only when the address names it."""
    server_zone: str = "UTC"
    """What times are shown in otherwise."""
    complaints: tuple[tuple[str, str], ...] = ()
    """Phrases with the texts that could not be read: they are said, and left out."""

    @property
    def zone(self) -> str:
        """The time zone that times are read and shown in."""
        return self.tz or self.server_zone

    def stretch(self, now: int) -> tuple[int, int]:
        """Start and end."""
        until = now if self.until is None else self.until
        return until - duration(self.window), until

    def href(self, page: str = "./", **changes: Any) -> str:
        """The address of this state with some changes, relative to wherever the page is shown."""
        own = {
            "window": "" if self.window == "24h" else self.window,
            "until": self.until_text,
            "slice": ":".join(self.slice) if self.slice else "",
            "by": self.by,
            "metric": self.metric,
            "show": "" if self.show == ROWS else str(self.show),
            "lang": self.lang,
            "tz": self.tz,
        }
        filled = {name: value for name, value in {**own, **changes}.items() if value}
        return f"{page}?{urlencode(filled)}" if filled else page

    def in_language(self, code: str) -> Query:
        """The same in a language that the address names."""
        return replace(self, lang=code)


def read_query(values: Mapping[str, str], now: int, server_zone: str = "UTC") -> Query:
    """The state that an address names; what cannot be read is complained about and left out."""
    found: dict[str, Any] = {}
    complaints: list[tuple[str, str]] = []

    def refuse(phrase: str, text: str) -> None:
        complaints.append((phrase, text[:60]))

    window = _clean(values.get("window"))
    if window:
        if _is_window(window):
            found["window"] = window
        else:
            refuse("window_bad", window)
    tz = _clean(values.get("tz"))
    if tz:
        if _is_zone(tz):
            found["tz"] = tz
        else:
            refuse("zone_bad", tz)
    until = _clean(values.get("until"))
    if until:
        try:
            zone = time_zone(found.get("tz", server_zone))
            found["until"], found["until_text"] = moment(_in_zone(until, zone), now), until
        except BadRow:
            refuse("until_bad", until)
    slice = _clean(values.get("slice"))
    if slice:
        field, colon, value = slice.partition(":")
        if colon and field:
            found["slice"] = (field, value)
        else:
            refuse("slice_bad", slice)
    show = _clean(values.get("show"))
    if show.isascii() and show.isdigit() and len(show) < 6:
        found["show"] = min(max(int(show), 1), MOST_ROWS)
    lang = _clean(values.get("lang"))
    return Query(
        by=_clean(values.get("by")),
        metric=_clean(values.get("metric")),
        lang=lang if lang in ("en", "es") else "",
        server_zone=server_zone,
        complaints=tuple(complaints),
        **found,
    )


def said(query: Query, say: Words) -> list[str]:
    """The complaints in words."""
    return [say("bad_filter", what=say(phrase, text=text)) for phrase, text in query.complaints]


def _clean(text: str | None) -> str:
    # no database holds NUL, and no field of ours is so long
    return (text or "").replace("\x00", "").strip()[:300]


def _in_zone(text: str, zone: tzinfo) -> str:
    """A time without a zone of its own is one of the page's zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if when.tzinfo is not None else when.replace(tzinfo=zone).isoformat()


def _is_zone(name: str) -> bool:
    try:
        time_zone(name)
    except DataError:
        return False
    return True


def _is_window(text: str) -> bool:
    try:
        return 0 < duration(text) <= duration(LONGEST)
    except DataError:
        return False
