"""The `alerts:` part of a config's `monitor:` section: which degradations raise an alert, and who is notified."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from ragstone.config.document import ConfigValue
from ragstone.config.durations import parse_duration
from ragstone.config.secrets import SECRET_ADDRESSES, Secret
from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.config.plan_reader import PlanReader

ChannelKind = Literal["log", "file", "webhook", "slack", "apprise"]

FIGURES = ("mean", "p5", "p25", "p50", "p75", "p95", "p99", "coverage", "total")
_RULE = re.compile(
    r"\s*(?P<name>[^\s<>=][^<>=]*?)(?:\s+(?P<figure>" + "|".join(FIGURES) + r"))?\s*"
    r"(?P<sign><=|>=|<|>)\s*(?P<limit>[+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?P<percent>%)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """An alert whenever a figure of a window is on the wrong side of a limit."""

    name: str
    """A metric, or `latency`, `cost`, `tokens`, `feedback`."""
    figure: str
    """One of FIGURES."""
    sign: str
    """`<`, `<=`, `>` or `>=`."""
    limit: float

    def __str__(self) -> str:
        figure = "" if self.figure == "mean" else f" {self.figure}"
        return f"{self.name}{figure} {self.sign} {self.limit:g}"

    def is_crossed_by(self, value: float) -> bool:
        """Whether a value calls for the alert."""
        match self.sign:
            case "<":
                return value < self.limit
            case "<=":
                return value <= self.limit
            case ">":
                return value > self.limit
        return value >= self.limit


@dataclass(frozen=True, slots=True)
class Channel:
    """Somewhere that alerts are sent to."""

    kind: ChannelKind
    target: str | Secret = ""
    """A file's path or an address; addresses are secrets."""
    secret: Secret | None = None
    """The key that signs the messages to a webhook."""

    @property
    def name(self) -> str:
        """What the outbox calls it: never shows a secret, yet tells two addresses apart."""
        import hashlib

        text = self.target.reveal() if isinstance(self.target, Secret) else self.target
        return (
            f"{self.kind}:{hashlib.sha256(text.encode()).hexdigest()[:12]}" if text else self.kind
        )


@dataclass(frozen=True, slots=True)
class Alerts:
    """What is watched, what it is compared with, and who is notified."""

    reference: str = "14d"
    """The period that quality is compared with: a length from the first scores on, or `FROM/TO`. Half of a length is enough to begin."""
    false_alarms: float = 0.1
    """False alarms of the drop test that are acceptable a month for each metric, all its slices included."""
    slices: tuple[str, ...] | None = None
    """Fields whose values are watched one by one; None is every field with few values."""
    thresholds: tuple[Threshold, ...] = (Threshold("faithfulness", "mean", "<", 0.6),)
    window: str = "1h"
    """The window that thresholds look at."""
    hold: str = "10m"
    """How long a threshold must be crossed before its alert fires."""
    resolve: str = "30m"
    """How long the figures must be normal again before an alert counts as over."""
    no_data: str = "24h"
    """Silence after which the state is no_data."""
    judge_failures: float = 0.1
    """Share of judge failures above which the state is judge_failing and quality is not judged."""
    questions: bool = True
    """Whether new topics, languages and lengths of questions are looked for."""
    every: str = "5m"
    """How often the server looks."""
    channels: tuple[Channel, ...] = field(default=(Channel("log"),))


OWN_FIGURES = ("latency", "cost", "tokens", "feedback")
"""What a threshold can name beside metrics."""
ALERT_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Alerts))


def parse_threshold(text: str) -> Threshold:
    """The threshold that `faithfulness < 0.6` or `latency p95 > 5` stands for; ValueError says what to write."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is no threshold; write 'faithfulness < 0.6' or 'latency p95 > 5'"
        )
    limit = float(match["limit"]) / (100 if match["percent"] else 1)
    return Threshold(
        match["name"].strip(), (match["figure"] or "mean").lower(), match["sign"], limit
    )


def read_alerts(value: ConfigValue, reader: PlanReader) -> Alerts:
    """The alerts of a config; what is wrong with them goes to the reader's errors."""
    entries = reader.read_entries(value, "'alerts'", ALERT_KEYS)
    # keys that are not here (window, hold, every …) are durations
    read: dict[str, Callable[[ConfigValue, PlanReader], Any]] = {
        "reference": _read_reference,
        "false_alarms": _read_share,
        "judge_failures": _read_share,
        "slices": _read_names,
        "thresholds": _read_thresholds,
        "questions": _read_flag,
        "channels": _read_channels,
    }
    values = {key: read.get(key, _read_duration)(item, reader) for key, item in entries.items()}
    return Alerts(**{key: item for key, item in values.items() if item is not None})


