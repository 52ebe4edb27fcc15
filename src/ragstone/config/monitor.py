"""The `monitor` section of a config file: which interactions of a live system are judged, how, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ragstone.config.alerts import Alerts, read_alerts
from ragstone.config.checks import Check, check_amount, check_count, check_share, check_text
from ragstone.config.document import ConfigValue
from ragstone.config.reports import ReportSchedule, read_reports

if TYPE_CHECKING:
    from ragstone.config.plan_reader import PlanReader
    from ragstone.registry import Metric


BAD_FEEDBACK = 0.5
"""Feedback (0 to 1) below this is bad: such interactions are always judged by default, and shown as bad."""


@dataclass(frozen=True, slots=True)
class AlwaysRules:
    """Interactions that are judged even when the rate did not select them."""

    feedback_below: float | None = BAD_FEEDBACK
    """Feedback under this."""
    score_below: float | None = None
    """A best retrieval score under this."""


@dataclass(frozen=True, slots=True)
class MonitorPlan:
    """Which interactions are judged, by whom, within which budget, and how long they are kept."""

    metrics: tuple[Metric, ...] | None = None
    """What is scored: faithfulness, answer_relevance and context_relevance unless others are named."""
    judge: str | Mapping[str, Any] | None = None
    """Who judges, when it is not the `judge` of the whole file."""
    rate: float = 0.1
    """The share of interactions that is judged."""
    rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Meta field → value → the share of that slice; of several that fit the largest counts."""
    always: AlwaysRules = AlwaysRules()
    max_usd: float | None = None
    """What may be spent on judging in a day (UTC)."""
    max_calls: int | None = None
    """Calls of the judge in a day (UTC)."""
    newest: float = 0.7
    """The share of the judge's time for the newest interactions; the rest goes to the oldest that wait."""
    retention: str | None = None
    """The age at which interactions are forgotten: `90d`."""
    redact: str | None = None
    """`module:function` that sees every text before it is stored."""
    alerts: Alerts = field(default_factory=Alerts)
    """Which degradations raise an alert, and who is notified."""
    reports: ReportSchedule | None = None
    """Reports that the server writes by itself."""


MONITOR_KEYS: tuple[str, ...] = tuple(item.name for item in fields(MonitorPlan))
ALWAYS_KEYS: tuple[str, ...] = tuple(item.name for item in fields(AlwaysRules))

CHECKS: Mapping[str, Check] = {
    "rate": check_share,
    "max_usd": check_amount,
    "max_calls": check_count,
    "newest": check_share,
    "retention": check_text,
    "redact": check_text,
}


def read_monitor(reader: PlanReader, value: ConfigValue) -> MonitorPlan | None:
    """The section; what is wrong with it goes to the reader's errors."""
    entries = reader.read_entries(value, "'monitor'", MONITOR_KEYS)
    values: dict[str, Any] = {}
    for key, item in entries.items():
        if item.value is None:
            continue
        if key == "metrics":
            values[key] = reader.read_metrics(item)
        elif key == "judge":
            values[key] = reader.read_model(item)
        elif key == "rates":
            values[key] = _read_rates(reader, item)
        elif key == "always":
            values[key] = _read_always(reader, item)
        elif key == "alerts":
            values[key] = read_alerts(item, reader)
        elif key == "reports":
            values[key] = read_reports(item, reader)
        else:
            values[key] = _check_value(reader, key, item, CHECKS[key])
    if values.get("retention") is not None and not _is_age(values["retention"]):
        reader.complain(entries["retention"], f"'retention' is {values['retention']!r}; write 90d")
    # None marks a value that was complained about; its default stands in, so that reading goes on
    # to the next mistake
    return MonitorPlan(**{key: item for key, item in values.items() if item is not None})


def _read_rates(reader: PlanReader, value: ConfigValue) -> dict[str, dict[str, float]] | None:
    if not isinstance(value.value, dict):
        reader.complain(value, f"'rates' is {value.plain!r}; write field: {{value: 0.5}}")
        return None
    rates: dict[str, dict[str, float]] = {}
    for name, item in value.value.items():
        if not isinstance(item.value, dict):
            reader.complain(item, f"the rates of {name!r} are {item.plain!r}; write value: 0.5")
            continue
        shares = {
            key: _check_value(reader, f"{name}: {key}", share, check_share)
            for key, share in item.value.items()
        }
        rates[name] = {key: float(share) for key, share in shares.items() if share is not None}
    return rates


def _read_always(reader: PlanReader, value: ConfigValue) -> AlwaysRules:
    rules: dict[str, Any] = {}
    for key, item in reader.read_entries(value, "'always'", ALWAYS_KEYS).items():
        if item.value is None:
            rules[key] = None  # `feedback_below: null` turns it off
            continue
        check = check_share if key == "feedback_below" else _check_number
        number = _check_value(reader, key, item, check)
        if number is not None:
            rules[key] = float(number)
    return AlwaysRules(**rules)


def _check_value(reader: PlanReader, key: str, value: ConfigValue, check: Check) -> Any:
    wanted = check(value.value)
    if wanted is None:
        return value.value
    reader.complain(value, f"{key!r} is {value.plain!r}; {wanted}")
    return None


def _check_number(value: Any) -> str | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return None if fits else "give a number"


def _is_age(text: str) -> bool:
    number, unit = text[:-1], text[-1:]
    return unit in "smhdw" and number.replace(".", "", 1).isdecimal() and float(number) > 0
