"""What the address of the live page asks for: window, end, slice, field, metric; the same state written back as links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from ragstone.config.durations import parse_duration
from ragstone.data.strict_json import BadRow
from ragstone.errors import DataError
from ragstone.monitor.interactions import parse_time
from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.report.translator import Translator

DEFAULT_WINDOW = "24h"
WINDOWS = ("1h", "6h", "24h", "7d", "30d")
LONGEST_WINDOW = "366d"
DEFAULT_ROWS, MAX_ROWS = 15, 200


@dataclass(frozen=True, slots=True)
class Query:
    """The state of the page, all of it from the address."""

    window: str = DEFAULT_WINDOW
    until: int | None = None
    """None is now, and moves on."""
    until_text: str = ""
    slice: tuple[str, str] | None = None
    by: str = ""
    metric: str = ""
    """What the worst interactions are ordered by."""
    show: int = DEFAULT_ROWS
    lang: str = ""
    """Only when the address names it."""
    tz: str = ""
    """The time zone, only when the address names it."""
    server_zone: str = "UTC"
    """What times are shown in otherwise."""
    home: str = "./"
    """Where the overview is."""
    complaints: tuple[tuple[str, str], ...] = ()
    """Parts of the address that could not be read, to be shown on the page: key of the phrase, and the text."""

    @property
    def zone(self) -> str:
        """The time zone that times are read and shown in."""
        return self.tz or self.server_zone

    def bounds_at(self, now: int) -> tuple[int, int]:
        """Start and end."""
        until = now if self.until is None else self.until
        return until - parse_duration(self.window), until

    def href(self, page: str = "", **changes: Any) -> str:
        """The address of this state with some changes, relative to wherever the page is shown."""
        # Defaults are left out, so that a link to the plain page is `./` and an address shows only
        # what was chosen.
        current = {
            "window": "" if self.window == DEFAULT_WINDOW else self.window,
            "until": self.until_text,
            "slice": ":".join(self.slice) if self.slice else "",
            "by": self.by,
            "metric": self.metric,
            "show": "" if self.show == DEFAULT_ROWS else str(self.show),
            "lang": self.lang,
            "tz": self.tz,
        }
        filled = {name: value for name, value in {**current, **changes}.items() if value}
        target = page or self.home
        return f"{target}?{urlencode(filled)}" if filled else target


def read_query(
    values: Mapping[str, str], now: int, server_zone: str = "UTC", home: str = "./"
) -> Query:
    """The state that an address names; what cannot be read is left out, and kept in `complaints` to be shown."""
    texts = {name: _clean_text(values.get(name)) for name in ("window", "tz", "until", "slice")}
    complaints: list[tuple[str, str]] = []

    def read_valid(name: str, phrase: str, is_valid: Callable[[str], bool]) -> str:
        if texts[name] and not is_valid(texts[name]):
            complaints.append((phrase, texts[name][:60]))
            return ""
        return texts[name]

    window = read_valid("window", "window_bad", _is_window)
    tz = read_valid("tz", "zone_bad", _is_zone)
    zone = get_time_zone(tz or server_zone)
    until = read_valid("until", "until_bad", lambda text: _read_moment(text, zone, now) is not None)
    field, _, value = read_valid("slice", "slice_bad", lambda text: text.find(":") > 0).partition(
        ":"
    )
    show = _clean_text(values.get("show"))
    # `isdigit` alone admits digits of other scripts and powers, which `int` may refuse.
    is_count = show.isascii() and show.isdigit() and len(show) < 6
    lang = _clean_text(values.get("lang"))
    return Query(
        window=window or DEFAULT_WINDOW,
        until=_read_moment(until, zone, now) if until else None,
        until_text=until,
        slice=(field, value) if field else None,
        by=_clean_text(values.get("by")),
        metric=_clean_text(values.get("metric")),
        show=min(max(int(show), 1), MAX_ROWS) if is_count else DEFAULT_ROWS,
        lang=lang if lang in ("en", "es") else "",
        tz=tz,
        server_zone=server_zone,
        home=home,
        complaints=tuple(complaints),
    )


def describe_complaints(query: Query, t: Translator) -> list[str]:
    """The complaints in words."""
    return [t("bad_filter", what=t(phrase, text=text)) for phrase, text in query.complaints]


def _clean_text(text: str | None) -> str:
    # no database holds NUL, and no field of ours is so long
    return (text or "").replace("\x00", "").strip()[:300]


def _read_moment(text: str, zone: tzinfo, now: int) -> int | None:
    """A time in microseconds; one without a zone of its own is one of the page's zone."""
    try:
        when = datetime.fromisoformat(text)
        return parse_time((when if when.tzinfo else when.replace(tzinfo=zone)).isoformat(), now)
    except (ValueError, BadRow):
        return None


def _is_zone(name: str) -> bool:
    try:
        get_time_zone(name)
    except DataError:
        return False
    return True


def _is_window(text: str) -> bool:
    try:
        return 0 < parse_duration(text) <= parse_duration(LONGEST_WINDOW)
    except DataError:
        return False
