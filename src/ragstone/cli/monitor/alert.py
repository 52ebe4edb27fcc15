"""`ragstone monitor alert`"""

from __future__ import annotations

import getpass
import logging
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from ragstone.cli.messages import note
from ragstone.cli.monitor.archive import load_plan, open_archive
from ragstone.cli.monitor.options import config_option, language_option
from ragstone.cli.options import (
    store_option,
)
from ragstone.cli.shared import choose_language
from ragstone.config.durations import parse_duration
from ragstone.errors import RagstoneError
from ragstone.monitor.alert_text import format_alert, name_alert_state, to_one_line
from ragstone.monitor.alerts.alert import Alert, load_alerts_between, load_open_alerts
from ragstone.monitor.alerts.channels import DeliveryError, send_message
from ragstone.monitor.alerts.handling import acknowledge_alert, add_note, mute_alert
from ragstone.monitor.interactions import format_iso, new_id, now_micros


@click.group("alert")
def command() -> None:
    """List alerts; acknowledge, mute or annotate one; test the notification channels."""


@command.command("list")
@click.option("--window", metavar="LENGTH", default="30d", help="How far back alerts that are over are listed.", show_default=True)  # fmt: skip
@language_option("Language of the list")
@store_option
def list_alerts(window: str, language: str | None, store: str | None) -> None:
    """List open alerts and those of the last days, with who has taken them on and what was noted."""
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


@command.command("ack")
@click.argument("id")
@click.option("--by", metavar="NAME", help="Who takes it on; the name of the account by default.")
@click.option("-m", "--message", metavar="TEXT", default="", help="What is being done.")
@store_option
def acknowledge(id: str, by: str | None, message: str, store: str | None) -> None:
    """Say that you have taken an alert on; ID may be its first characters."""
    alert = acknowledge_alert(
        open_archive(store), id, by or getpass.getuser(), message, now_micros()
    )
    note("acknowledged {id}: {title}", id=alert.id[:8], title=to_one_line(alert.title))


@command.command("mute")
@click.argument("id")
@click.option("--for", "length", metavar="LENGTH", default="24h", help="How long, such as 2h or 7d; 0 ends it.", show_default=True)  # fmt: skip
@store_option
def mute(id: str, length: str, store: str | None) -> None:
    """Send no notification about an alert for a time; it stays on pages and in reports."""
    now = now_micros()
    until = 0 if length.strip() == "0" else now + parse_duration(length)
    alert = mute_alert(open_archive(store), id, until, now)
    note(
        "{id} is muted until {until}" if until else "{id} is no longer muted",
        id=alert.id[:8],
        until=format_iso(until)[:16],
    )


@command.command("note")
@click.argument("id")
@click.argument("text")
@click.option("--by", metavar="NAME", help="Who writes; the name of the account by default.")
@store_option
def write_note(id: str, text: str, by: str | None, store: str | None) -> None:
    """Write a note on an alert, such as its cause."""
    alert = add_note(open_archive(store), id, by or getpass.getuser(), text, now_micros())
    note("noted on {id}", id=alert.id[:8])


@command.command("test")
@config_option
@language_option("Language of the message")
# Scripts that give every subcommand the same --store must not fail on this one.
@click.option("--store", hidden=True, expose_value=False)  # taken as elsewhere, not needed
def test(config: str | None, language: str | None) -> int:
    """Send a test message to every configured channel; exit code 1 if one does not arrive."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    _, monitor = load_plan(config)
    now = format_iso(now_micros())
    body: dict[str, Any] = {
        "id": new_id(),
        "rule": "test",
        "kind": "test",
        "state": "firing",
        "metric": None,
        "slice": {},
        "title": format_alert({"phrase": "test"}, choose_language(language)),
        "opened": now,
        "changed": now,
        "facts": {},
    }
    failed = 0
    for channel in monitor.alerts.channels:
        try:
            send_message(channel, body, new_id(), again=False)
        except (DeliveryError, RagstoneError) as error:
            failed += 1
            note("{kind}: {error}", kind=channel.kind, error=error)
        else:
            note("{kind}: sent", kind=channel.kind)
    return 1 if failed else 0


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
