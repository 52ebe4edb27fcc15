"""`ragstone monitor alert`: the ways by which alerts leave."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import note


@click.group("alert")
def command() -> None:
    """Try out the ways by which alerts leave."""


@command.command("test")
@click.option("-c", "--config", metavar="FILE", help="Config file with a `monitor` section.")
@click.option("--lang", "language", metavar="LANG", help="Language of the message: en, es.")
@click.option("--store", hidden=True, expose_value=False)  # taken as elsewhere, not needed
def test(config: str | None, language: str | None) -> int:
    """Send a test message by every configured channel; exit code 1 if one does not arrive."""
    import logging

    from ragstone.cli.monitor_check import alerts_of
    from ragstone.cli.options import report_language
    from ragstone.errors import RagstoneError
    from ragstone.monitor.alerts.channels import Undelivered, send
    from ragstone.monitor.interactions import iso, micros, new_id
    from ragstone.monitor.wording import sentence

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    settings = alerts_of(config)
    now = micros()
    body: dict[str, Any] = {
        "id": new_id(),
        "rule": "test",
        "kind": "test",
        "state": "firing",
        "metric": None,
        "slice": {},
        "title": sentence({"phrase": "test"}, report_language(language)),
        "opened": iso(now),
        "changed": iso(now),
        "facts": {},
    }
    failed = 0
    for channel in settings.channels:
        try:
            send(channel, body, new_id(), False)
        except (Undelivered, RagstoneError) as bad:
            failed += 1
            note(f"{channel.kind}: {bad}")
        else:
            note(f"{channel.kind}: sent")
    return 1 if failed else 0
