"""`ragstone monitor`: one file per subcommand."""

from __future__ import annotations

import click

from ragstone.cli import LazyCommands

COMMANDS = {
    "serve": "Receive interactions over HTTP and monitor their quality.",
    "import": "Import interactions from a log file in any known format.",
    "score": "Score the queued interactions within the daily budget and exit: for cron.",
    "summary": "Show the quality of the last hours or days, whole and by slice.",
    "compare": "Compare a window with the one before it, or one slice with another.",
    "status": "Show each metric's state and the open alerts.",
    "report": "Report on the last day, week or month against the one before.",
    "check": "Evaluate the alert rules once and send notifications: for cron.",
    "alert": "List alerts; acknowledge, mute or annotate one; test the notification channels.",
    "purge": "Delete interactions by age or by id.",
}


@click.group(
    "monitor", cls=LazyCommands, package="ragstone.cli.monitor", lines={"Commands": COMMANDS}
)
def command() -> None:
    """Monitor a live system: log interactions, measure quality by window, alert on drops."""
