"""Options of `ragstone doctor`."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option


@click.command("doctor")
@click.option("--judge", metavar="JUDGE", help="Also see whether this judge can be reached.")
@click.option("--base-url", metavar="URL", help="Where the judge's server listens.")
@click.option("-c", "--config", metavar="FILE", help="Look at the judge and the store of a config file.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(
    judge: str | None, base_url: str | None, config: str | None, as_json: bool, store: str | None
) -> int:
    """Say what is installed and whether store and judge can be used.

    Versions, optional packages, the store, the judge; made to be pasted into a bug report: no key, no password, no text
    of yours. A judge on a server is connected to, and asked nothing.

    Exit codes: 0 all well, 1 something cannot be used."""
    from ragstone.cli.actions.doctor import run_doctor

    return run_doctor(judge, base_url, config, store, as_json=as_json)
