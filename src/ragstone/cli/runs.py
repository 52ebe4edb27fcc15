"""Options of `ragstone runs` and its subcommands: list, show and delete stored runs."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option


@click.group("runs", invoke_without_command=True)
@store_option
@click.pass_context
def command(ctx: click.Context, store: str | None) -> None:
    """List, show or delete the stored runs.

    A run is named by its id, the start of its id, its name, or `last`."""
    ctx.obj = store  # `runs --store X list`: the default of the subcommands' own --store
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_command, as_json=False, store=None)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
@click.pass_obj
def list_command(default: str | None, as_json: bool, store: str | None) -> None:
    """List the runs, newest first."""
    from ragstone.cli.actions.runs import list_runs

    list_runs(store or default, as_json=as_json)


@command.command("show")
@click.argument("run", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the table: en, es.")
@store_option
@click.pass_obj
def show_command(
    default: str | None, run: str, as_json: bool, language: str | None, store: str | None
) -> None:
    """Show a run's facts and its table."""
    from ragstone.cli.actions.runs import show_run

    show_run(run, store or default, language, as_json=as_json)


@command.command("delete")
@click.argument("runs", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@store_option
@click.pass_obj
def delete_command(
    default: str | None, runs: tuple[str, ...], yes: bool, store: str | None
) -> None:
    """Delete runs with their samples and scores.

    The judge's replies are kept, other runs may use them."""
    from ragstone.cli.actions.runs import delete_runs

    delete_runs(runs, store or default, ask=not yes)
