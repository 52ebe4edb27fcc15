"""What people do about an alert: acknowledge it, mute it, write a note."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from ragstone.errors import DataError
from ragstone.monitor.alert_text import to_one_line
from ragstone.monitor.alerts.alert import Alert, Note, save_alerts
from ragstone.monitor.archive import Archive
from ragstone.monitor.state import lock_alerts
from ragstone.store.database import Connection

MAX_NOTE_CHARS = 1000
MAX_NAME_CHARS = 80
MIN_ID_CHARS = 4
"""Characters from which the start of an id may stand for it."""


def acknowledge_alert(archive: Archive, id: str, by: str, text: str, now: int) -> Alert:
    """Say that somebody has taken an alert on; `text` may be empty."""
    note = _build_note(by, text, now, needs_text=False)
    return _change_alert(archive, id, now, lambda alert: replace(alert, acknowledged=note))


def mute_alert(archive: Archive, id: str, until: int, now: int) -> Alert:
    """Send no notification about an alert before a time; 0 ends that."""
    return _change_alert(archive, id, now, lambda alert: replace(alert, muted_until=until))


def add_note(archive: Archive, id: str, by: str, text: str, now: int) -> Alert:
    """Write a note on an alert, also on one that is over."""
    note = _build_note(by, text, now)
    return _change_alert(archive, id, now, lambda alert: replace(alert, notes=(*alert.notes, note)))


def _build_note(by: str, text: str, now: int, *, needs_text: bool = True) -> Note:
    line = to_one_line(text, MAX_NOTE_CHARS)
    if needs_text and not line:
        raise DataError("the note is empty; write what others should know")
    return Note(now, to_one_line(by, MAX_NAME_CHARS), line)


def _change_alert(archive: Archive, id: str, now: int, change: Callable[[Alert], Alert]) -> Alert:
    def write(db: Connection) -> Alert | int:
        """The changed alert, or how many there are when not one."""
        # an evaluation meanwhile would write the alert back as it was
        lock_alerts(db, now)
        rows = list(db.execute("SELECT id, body FROM monitor_alerts"))
        matches = [
            body
            for key, body in rows
            if key == id or (len(id) >= MIN_ID_CHARS and key.startswith(id))
        ]
        if len(matches) != 1:
            return len(matches)
        alert = change(Alert.from_json(json.loads(matches[0])))
        save_alerts(db, [alert])
        return alert

    # an error raised inside the transaction would be one of the store
    result = archive.run(write).result()
    if isinstance(result, Alert):
        return result
    what = "several alerts begin with" if result else "no alert"
    raise DataError(f"{what} {id[:40]!r}; `ragstone monitor alert list` shows them")
