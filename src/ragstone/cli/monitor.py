"""`ragstone monitor`: one subcommand a file, loaded when it is called."""

from __future__ import annotations

import importlib

import click

SUBCOMMANDS: dict[str, str] = {
    "serve": "Take interactions over HTTP, and watch over their quality.",
    "import": "Take interactions from a file: a log in any known format.",
    "score": "Judge what waits, within the day's budget, and end: for cron.",
    "summary": "Say how good the last hours or days were, whole and by slice.",
    "status": "Say how things stand: each metric's state and the open alerts.",
    "report": "Report on the last day, week or month against the one before.",
    "check": "Look for degradation once and send what follows: for cron.",
    "alert": "Try out the ways by which alerts leave.",
    "purge": "Forget interactions by age or by id.",
}
"""Every subcommand with its line in `ragstone monitor --help`; its code is `command` in monitor_<name>.py."""


class LazySubcommands(click.Group):
    """A group that imports a subcommand's file only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module = importlib.import_module(f"ragstone.cli.monitor_{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from ragstone.errors import suggest_nearest

        if args and args[0] not in SUBCOMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}{suggest_nearest(args[0], list(SUBCOMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group("monitor", cls=LazySubcommands)
def command() -> None:
    """Watch over a live system: interactions in, quality by window, alerts."""
