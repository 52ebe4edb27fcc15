"""Reports that the monitor's server writes by itself: where to, how often, in which language."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ragstone.config.document import ConfigValue
from ragstone.locale.catalogue import LANGUAGES

if TYPE_CHECKING:
    from ragstone.config.plan_reader import PlanReader

PERIODS = ("daily", "weekly", "monthly")
"""As `monitor report --period` names them; `PERIOD_BY_NAME` says what each spans."""
FORMATS = ("html", "md")


@dataclass(frozen=True, slots=True)
class ReportSchedule:
    """One report for each period that is over, as files in a folder."""

    folder: str
    """Where the files go; it is made if need be."""
    period: str = "weekly"
    """daily, weekly or monthly."""
    formats: tuple[str, ...] = ("html",)
    """html, md, or both."""
    language: str = "en"
    zone: str = "UTC"
    """Time zone of days, weeks and months."""


REPORT_KEYS: tuple[str, ...] = tuple(item.name for item in fields(ReportSchedule))


def read_reports(value: ConfigValue, reader: PlanReader) -> ReportSchedule | None:
    """The reports of a config; what is wrong with them goes to the reader's errors."""
    entries = reader.read_entries(value, "'reports'", REPORT_KEYS)
    values: dict[str, Any] = {}
    for key, item in entries.items():
        wanted = _find_fault(key, item.plain)
        if wanted:
            reader.complain(item, f"{key!r} is {item.plain!r}; {wanted}")
        else:
            values[key] = tuple(item.plain) if key == "formats" else item.plain
    if isinstance(value.value, dict) and "folder" not in entries:
        reader.complain(value, "'reports' has no 'folder'; say where the files go")
    return ReportSchedule(**values) if "folder" in values else None


def _find_fault(key: str, plain: Any) -> str:
    """What to give instead of the value of a key; empty when it is valid."""
    if key == "formats":
        fits = (
            isinstance(plain, list)
            and plain
            and all(format_name in FORMATS for format_name in plain)
        )
        return "" if fits else f"give a list of {', '.join(FORMATS)}"
    if not isinstance(plain, str) or not plain:
        return "give a text"
    if key == "period" and plain not in PERIODS:
        return f"choose {', '.join(PERIODS)}"
    if key == "language" and plain not in LANGUAGES:
        return f"choose {' or '.join(LANGUAGES)}"
    if key == "zone" and not _is_zone(plain):
        return "give a name such as Europe/Madrid, or UTC"
    return ""


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return name.upper() == "UTC"
    return True
