"""`ragstone mcp`: tools for coding assistants."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option
from ragstone.integrations.mcp import build_server


@click.command("mcp")
@click.option(
    "--allow-run",
    is_flag=True,
    help="Also offer to run evaluations, which take time and may cost money.",
)
@store_option
def command(allow_run: bool, store: str | None) -> None:
    """Give a coding assistant tools to read runs, failures and comparisons.

    Speaks the Model Context Protocol on standard input and output; the assistant starts it. Needs the extra `mcp`.

    \b
      claude mcp add ragstone -- ragstone mcp --store runs.db
    """
    build_server(store, allow_run=allow_run).run("stdio")
