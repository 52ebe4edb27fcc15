"""`ragstone monitor check`"""

from __future__ import annotations

import click
from rich.console import Console

from ragstone.cli.messages import Count, note
from ragstone.cli.monitor.archive import load_plan, open_archive
from ragstone.cli.monitor.options import config_option, language_option
from ragstone.cli.options import (
    store_option,
)
from ragstone.cli.shared import choose_language
from ragstone.monitor.alerts.evaluation import evaluate_alerts
from ragstone.monitor.alerts.outbox import deliver_due
from ragstone.monitor.drift.references import reset_references
from ragstone.monitor.interactions import now_micros
from ragstone.report.terminal import print_status
from ragstone.report.translator import load_translator


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
    print_status(status, load_translator(choose_language(language)), Console())
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
