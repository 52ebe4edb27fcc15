"""One round of watching: readings of every rule, alerts moved on, messages put in the outbox. Time is an argument."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragstone.config.alerts import Alerts
from ragstone.config.durations import duration
from ragstone.monitor.alerts.alert import Alert, Reading, advance, open_alerts, save
from ragstone.monitor.alerts.drop_rules import Stream, drop_readings, explained
from ragstone.monitor.alerts.no_data_rules import judge_readings, silence_readings
from ragstone.monitor.alerts.outbox import enqueue
from ragstone.monitor.alerts.threshold_rules import threshold_readings
from ragstone.monitor.archive import Archive
from ragstone.monitor.purge import known_examples
from ragstone.monitor.rollups.refresh import DAY, refresh
from ragstone.monitor.state import lock_watching, put_document, read_document
from ragstone.store.database import Connection

REMEMBERED = 30 * DAY
"""A metric without a score for so long is no longer watched."""
LEFT = DAY
"""How long an alert stays open whose rule is gone."""


@dataclass(frozen=True, slots=True)
class Status:
    """How things stand after a round."""

    at: int
    state: str
    """The gravest of the states."""
    streams: tuple[Stream, ...]
    open: tuple[Alert, ...]
    """Alerts that are not over."""

    def to_dict(self) -> dict[str, Any]:
        """The status as plain JSON."""
        return asdict(self)


GRAVITY = ("firing", "judge_failing", "no_data", "pending", "learning", "ok")


def watch(archive: Archive, settings: Alerts, now: int) -> Status:
    """Look at everything once: the same store and the same time give the same alerts."""
    refresh(archive)
    metrics = watched_metrics(archive, now)
    before = {one.rule: one for one in open_alerts(archive)}
    silent = silence_readings(archive, settings, metrics, now)
    judges = judge_readings(archive, settings, metrics, now)
    failing = {one.metric for one in judges if one.found == "firing"}
    readings, streams = drop_readings(archive, settings, metrics, now, failing)
    readings += threshold_readings(archive, settings, now, failing)
    if settings.questions:
        from ragstone.monitor.alerts.question_rules import question_readings

        readings += question_readings(archive, settings, now)
    readings = _quieter([*silent, *judges, *readings], before)
    readings = [
        explained(archive, settings, one, now) if _is_new(one, before) else one for one in readings
    ]
    return archive.run(lambda db: _advance(db, settings, readings, streams, now)).result()


def last_status(archive: Archive) -> Status | None:
    """What the last round found; None before the first."""
    body = read_document(archive, "watch")
    if body is None:
        return None
    plain = json.loads(body)
    return Status(
        plain["at"],
        plain["state"],
        tuple(Stream(**one) for one in plain["streams"]),
        tuple(Alert(**one) for one in plain["open"]),
    )


def watched_metrics(archive: Archive, now: int) -> list[str]:
    """Metrics with a score or a failed judgement in the last 30 days."""
    rows = archive.store.read("SELECT DISTINCT metric FROM monitor_scores ORDER BY metric")
    return [
        name
        for (name,) in rows
        if archive.store.read(
            "SELECT 1 FROM monitor_scores WHERE metric = ? AND at >= ? AND at < ? LIMIT 1",
            (name, now - REMEMBERED, now),
        )
    ]


def _advance(
    db: Connection,
    settings: Alerts,
    readings: Sequence[Reading],
    streams: Sequence[Stream],
    now: int,
) -> Status:
    """Move alerts on inside one transaction, which a second watcher waits for."""
    lock_watching(db, now)
    rows = db.execute("SELECT body FROM monitor_alerts WHERE closed IS NULL ORDER BY opened, rule")
    held = {one.rule: one for one in (Alert(**json.loads(body)) for (body,) in rows)}
    given = {one.rule for one in readings}
    gone = [
        Reading(rule, one.kind, "ok", resolve=LEFT)
        for rule, one in held.items()
        if rule not in given
    ]
    kept: list[Alert] = []
    for reading in [*readings, *gone]:
        reading = replace(reading, facts=known_examples(db, reading.facts))
        alert, tell = advance(held.get(reading.rule), reading, now)
        if alert is None:
            continue
        save(db, [alert])
        if tell:
            enqueue(db, settings.channels, alert, now)
        if alert.open:
            kept.append(alert)
    status = Status(now, _gravest(kept, streams), _with_states(streams, kept), tuple(kept))
    put_document(db, "watch", json.dumps(status.to_dict(), allow_nan=False), now)
    return status


def _with_states(streams: Sequence[Stream], alerts: Iterable[Alert]) -> tuple[Stream, ...]:
    """Each stream in the gravest state that an alert of its metric puts it in."""
    found = []
    for stream in streams:
        states = [
            one.state
            for one in alerts
            if (one.kind == "no_data" and not one.metric)
            or (one.metric == stream.metric
            and (one.kind in ("judge_failing", "no_data") or (one.field, one.value) == (stream.field, stream.value)))
        ]  # fmt: skip
        found.append(replace(stream, state=min([stream.state, *states], key=GRAVITY.index)))
    return tuple(found)


def _gravest(alerts: Sequence[Alert], streams: Sequence[Stream]) -> str:
    whole = [one.state for one in streams if not one.field]
    return min([*(one.state for one in alerts), *whole], key=GRAVITY.index, default="learning")


def _is_new(reading: Reading, before: dict[str, Alert]) -> bool:
    alert = before.get(reading.rule)
    return reading.found == "firing" and (alert is None or alert.state == "pending")


def _quieter(readings: Sequence[Reading], before: dict[str, Alert]) -> list[Reading]:
    """No alert of a slice fires while its whole metric has one: that one names the slice."""
    loud = {
        one.metric
        for one in readings
        if one.kind == "drop" and not one.field and one.found == "firing"
    }
    fired = {rule for rule, one in before.items() if one.state != "pending"}
    return [
        replace(one, found="ok")
        if one.kind == "drop" and one.field and one.metric in loud and one.rule not in fired
        else one
        for one in readings
    ]


def round_length(settings: Alerts) -> float:
    """Seconds between two rounds of the server."""
    return duration(settings.every) / 1_000_000
