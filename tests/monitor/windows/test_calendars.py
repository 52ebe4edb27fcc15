"""Days, weeks and months of a time zone, and times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragstone.errors import DataError
from ragstone.monitor.interactions import from_micros, to_micros
from ragstone.monitor.windows.calendars import get_time_zone, iter_periods, parse_local_time


def at(text: str) -> int:
    return to_micros(datetime.fromisoformat(text).replace(tzinfo=UTC))


def list_periods(period, since: str, until: str, zone: str = "UTC") -> list[tuple[str, str]]:
    periods = iter_periods(period, at(since), at(until), zone)
    return [tuple(from_micros(end).astimezone(UTC).strftime("%m-%d %H") for end in pair) for pair in periods]  # fmt: skip


@pytest.mark.parametrize(
    ("period", "since", "until", "zone", "periods"),
    [
        ("day", "2026-05-01T12:30", "2026-05-02T00:00", "UTC", [("05-01 00", "05-02 00")]),
        ("day", "2026-05-01T12:30", "2026-05-02T00:01", "UTC", [("05-01 00", "05-02 00"), ("05-02 00", "05-03 00")]),
        ("day", "2026-05-01T23:00", "2026-05-01T23:30", "Europe/Madrid", [("05-01 22", "05-02 22")]),
        ("day", "2026-03-29T12:00", "2026-03-29T13:00", "Europe/Madrid", [("03-28 23", "03-29 22")]),
        ("day", "2026-10-25T12:00", "2026-10-25T13:00", "Europe/Madrid", [("10-24 22", "10-25 23")]),
        ("week", "2026-05-01T12:00", "2026-05-02T00:00", "UTC", [("04-27 00", "05-04 00")]),
        ("week", "2026-05-04T00:00", "2026-05-04T01:00", "UTC", [("05-04 00", "05-11 00")]),
        ("month", "2026-01-31T12:00", "2026-02-02T00:00", "UTC", [("01-01 00", "02-01 00"), ("02-01 00", "03-01 00")]),
        ("month", "2026-12-05T00:00", "2026-12-06T00:00", "UTC", [("12-01 00", "01-01 00")]),
        ("day", "2026-05-01T00:00", "2026-05-01T00:00", "UTC", []),
    ],
)  # fmt: skip
def test_periods_start_at_local_midnight_monday_and_the_first(period, since, until, zone, periods) -> None:  # fmt: skip
    assert list_periods(period, since, until, zone) == periods


@pytest.mark.parametrize(
    ("text", "zone", "moment"),
    [
        ("2026-05-01", "UTC", "2026-05-01T00:00"),
        ("2026-05-01", "Europe/Madrid", "2026-04-30T22:00"),
        ("2026-05-01T12:00", "Europe/Madrid", "2026-05-01T10:00"),
        ("2026-05-01T12:00:00Z", "Europe/Madrid", "2026-05-01T12:00"),
        ("2026-05-01T12:00+05:30", "UTC", "2026-05-01T06:30"),
    ],
)
def test_a_time_without_a_zone_is_local(text: str, zone: str, moment: str) -> None:
    assert parse_local_time(text, zone) == at(moment)


@pytest.mark.parametrize("name", ["Europe/Nowhere", "", "../etc/passwd", "/etc/passwd"])
def test_an_unknown_zone_is_one_sentence(name: str) -> None:
    with pytest.raises(
        DataError, match=r"no time zone .*; write a name such as Europe/Madrid, or UTC"
    ):
        get_time_zone(name)
    assert get_time_zone("utc") is UTC


def test_what_is_no_time_is_one_sentence() -> None:
    with pytest.raises(DataError, match="'soon' is no time; write 2026-05-01"):
        parse_local_time("soon")
