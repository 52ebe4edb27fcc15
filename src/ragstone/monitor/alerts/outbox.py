"""Messages about alerts on their way out: kept with the alert in one transaction, sent until they arrive, each under one key.

An attempt is counted before it is made, so that a crash in its midst is known of: a file is then searched for the key, and a
receiver of a webhook sees the same Idempotency-Key again."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.config.alerts import Channel
from ragstone.errors import RagstoneError
from ragstone.monitor.alerts.alert import Alert
from ragstone.monitor.alerts.channels import Undelivered, send
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import iso, micros
from ragstone.store.database import Connection

FIRST_WAIT = 10_000_000
LONGEST_WAIT = 3_600_000_000
LEASE = 120_000_000
"""How long an attempt may take before another process may make the next."""
TRIES = 20
"""Attempts after which a message is given up: about twelve hours."""

Send = Callable[[Channel, Mapping[str, Any], str, bool], None]
log = logging.getLogger("ragstone.monitor")


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of sending what was due."""

    sent: int = 0
    failed: int = 0
    """Attempts that failed and are made again later."""
    given_up: int = 0


def message(alert: Alert) -> dict[str, Any]:
    """What leaves the house about an alert, as plain JSON."""
    return {
        "id": alert.id,
        "rule": alert.rule,
        "kind": alert.kind,
        "state": alert.state,
        "metric": alert.metric or None,
        "slice": {alert.field: alert.value} if alert.field else {},
        "title": alert.title,
        "opened": iso(alert.opened),
        "changed": iso(alert.changed),
        "facts": {
            key: value
            for key, value in alert.facts.items()
            if key not in ("phrase", "held_since", "since_us", "reference_us")
        },
    }


def enqueue(db: Connection, channels: Sequence[Channel], alert: Alert, now: int) -> None:
    """Put an alert's message out for every channel, inside the transaction that changes the alert."""
    put(db, channels, message(alert), f"{alert.id}:{alert.state}", now)


def put(
    db: Connection, channels: Sequence[Channel], body: Mapping[str, Any], about: str, now: int
) -> None:
    """Put a message out; one that is there already stays as it is."""
    text = json.dumps(body, ensure_ascii=True, allow_nan=False)
    for channel in channels:
        key = hashlib.sha256(f"{about}\n{channel.name}".encode()).hexdigest()[:32]
        db.execute(
            "INSERT INTO monitor_outbox (key, channel, created, due, tries, sent, fault, body)"
            " VALUES (?, ?, ?, ?, 0, NULL, '', ?) ON CONFLICT (key) DO NOTHING",
            (key, channel.name, now, now, text),
        )


def deliver(
    archive: Archive, channels: Sequence[Channel], now: int | None = None, *, out: Send = send
) -> Delivery:
    """Send what is due; what fails is due again after a wait that doubles."""
    at = micros() if now is None else now
    by_name = {channel.name: channel for channel in channels}
    rows = archive.store.read(
        "SELECT key, channel, due, tries, body FROM monitor_outbox"
        " WHERE sent IS NULL AND due <= ? AND tries < ? ORDER BY created, key",
        (at, TRIES),
    )
    sent = failed = given_up = 0
    stuck: set[str] = set()
    for key, name, due, tries, body in rows:
        channel = by_name.get(name)
        # A receiver that just failed is not asked for each of its messages: the other channels wait behind it.
        if channel is None or name in stuck or not _claim(archive, key, due, at):
            continue  # a channel that is no longer configured keeps its messages; another process has this one
        try:
            out(channel, json.loads(body), key, tries > 0)
        except (Undelivered, RagstoneError) as bad:
            stuck.add(name)
            failed += 1
            given_up += tries + 1 >= TRIES
            log.warning("alert not delivered to %s: %s", channel.kind, bad)
            _postpone(archive, key, at + wait(key, tries), str(bad))
        else:
            sent += 1
            _done(archive, key, at)
    return Delivery(sent, failed, given_up)


def wait(key: str, tries: int) -> int:
    """Microseconds until the next attempt: doubling up to an hour, up to a half more by the key so that all do not come at once."""
    length = min(FIRST_WAIT << tries, LONGEST_WAIT)
    return length + length * (int(key[:4], 16) % 512) // 1024


def pending(archive: Archive) -> list[dict[str, Any]]:
    """Messages that have not left, with what stopped them."""
    rows = archive.store.read(
        "SELECT key, channel, created, tries, fault FROM monitor_outbox WHERE sent IS NULL"
        " ORDER BY created, key"
    )
    names = ("key", "channel", "created", "tries", "fault")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _claim(archive: Archive, key: str, due: int, now: int) -> bool:
    def write(db: Connection) -> bool:
        rows = db.execute(
            "UPDATE monitor_outbox SET due = ?, tries = tries + 1"
            " WHERE key = ? AND due = ? AND sent IS NULL RETURNING key",
            (now + LEASE, key, due),
        )
        return bool(list(rows))

    return archive.run(write).result()


def _postpone(archive: Archive, key: str, due: int, fault: str) -> None:
    sql = "UPDATE monitor_outbox SET due = ?, fault = ? WHERE key = ?"
    archive.run(lambda db: list(db.execute(sql, (due, fault[:500], key)))).result()


def _done(archive: Archive, key: str, now: int) -> None:
    sql = "UPDATE monitor_outbox SET sent = ?, fault = '' WHERE key = ?"
    archive.run(lambda db: list(db.execute(sql, (now, key)))).result()
