"""Alerts and their state machine: pending → firing → resolved.

An alert of kind `no_data` or `judge_failing` has that state instead of `firing`: quality is then unknown, neither healthy nor degraded.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.archive import Archive
from ragstone.store.database import Connection

Kind = Literal["drop", "threshold", "no_data", "judge_failing", "questions"]
State = Literal["pending", "firing", "no_data", "judge_failing", "resolved", "dropped"]
"""State of an alert; the last two are closed ones: `dropped` went away while it was pending."""
RuleState = Literal["ok", "pending", "firing", "unknown"]


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What one evaluation of one rule says."""

    rule: str
    """Identifies the rule across evaluations: `drop:faithfulness`, `drop:faithfulness:model=large`, `no_data`."""
    kind: Kind
    state: RuleState
    """`unknown` when there is too little data to decide: an open alert then stays as it is."""
    metric: str = ""
    field: str = ""
    value: str = ""
    title: str = ""
    """What changed, by how much and since when, in one sentence."""
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The arguments of the title's phrase (see `format_alert`), and the explaining slice, examples and advice; plain JSON."""
    hold: int = 0
    """Microseconds that the condition must last before the alert fires."""
    resolve: int = 0
    """Microseconds that the rule must be ok before the alert is resolved."""
    began: int = 0
    """When the condition was first met, where the rule knows it: data that arrives late is replayed; 0 means now."""

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON; the stored key of `state` is `found`, as in existing stores."""
        plain = asdict(self)
        return {("found" if name == "state" else name): value for name, value in plain.items()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> RuleResult:
        """The result that `to_json` wrote."""
        return cls(**{("state" if name == "found" else name): plain[name] for name in plain})


@dataclass(frozen=True, slots=True)
class PastIncident:
    """A drop that is over, found while the hours were replayed."""

    result: RuleResult
    ended: int
    """When its recovery was shown."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a person did about an alert or said of it."""

    at: int
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert from its first sign to its resolution."""

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
    """Since when the rule has been ok again, while the alert waits to be resolved."""
    notified: bool = False
    """Whether a notification was sent for it."""
    acknowledged: Note | None = None
    """Who has taken it on; its recovery is still notified."""
    muted_until: int = 0
    """No notification about it before this time."""
    notes: tuple[Note, ...] = ()

    @property
    def open(self) -> bool:
        """Whether it is neither resolved nor dropped."""
        return self.closed is None

    def to_dict(self) -> dict[str, Any]:
        """The alert as plain JSON; the stored key of `notified` is `told`, as in existing stores."""
        plain = asdict(self)
        plain["told"] = plain.pop("notified")
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Alert:
        """The alert that `to_dict` wrote."""
        values = {("notified" if name == "told" else name): plain[name] for name in plain}
        taken = values.get("acknowledged")
        values["acknowledged"] = None if taken is None else Note(**taken)
        values["notes"] = tuple(Note(**note) for note in values.get("notes", ()))
        return cls(**values)


def advance_alert(alert: Alert | None, result: RuleResult, now: int) -> tuple[Alert | None, bool]:
    """The alert after a rule's result, and whether to send a notification.

    A pending alert is dropped without notification when its cause goes away; an alert that fired notifies when it fires
    and when it is resolved."""
    if alert is None:
        return _open_alert(result, now)
    if result.state == "unknown":
        return alert, False
    if result.state == "ok":
        return _advance_well(alert, result, now)
    if alert.state == "pending":
        return _advance_pending(alert, result, now)
    # It is firing already. The explanation of the moment it fired (slice, examples, advice) stays; the numbers are updated.
    facts = {**alert.facts, **result.facts}
    title = format_alert(facts) if "phrase" in facts else alert.title
    return replace(alert, title=title, facts=facts, well_since=None), False


def _open_alert(result: RuleResult, now: int) -> tuple[Alert | None, bool]:
    if result.state in ("ok", "unknown"):
        return None, False
    alert = _build_alert(result, min(result.began, now) or now, "pending")
    if result.state == "firing" and result.hold <= 0:
        return replace(alert, state=_choose_firing_state(result.kind), notified=True), True
    # The hold counts from the first firing result, not from an earlier pending one.
    held_since = now if result.state == "firing" else None
    return replace(alert, facts={**alert.facts, "held_since": held_since}), False


def build_past_alert(incident: PastIncident) -> Alert:
    """The alert of a drop that was over before anyone looked; nobody is notified of it."""
    alert = _build_alert(incident.result, incident.result.began, "resolved")
    # `notified` makes reports and pages show it
    return replace(alert, changed=incident.ended, closed=incident.ended, notified=True)


def _build_alert(result: RuleResult, opened: int, state: State) -> Alert:
    return Alert(
        id=_build_alert_id(result.rule, opened), rule=result.rule, kind=result.kind, state=state,
        opened=opened, changed=opened, closed=None, metric=result.metric, field=result.field,
        value=result.value, title=result.title, facts=result.facts,
    )  # fmt: skip


def _advance_pending(alert: Alert, result: RuleResult, now: int) -> tuple[Alert, bool]:
    held_since = alert.facts.get("held_since")
    if result.state == "pending":
        held_since = None
    elif held_since is None:
        held_since = now
    new = replace(alert, title=result.title, facts={**result.facts, "held_since": held_since})
    if result.state == "firing" and held_since is not None and now - held_since >= result.hold:
        state = _choose_firing_state(result.kind)
        return replace(new, state=state, changed=now, notified=True), True
    return new, False


def _advance_well(alert: Alert, result: RuleResult, now: int) -> tuple[Alert, bool]:
    """Advance an alert whose rule is ok."""
    if alert.state == "pending":
        return replace(alert, state="dropped", changed=now, closed=now), False
    since = now if alert.well_since is None else alert.well_since
    if now - since < result.resolve:
        return replace(alert, well_since=since), False
    return replace(alert, state="resolved", changed=now, closed=now, well_since=since), True


def _choose_firing_state(kind: Kind) -> State:
    return kind if kind in ("no_data", "judge_failing") else "firing"


def _build_alert_id(rule: str, now: int) -> str:
    return hashlib.sha256(f"{rule}\n{now}".encode()).hexdigest()[:16]


# ── in the store ──────────────────────────────────────────────────────────────────────────


def load_open_alerts(archive: Archive) -> list[Alert]:
    """Open alerts, oldest first."""
    return _load_alerts(archive, "WHERE closed IS NULL ORDER BY opened, rule", ())


def load_alerts_between(archive: Archive, since: int, until: int) -> list[Alert]:
    """Alerts that were open at some time between two times and sent a notification, oldest first."""
    alerts = _load_alerts(
        archive,
        "WHERE opened < ? AND (closed IS NULL OR closed >= ?) ORDER BY opened, rule",
        (until, since),
    )
    return [alert for alert in alerts if alert.notified]


def save_alerts(db: Connection, alerts: Iterable[Alert]) -> None:
    """Insert or update alerts inside a transaction; each change of state adds an event."""
    for alert in alerts:
        body = json.dumps(alert.to_dict(), ensure_ascii=True, allow_nan=False)
        before = list(db.execute("SELECT state FROM monitor_alerts WHERE id = ?", (alert.id,)))
        db.execute(
            "INSERT INTO monitor_alerts (id, rule, state, opened, changed, closed, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state,"
            " changed = excluded.changed, closed = excluded.closed, body = excluded.body",
            (alert.id, alert.rule, alert.state, alert.opened, alert.changed, alert.closed, body),
        )
        # events are the history of states: the same state in the next evaluation adds none
        if not before or before[0][0] != alert.state:
            db.execute(
                "INSERT INTO monitor_alert_events (alert, at, state, body) VALUES (?, ?, ?, ?)",
                (alert.id, alert.changed, alert.state, json.dumps({"title": alert.title})),
            )


def load_alert_events(archive: Archive, id: str) -> list[tuple[int, str]]:
    """Time and new state of each state change of an alert."""
    rows = archive.store.read(
        "SELECT at, state FROM monitor_alert_events WHERE alert = ? ORDER BY number", (id,)
    )
    return [(int(at), str(state)) for at, state in rows]


def _load_alerts(archive: Archive, where: str, values: Sequence[Any]) -> list[Alert]:
    rows = archive.store.read(f"SELECT body FROM monitor_alerts {where}", values)  # noqa: S608
    return [Alert.from_json(json.loads(body)) for (body,) in rows]
