"""`ragstone monitor serve`: the server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import note, store_option

if TYPE_CHECKING:
    from ragstone.server import Part


@click.command("serve")
@click.option("-c", "--config", metavar="FILE", help="Config file with a `monitor` section.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; any but loopback needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--prefix", default="", metavar="PATH", help="Path under which a reverse proxy shows the server: /ragstone.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="HOST", help="Further host name under which the server is known. May be repeated.")  # fmt: skip
@click.option("--zone", metavar="ZONE", help="Time zone that the page shows times in: Europe/Madrid. Default: that of the config's reports, else UTC.")  # fmt: skip
@click.option("--redact", metavar="MODULE:FUNCTION", help="Hook that sees every text before it is stored.")  # fmt: skip
@click.option("--retention", metavar="AGE", help="Forget interactions older than this: 90d.")
@click.option("--no-score", is_flag=True, help="Judge nothing here; leave it to `ragstone monitor score`.")  # fmt: skip
@click.option("--watch/--no-watch", "watched", default=True, help="Look for degradation here, or leave it to `ragstone monitor check`.")  # fmt: skip
@store_option
def command(
    config: str | None,
    host: str,
    port: int,
    prefix: str,
    names: tuple[str, ...],
    zone: str | None,
    redact: str | None,
    retention: str | None,
    no_score: bool,
    watched: bool,
    store: str | None,
) -> None:
    """Take interactions over HTTP, and watch over their quality.

    Listens on loopback unless --host says otherwise. A token is read from RAGSTONE_MONITOR_TOKEN; requests then show it as
    `Authorization: Bearer …`. Stop it with Ctrl-C or SIGTERM: what was taken is written first."""
    import asyncio

    from ragstone.config import Plan, load, revealed
    from ragstone.config.monitor import MonitorPlan
    from ragstone.monitor.ingest.redaction import redactor
    from ragstone.monitor.windows.summary import duration
    from ragstone.server import Settings, serve
    from ragstone.server.settings import checked
    from ragstone.store import Store, usual_place

    plan = load(config) if config is not None else Plan()
    watch = plan.monitor or MonitorPlan()
    age = retention or watch.retention
    settings = checked(
        Settings(
            host=host,
            port=port,
            prefix=prefix,
            token=os.environ.get("RAGSTONE_MONITOR_TOKEN") or None,
            names=names,
            zone=zone or (watch.reports.zone if watch.reports else "UTC"),
            redact=redactor(redact or watch.redact),
            retention=None if age is None else duration(age),
        )
    )
    place = store or revealed(plan.store) or usual_place()
    kept = Store.open(place)
    parts: list[Part] = []
    if not no_score and watch.metrics != ():
        from ragstone.server.scoring_worker import ScoringPart

        parts.append(ScoringPart(config, str(place), kept))
    if watched:
        from ragstone.server.alert_worker import WatchingPart

        parts.append(WatchingPart(watch.alerts, kept))

    if watch.reports is not None:
        from ragstone.server.report_worker import ReportingPart

        parts.append(ReportingPart(watch.reports, kept))

    def ready(address: str) -> None:
        note(f"listening on {address}, storing in {kept.place}; stop with Ctrl-C")

    try:
        asyncio.run(serve(settings, kept, parts, ready=ready))
    finally:
        kept.close()
    note("stopped; everything taken is stored")
