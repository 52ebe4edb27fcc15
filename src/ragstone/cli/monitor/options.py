"""Options that several commands of the monitor share."""

from __future__ import annotations

from collections.abc import Callable

import click

from ragstone.cli.options import F

config_option = click.option(
    "-c", "--config", metavar="FILE", help="Config file with a `monitor` section."
)
redact_option = click.option(
    "--redact", metavar="MODULE:FUNCTION", help="Hook that sees every text before it is stored."
)


def zone_option(what: str) -> Callable[[F], F]:
    """`--zone`: the time zone of days, weeks and months."""
    return click.option("--zone", default="UTC", show_default=True, help=f"{what}: Europe/Madrid.")


def language_option(what: str) -> Callable[[F], F]:
    """`--lang`."""
    return click.option("--lang", "language", metavar="LANG", help=f"{what}: en, es.")
