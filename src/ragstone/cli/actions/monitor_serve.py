"""`ragstone monitor serve`: the HTTP server with its background workers."""

from __future__ import annotations

import asyncio

from ragstone.cli.actions.messages import note
from ragstone.cli.actions.monitor_plan import load_plan
from ragstone.config import reveal
from ragstone.config.durations import parse_duration
from ragstone.monitor.ingest.redaction import load_hook
from ragstone.server import BackgroundWorker, ServerSettings, serve
from ragstone.server.alert_worker import AlertWorker
from ragstone.server.report_worker import ReportWorker
from ragstone.server.scoring_worker import ScoringWorker
from ragstone.server.settings import check_settings
from ragstone.store import Store, default_place


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
