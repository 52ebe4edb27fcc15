"""Alerts and their states: ok → pending → firing → resolved; no_data and judge_failing are neither health nor degradation."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ragstone.monitor.archive import Archive
from ragstone.monitor.wording import sentence
from ragstone.store.database import Connection

Kind = Literal["drop", "threshold", "no_data", "judge_failing", "questions"]
State = Literal["pending", "firing", "no_data", "judge_failing", "resolved", "dropped"]
Found = Literal["ok", "pending", "firing", "unknown"]

OPEN: tuple[State, ...] = ("pending", "firing", "no_data", "judge_failing")


@dataclass(frozen=True, slots=True)
class Reading:
    """What one round found for one rule."""

    rule: str
    """Names the rule for ever: `drop:faithfulness`, `drop:faithfulness:model=large`, `no_data`."""
    kind: Kind
    found: Found
    """`unknown` when there is nothing to decide by: an open alert stays as it is."""
    metric: str = ""
    field: str = ""
    value: str = ""
    title: str = ""
    """What moved, by how much, since when: one sentence."""
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The same as plain JSON, with the slice, the examples and the advice."""
    hold: int = 0
    """Microseconds that it must last before it fires."""
    resolve: int = 0
    """Microseconds that all must be well before it is over."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert from its first sign to its end."""

    id: str
    rule: str
    kind: Kind
    state: State
    opened: int
    changed: int
    """When its state last changed."""
    closed: int | None
    metric: str
    field: str
    value: str
    title: str
    facts: Mapping[str, Any]
    well_since: int | None = None
    """Since when all is well again, while it waits to be over."""
    told: bool = False
    """Whether anyone was told of it."""

    @property
    def open(self) -> bool:
        """Whether it is not over."""
        return self.closed is None

    def to_dict(self) -> dict[str, Any]:
        """The alert as plain JSON."""
        return asdict(self)


def advance(alert: Alert | None, reading: Reading, now: int) -> tuple[Alert | None, bool]:
    """The alert after a reading, and whether people are to be told.

    Pending ends without a word when its cause goes away; what fired is told once when it fires and once when it is over."""
    if alert is None:
        if reading.found in ("ok", "unknown"):
            return None, False
        alert = Alert(
            id=_id(reading.rule, now), rule=reading.rule, kind=reading.kind, state="pending",
            opened=now, changed=now, closed=None, metric=reading.metric, field=reading.field,
            value=reading.value, title=reading.title, facts=reading.facts,
        )  # fmt: skip
        if reading.found == "firing" and reading.hold <= 0:
            return replace(alert, state=_fires_as(reading.kind), told=True), True
        # The hold counts from the first firing reading; an early sign that comes before it does not.
        since = now if reading.found == "firing" else None
        return replace(alert, facts={**alert.facts, "held_since": since}), False
    if reading.found == "unknown":
        return alert, False
    if reading.found == "ok":
        return _well(alert, reading, now)
    if alert.state == "pending":
        return _pending(alert, reading, now)
    # What was found out when it fired (slice, examples, advice) stays; the numbers are of now.
    facts = {**alert.facts, **reading.facts}
    title = sentence(facts) if "phrase" in facts else alert.title
    return replace(alert, title=title, facts=facts, well_since=None), False


def _pending(alert: Alert, reading: Reading, now: int) -> tuple[Alert, bool]:
    held = alert.facts.get("held_since")
    held = None if reading.found == "pending" else now if held is None else held
    new = replace(alert, title=reading.title, facts={**reading.facts, "held_since": held})
    if reading.found == "firing" and held is not None and now - held >= reading.hold:
        return replace(new, state=_fires_as(reading.kind), changed=now, told=True), True
    return new, False


def _well(alert: Alert, reading: Reading, now: int) -> tuple[Alert, bool]:
    if alert.state == "pending":
        return replace(alert, state="dropped", changed=now, closed=now), False
    since = now if alert.well_since is None else alert.well_since
    if now - since < reading.resolve:
        return replace(alert, well_since=since), False
    return replace(alert, state="resolved", changed=now, closed=now, well_since=since), True


def _fires_as(kind: Kind) -> State:
    return kind if kind in ("no_data", "judge_failing") else "firing"


def _id(rule: str, now: int) -> str:
    return hashlib.sha256(f"{rule}\n{now}".encode()).hexdigest()[:16]


# ── kept ──────────────────────────────────────────────────────────────────────────────────


def open_alerts(archive: Archive) -> list[Alert]:
    """Alerts that are not over, oldest first."""
    return _decoded(archive, "WHERE closed IS NULL ORDER BY opened, rule", ())


def alerts_between(archive: Archive, since: int, until: int) -> list[Alert]:
    """Alerts that were open at some time of a stretch and that people were told of, oldest first."""
    found = _decoded(
        archive,
        "WHERE opened < ? AND (closed IS NULL OR closed >= ?) ORDER BY opened, rule",
        (until, since),
    )
    return [one for one in found if one.told]


def alert(archive: Archive, id: str) -> Alert | None:
    """The alert with this id."""
    return next(iter(_decoded(archive, "WHERE id = ?", (id,))), None)


def save(db: Connection, some: Sequence[Alert]) -> None:
    """Keep alerts as they are now, inside a transaction; each change of state is an event of its own."""
    for one in some:
        body = json.dumps(asdict(one), ensure_ascii=True, allow_nan=False)
        before = list(db.execute("SELECT state FROM monitor_alerts WHERE id = ?", (one.id,)))
        db.execute(
            "INSERT INTO monitor_alerts (id, rule, state, opened, changed, closed, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state,"
            " changed = excluded.changed, closed = excluded.closed, body = excluded.body",
            (one.id, one.rule, one.state, one.opened, one.changed, one.closed, body),
        )
        if not before or before[0][0] != one.state:
            db.execute(
                "INSERT INTO monitor_alert_events (alert, at, state, body) VALUES (?, ?, ?, ?)",
                (one.id, one.changed, one.state, json.dumps({"title": one.title})),
            )


def events(archive: Archive, id: str) -> list[tuple[int, str]]:
    """When an alert changed to which state."""
    rows = archive.store.read(
        "SELECT at, state FROM monitor_alert_events WHERE alert = ? ORDER BY number", (id,)
    )
    return [(int(at), str(state)) for at, state in rows]


def _decoded(archive: Archive, where: str, values: Sequence[Any]) -> list[Alert]:
    rows = archive.store.read(f"SELECT body FROM monitor_alerts {where}", values)  # noqa: S608
    return [Alert(**json.loads(body)) for (body,) in rows]
