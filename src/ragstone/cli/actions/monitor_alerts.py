"""`ragstone monitor alert list`, `ack`, `mute` and `note`."""

from __future__ import annotations

import getpass

from rich.console import Console
from rich.markup import escape

from ragstone.cli.actions.messages import note
from ragstone.cli.actions.monitor_plan import open_archive
from ragstone.cli.actions.shared import choose_language
from ragstone.config.durations import parse_duration
from ragstone.monitor.alert_text import format_alert, name_alert_state, to_one_line
from ragstone.monitor.alerts.alert import Alert, load_alerts_between, load_open_alerts
from ragstone.monitor.alerts.handling import acknowledge_alert, add_note, mute_alert
from ragstone.monitor.interactions import format_iso, now_micros


def show_alerts(window: str, store: str | None, language: str | None) -> None:
    """Print open alerts and those of a window."""
    archive, now = open_archive(store), now_micros()
    words = choose_language(language)
    alerts = {
        alert.id: alert for alert in load_alerts_between(archive, now - parse_duration(window), now)
    }
    alerts |= {alert.id: alert for alert in load_open_alerts(archive) if alert.state != "pending"}
    if not alerts:
        note("no alerts")
    console = Console()
    for alert in sorted(alerts.values(), key=lambda alert: -alert.opened):
        show_alert_line(console, alert, words, now)


def show_alert_line(console: Console, alert: Alert, language: str, now: int) -> None:
    """An alert with its id, its sentence, and what people did about it."""
    title = format_alert(alert.facts, language) if "phrase" in alert.facts else alert.title
    state = name_alert_state(alert.state, language)
    console.print(
        f"{alert.id[:8]}  [bold]{state}[/bold]  {escape(to_one_line(title))}", highlight=False
    )
    for text in describe_handling(alert, now):
        console.print(f"          {escape(text)}", highlight=False)


def describe_handling(alert: Alert, now: int) -> list[str]:
    """Who took an alert on, until when it is muted, and its notes."""
    lines = []
    taken = alert.acknowledged
    if taken is not None:
        lines.append(
            f"acknowledged by {taken.by} {format_iso(taken.at)[:16]}: {taken.text}".rstrip(": ")
        )
    if alert.muted_until > now:
        lines.append(f"muted until {format_iso(alert.muted_until)[:16]}")
    lines += [f"{entry.by} {format_iso(entry.at)[:16]}: {entry.text}" for entry in alert.notes]
    return [to_one_line(line) for line in lines]


def acknowledge(id: str, by: str | None, message: str, store: str | None) -> None:
    """Acknowledge an alert."""
    alert = acknowledge_alert(
        open_archive(store), id, by or getpass.getuser(), message, now_micros()
    )
    note("acknowledged {id}: {title}", id=alert.id[:8], title=to_one_line(alert.title))


def mute(id: str, length: str, store: str | None) -> None:
    """Mute an alert for a time."""
    now = now_micros()
    until = 0 if length.strip() == "0" else now + parse_duration(length)
    alert = mute_alert(open_archive(store), id, until, now)
    note(
        "{id} is muted until {until}" if until else "{id} is no longer muted",
        id=alert.id[:8],
        until=format_iso(until)[:16],
    )


def write_note(id: str, text: str, by: str | None, store: str | None) -> None:
    """Write a note on an alert."""
    alert = add_note(open_archive(store), id, by or getpass.getuser(), text, now_micros())
    note("noted on {id}", id=alert.id[:8])
