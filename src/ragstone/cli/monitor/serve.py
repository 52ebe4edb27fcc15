"""`ragstone monitor serve`"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import click

from ragstone.cli.messages import note
from ragstone.cli.monitor.archive import load_plan
from ragstone.cli.monitor.options import config_option, redact_option
from ragstone.cli.options import (
    store_option,
)
from ragstone.config import reveal
from ragstone.config.durations import parse_duration
from ragstone.judges.secrets import is_loopback
from ragstone.labels.session import choose_author
from ragstone.monitor.ingest.redaction import load_hook
from ragstone.server import BackgroundWorker, ServerSettings, serve
from ragstone.server.alert_worker import AlertWorker
from ragstone.server.report_worker import ReportWorker
from ragstone.server.scoring_worker import ScoringWorker
from ragstone.server.settings import check_settings
from ragstone.store import Store, default_place


@click.command("serve")
@config_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; any but loopback needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--prefix", default="", metavar="PATH", help="Path under which a reverse proxy shows the server: /ragstone.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="HOST", help="Further host name under which the server is known. May be repeated.")  # fmt: skip
@click.option("--zone", metavar="ZONE", help="Time zone that the page shows times in: Europe/Madrid. Default: that of the config's reports, else UTC.")  # fmt: skip
@redact_option
@click.option("--retention", metavar="AGE", help="Delete interactions older than this: 90d.")
@click.option("--no-score", is_flag=True, help="Score nothing here; leave it to `ragstone monitor score`.")  # fmt: skip
@click.option("--watch/--no-watch", "evaluate", default=True, help="Evaluate alert rules here, or leave it to `ragstone monitor check`.")  # fmt: skip
@click.option(
    "--labels/--read-only",
    "editing",
    default=None,
    help="Whether labels, notes and test sets are taken [default: on loopback only].",
)
@store_option
def command(config: str | None, store: str | None, **options: Any) -> None:
    """Receive interactions over HTTP and monitor their quality.

    Listens on loopback unless --host says otherwise. A token is read from RAGSTONE_MONITOR_TOKEN; requests then show it as
    `Authorization: Bearer …`. Stop it with Ctrl-C or SIGTERM: accepted interactions are written first."""
    # From the environment only: an option would show the token to everyone who lists processes.
    token = os.environ.get("RAGSTONE_MONITOR_TOKEN") or None
    run_server(config, store, token=token, **options)


def run_server(
    config: str | None,
    store: str | None,
    *,
    host: str,
    port: int,
    prefix: str,
    token: str | None,
    names: tuple[str, ...],
    zone: str | None,
    redact: str | None,
    retention: str | None,
    no_score: bool,
    evaluate: bool,
    editing: bool | None,
) -> None:
    """Serve until stopped, then close the store."""
    plan, monitor = load_plan(config)
    age = retention or monitor.retention
    settings = check_settings(
        ServerSettings(
            host=host,
            port=port,
            prefix=prefix,
            token=token,
            names=names,
            editing=is_loopback(host) if editing is None else editing,
            author=choose_author(None) if is_loopback(host) else "",
            zone=zone or (monitor.reports.zone if monitor.reports else "UTC"),
            redact=load_hook(redact or monitor.redact),
            retention=None if age is None else parse_duration(age),
        )
    )
    store_path = store or reveal(plan.store) or default_place()
    opened_store = Store.open(store_path)
    workers: list[BackgroundWorker] = []
    if not no_score and monitor.metrics != ():
        # By config and store path, not by objects: it starts another process, so that a busy judge
        # cannot slow the intake.
        workers.append(ScoringWorker(config, str(store_path), opened_store))
    if evaluate:
        workers.append(AlertWorker(monitor.alerts, opened_store))
    if monitor.reports is not None:
        workers.append(ReportWorker(monitor.reports, opened_store))

    def announce(address: str) -> None:
        note(
            "listening on {address}, storing in {place}; stop with Ctrl-C",
            address=address,
            place=opened_store.place,
        )

    try:
        asyncio.run(serve(settings, opened_store, workers, ready=announce))
    finally:
        # After `serve`, which writes what it has accepted before it returns.
        opened_store.close()
    note("stopped; everything accepted is stored")
