"""`ragstone monitor status`: what the last round found."""

from __future__ import annotations

import click

from ragstone.cli.options import note, store_option


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language: en, es.")
@store_option
def command(as_json: bool, language: str | None, store: str | None) -> None:
    """Say how things stand: each metric's state and the open alerts.

    It is what the server or `ragstone monitor check` found last; nothing is looked at anew."""
    import json

    from ragstone.cli.monitor_check import show
    from ragstone.cli.options import report_language
    from ragstone.monitor import Archive
    from ragstone.monitor.alerts.evaluation import last_status
    from ragstone.monitor.alerts.outbox import pending
    from ragstone.monitor.interactions import iso
    from ragstone.store import Store

    archive = Archive(Store.open(store, must_exist=True))
    status = last_status(archive)
    if as_json:
        plain = None if status is None else status.to_dict()
        click.echo(json.dumps({"status": plain, "outbox": pending(archive)}, indent=2))
        return
    if status is None:
        note("nothing was looked at yet; `ragstone monitor check` looks once")
        return
    note(f"as of {iso(status.at)}")
    show(status, report_language(language))
    waiting = pending(archive)
    if waiting:
        note(f"{len(waiting)} messages have not left; the last fault: {waiting[-1]['fault'] or 'none yet'}")  # fmt: skip
