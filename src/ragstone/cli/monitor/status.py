"""`ragstone monitor status`"""

from __future__ import annotations

import json
import shlex

import click
from rich.console import Console

from ragstone.cli.messages import Count, note
from ragstone.cli.monitor.archive import open_archive
from ragstone.cli.monitor.options import language_option
from ragstone.cli.options import details_option, store_option
from ragstone.cli.shared import choose_language
from ragstone.monitor.alerts.evaluation import load_status
from ragstone.monitor.alerts.outbox import list_unsent
from ragstone.monitor.interactions import format_iso
from ragstone.report.terminal import print_status
from ragstone.report.translator import load_translator


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@details_option
@language_option("Language")
@store_option
def command(as_json: bool, details: bool, language: str | None, store: str | None) -> None:
    """Show each metric's state and the open alerts.

    It is what the server or `ragstone monitor check` found last; no rule is evaluated."""
    archive = open_archive(store)
    status = load_status(archive)
    unsent = list_unsent(archive)
    if as_json:
        plain = None if status is None else status.to_dict()
        click.echo(json.dumps({"status": plain, "outbox": unsent}, indent=2))
        return
    if status is None:
        note("no alert rule has been checked yet; run `ragstone monitor check`")
        return
    note("as of {at}", at=format_iso(status.at))
    t = load_translator(choose_language(language))
    print_status(status, t, Console(), details=details)
    if unsent:
        last_error = unsent[-1]["fault"] or "none yet"
        note(
            "not delivered: {messages}; the last error: {last_error}",
            messages=Count(len(unsent), "message"),
            last_error=last_error,
        )
    place = "" if store is None else f" --store {shlex.quote(store)}"
    click.echo(f"\n  $ ragstone monitor report --period daily{place}")
