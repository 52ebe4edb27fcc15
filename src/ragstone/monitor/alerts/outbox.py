"""The durable queue of notifications: written with the alert in one transaction, sent until delivered, each under one key.

An attempt is counted before it is made, so that an attempt cut short by a crash is known: a file is then searched for the
key, and the receiver of a webhook sees the same Idempotency-Key again."""

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
from ragstone.monitor.alerts.channels import DeliveryError, send_message
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import format_iso, now_micros
from ragstone.store.database import Connection

FIRST_RETRY_MICROS = 10_000_000
MAX_RETRY_MICROS = 3_600_000_000
LEASE_MICROS = 120_000_000
"""How long an attempt may take before another process may make the next one."""
MAX_ATTEMPTS = 20
"""Attempts after which a message is abandoned: about twelve hours."""

SendMessage = Callable[[Channel, Mapping[str, Any], str, bool], None]
"""A function with the arguments of `send_message`."""
log = logging.getLogger("ragstone.monitor")


INTERNAL_FACTS = ("phrase", "held_since", "since_us", "since_interval_us", "reference_us")
"""Facts that are not sent."""


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """Counts of one delivery run."""

    sent: int = 0
    failed: int = 0
    """Attempts that failed; they are repeated later, except those given up."""
    given_up: int = 0
    """Of these, those that were the last attempt."""


def build_message(alert: Alert) -> dict[str, Any]:
    """The notification about an alert as plain JSON."""
    return {
        "id": alert.id,
        "rule": alert.rule,
        "kind": alert.kind,
        "state": alert.state,
        "metric": alert.metric or None,
        "slice": {alert.field: alert.value} if alert.field else {},
        "title": alert.title,
        "opened": format_iso(alert.opened),
        "changed": format_iso(alert.changed),
        "facts": {key: value for key, value in alert.facts.items() if key not in INTERNAL_FACTS},
    }


def enqueue_alert(db: Connection, channels: Sequence[Channel], alert: Alert, now: int) -> None:
    """Enqueue an alert's notification for every channel, inside the transaction that changes the alert."""
    enqueue_message(db, channels, build_message(alert), f"{alert.id}:{alert.state}", now)


def enqueue_message(
    db: Connection, channels: Sequence[Channel], body: Mapping[str, Any], about: str, now: int
) -> None:
    """Enqueue a message for every channel; `about` identifies it, and a message about the same is not enqueued again."""
    text = json.dumps(body, ensure_ascii=True, allow_nan=False)
    for channel in channels:
        # from alert, state and channel alone: a repeated evaluation enqueues nothing twice
        key = hashlib.sha256(f"{about}\n{channel.name}".encode()).hexdigest()[:32]
        db.execute(
            "INSERT INTO monitor_outbox (key, channel, created, due, tries, sent, fault, body)"
            " VALUES (?, ?, ?, ?, 0, NULL, '', ?) ON CONFLICT (key) DO NOTHING",
            (key, channel.name, now, now, text),
        )


def deliver_due(
    archive: Archive,
    channels: Sequence[Channel],
    now: int | None = None,
    *,
    send: SendMessage = send_message,
) -> DeliveryResult:
    """Send every message that is due; a failed one is due again after a delay that doubles."""
    at = now_micros() if now is None else now
    by_name = {channel.name: channel for channel in channels}
    rows = archive.store.read(
        "SELECT key, channel, due, tries, body FROM monitor_outbox"
        " WHERE sent IS NULL AND due <= ? AND tries < ? ORDER BY created, key",
        (at, MAX_ATTEMPTS),
    )
    sent = failed = given_up = 0
    failed_channels: set[str] = set()
    for key, name, due, tries, body in rows:
        channel = by_name.get(name)
        # After a failure the channel's other messages wait for the next run: its timeouts would delay the other channels.
        if channel is None or name in failed_channels or not _claim_message(archive, key, due, at):
            continue  # the channel is no longer configured, or another process sends this message
        try:
            send(channel, json.loads(body), key, tries > 0)
        except (DeliveryError, RagstoneError) as error:
            failed_channels.add(name)
            failed += 1
            given_up += tries + 1 >= MAX_ATTEMPTS
            log.warning("alert not delivered to %s: %s", channel.kind, error)
            _postpone_message(archive, key, at + get_retry_delay(key, tries), str(error))
        else:
            sent += 1
            _mark_sent(archive, key, at)
    return DeliveryResult(sent, failed, given_up)


def get_retry_delay(key: str, tries: int) -> int:
    """Microseconds until the next attempt: doubling up to an hour, plus up to a half of jitter derived from the key."""
    delay = min(FIRST_RETRY_MICROS << tries, MAX_RETRY_MICROS)
    return delay + delay * (int(key[:4], 16) % 512) // 1024


def list_unsent(archive: Archive) -> list[dict[str, Any]]:
    """Messages that have not been delivered, with the last error of each."""
    rows = archive.store.read(
        "SELECT key, channel, created, tries, fault FROM monitor_outbox WHERE sent IS NULL"
        " ORDER BY created, key"
    )
    names = ("key", "channel", "created", "tries", "fault")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _claim_message(archive: Archive, key: str, due: int, now: int) -> bool:
    """Whether this process may send the message: of several that read the same `due`, one update succeeds."""

    def write(db: Connection) -> bool:
        rows = db.execute(
            "UPDATE monitor_outbox SET due = ?, tries = tries + 1"
            " WHERE key = ? AND due = ? AND sent IS NULL RETURNING key",
            (now + LEASE_MICROS, key, due),
        )
        return bool(list(rows))

    return archive.run(write).result()


def _postpone_message(archive: Archive, key: str, due: int, fault: str) -> None:
    sql = "UPDATE monitor_outbox SET due = ?, fault = ? WHERE key = ?"
    archive.run(lambda db: list(db.execute(sql, (due, fault[:500], key)))).result()


def _mark_sent(archive: Archive, key: str, now: int) -> None:
    sql = "UPDATE monitor_outbox SET sent = ?, fault = '' WHERE key = ?"
    archive.run(lambda db: list(db.execute(sql, (now, key)))).result()