def _read_duration(value: ConfigValue, reader: PlanReader) -> str | None:
    try:
        parse_duration(value.plain)
    except RagstoneError as bad:
        reader.complain(value, str(bad))
        return None
    # kept as text: reports show it, and a learned reference is stored with it; a bare number is
    # seconds
    return str(value.plain) if isinstance(value.plain, str) else f"{value.plain}s"


def _read_reference(value: ConfigValue, reader: PlanReader) -> str | None:
    text = str(value.plain)
    if "/" not in text:
        return _read_duration(value, reader)
    from datetime import datetime

    try:
        first, last = (datetime.fromisoformat(part.strip()) for part in text.split("/", 1))
    except ValueError:
        reader.complain(value, f"{text!r} is no period; write 7d, or 2026-05-01/2026-05-08")
        return None
    # without zones: Python refuses to compare a time with a zone to one without
    if first.replace(tzinfo=None) >= last.replace(tzinfo=None):
        reader.complain(value, f"{text!r} ends before it starts; write the earlier time first")
        return None
    return text


def _read_share(value: ConfigValue, reader: PlanReader) -> float | None:
    number = value.plain
    if isinstance(number, int | float) and not isinstance(number, bool) and 0 < number <= 1:
        return float(number)
    reader.complain(value, f"{number!r} is no share; give a number above 0 and up to 1")
    return None


def _read_flag(value: ConfigValue, reader: PlanReader) -> bool | None:
    if isinstance(value.plain, bool):
        return value.plain
    reader.complain(value, f"{value.plain!r} is neither true nor false")
    return None


def _read_names(value: ConfigValue, reader: PlanReader) -> tuple[str, ...]:
    return tuple(item.value for item in reader.list_items(value) if reader.is_text("slices", item))


def _read_thresholds(value: ConfigValue, reader: PlanReader) -> tuple[Threshold, ...]:
    thresholds = []
    for item in reader.list_items(value):
        try:
            rule = parse_threshold(str(item.plain))
        except ValueError as bad:
            reader.complain(item, str(bad))
            continue
        if rule.name in OWN_FIGURES:
            thresholds.append(rule)
        elif (metric := reader.read_metric(ConfigValue(item.location, rule.name))) is not None:
            thresholds.append(replace(rule, name=metric.name))
    return tuple(thresholds)


def _read_channels(value: ConfigValue, reader: PlanReader) -> tuple[Channel, ...]:
    channels = [_read_channel(item, reader) for item in reader.list_items(value)]
    return tuple(channel for channel in channels if channel is not None)


def _read_channel(value: ConfigValue, reader: PlanReader) -> Channel | None:
    """`log`, `file: alerts.jsonl`, `webhook: ${HOOK}` with `secret: ${KEY}`, `slack: …` or `apprise: …`."""
    if value.plain == "log":
        return Channel("log")
    entries = reader.read_entries(value, "a channel", (*SECRET_ADDRESSES, "file", "secret"))
    kinds = [kind for kind in (*SECRET_ADDRESSES, "file") if kind in entries]
    if len(kinds) != 1:
        reader.complain(
            value, f"a channel is log, or one of {', '.join((*SECRET_ADDRESSES, 'file'))}"
        )
        return None
    kind: Any = kinds[0]  # a ChannelKind, which the type checker cannot see
    target = entries[kind]
    if kind == "file":
        return (
            Channel("file", reader.anchor_path(target.value))
            if reader.is_text("file", target)
            else None
        )
    # an address written out is a secret as well: whoever knows it can post there
    address = target.value if isinstance(target.value, Secret) else Secret(str(target.plain))
    if kind != "apprise" and not _is_web_address(address.reveal()):
        reader.complain(target, f"the {kind} is no address; write https://… or ${{NAME}}")
        return None
    secret_value = entries.get("secret")
    secret = None if secret_value is None else _read_secret(secret_value, kind, reader)
    return Channel(kind, address, secret)


def _read_secret(value: ConfigValue, kind: str, reader: PlanReader) -> Secret | None:
    if kind != "webhook":
        reader.complain(value, f"a {kind} channel signs nothing; remove the secret")
    if isinstance(value.value, Secret):
        return value.value
    reader.complain(value, "the secret is written out; keep it in the environment as ${NAME}")
    return None


def _is_web_address(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
