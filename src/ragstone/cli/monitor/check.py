"""`ragstone monitor check`"""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone.cli.messages import Count, note
from ragstone.cli.monitor.alert import describe_handling
from ragstone.cli.monitor.archive import load_plan, open_archive
from ragstone.cli.monitor.options import config_option, language_option
from ragstone.cli.options import (
    store_option,
)
from ragstone.cli.shared import choose_language
from ragstone.monitor.alert_text import format_alert, name_alert_state, to_one_line
from ragstone.monitor.alerts.alert import Alert
from ragstone.monitor.alerts.basis_text import describe_basis, describe_value_change
from ragstone.monitor.alerts.evaluation import MonitorStatus, evaluate_alerts
from ragstone.monitor.alerts.outbox import deliver_due
from ragstone.monitor.drift.references import reset_references
from ragstone.monitor.interactions import now_micros


@click.command("check")
@config_option
@click.option("--new-reference", is_flag=True, help="Learn the reference period again, from now on.")  # fmt: skip
@language_option("Language of the report")
@store_option
def command(
    config: str | None, new_reference: bool, language: str | None, store: str | None
) -> int:
    """Evaluate the alert rules once and send notifications: for cron.

    Exit code 1 while an alert is firing, 3 while quality is unknown because no data comes in or the judge fails, else 0."""
    plan, monitor = load_plan(config)
    archive = open_archive(store, plan)
    now = now_micros()
    if new_reference:
        reset_references(archive, now)
        note("the reference is learned again from now on")
    status = evaluate_alerts(archive, monitor.alerts, now)
    delivery = deliver_due(archive, monitor.alerts.channels)
    _show_status(status, choose_language(language))
    if delivery.sent:
        note("sent {messages}", messages=Count(delivery.sent, "message"))
    if delivery.failed:
        note(
            "not delivered, tried again later: {messages}",
            messages=Count(delivery.failed, "message"),
        )
    if not status.streams and not status.open:
        note("nothing was judged yet, so that there is nothing to compare")
    states = {alert.state for alert in status.open}
    # As for `eval`: 1 is bad quality, 3 is unknown quality.
    return 1 if "firing" in states else 3 if states & {"no_data", "judge_failing"} else 0


def _show_status(status: MonitorStatus, language: str) -> None:
    """Each metric's state and the open alerts."""
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=bool(status.streams))
    for head in ("metric", "state", "24 h", "reference", "evidence"):
        table.add_column(head, justify="left" if head in ("metric", "state") else "right")
    for stream in status.streams:
        # A field may have hundreds of values: only slices that need attention are listed.
        if stream.field and stream.state in ("ok", "learning"):
            continue
        name = stream.metric + (f"  {stream.field}={stream.value}" if stream.field else "")
        table.add_row(
            escape(to_one_line(name, 60)),
            name_alert_state(stream.state, language),
            _format_number(stream.mean),
            _format_number(stream.reference),
            f"{stream.evidence:.0%}",
        )
    console.print(table)
    for stream in status.streams:
        if stream.reference_us is not None and (
            not stream.field or stream.state not in ("ok", "learning")
        ):
            console.print(
                f"  {escape(describe_basis(stream, language))}", style="dim", highlight=False
            )
    for stream in status.streams:
        if not stream.field and (text := describe_value_change(stream, language)):
            console.print(f"  {escape(text)}", style="dim", highlight=False)
    for facts in status.waiting:
        console.print(f"  {escape(format_alert(facts, language))}", style="dim", highlight=False)
    for alert in status.open:
        if alert.state != "pending":
            _show_alert(console, alert, name_alert_state(alert.state, language), language)
            for text in describe_handling(alert, status.at):
                console.print(f"  {escape(text)}", highlight=False)


def _show_alert(console: Console, alert: Alert, state: str, language: str) -> None:
    title = (
        format_alert(alert.facts, language) if "phrase" in alert.facts else to_one_line(alert.title)
    )
    console.print(f"[bold]{state}[/bold]  {escape(title)}  ({alert.id[:8]})", highlight=False)
    for example in alert.facts.get("examples", ()):
        question = escape(to_one_line(example.get("question", "")))
        console.print(f"  • {escape(to_one_line(example['id']))}: {question}", highlight=False)
    for symptom in alert.facts.get("advice", ())[:1]:
        for cause in symptom["causes"][:3]:
            advice = cause["advice"].get(language) or cause["advice"].get("en", "")
            console.print(f"  → {escape(advice)}", highlight=False)


def _format_number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
