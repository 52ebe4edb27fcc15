"""Options of `ragstone runs` and its subcommands: list, show and delete stored runs."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import F, store_option


def list_options(function: F) -> F:
    """`--trend`, `--data`, `--trials` and `--lang`."""
    for option in (
        click.option("--lang", "language", metavar="LANG", help="Language of the trend: en, es."),
        click.option("--trials", is_flag=True, help="Also the runs of searches for settings (tune)."),
        click.option("--data", metavar="NAME", help="Only runs of this data set."),
        click.option("--trend", metavar="METRIC", help="The metric over the runs of each data set, with the verdict between neighbours."),
    ):  # fmt: skip
        function = option(function)
    return function


@click.group("runs", invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]...")
@list_options
@store_option
@click.pass_context
def command(ctx: click.Context, /, store: str | None, **options: Any) -> None:
    """List, show or delete the stored runs.

    A run is named by its id, the start of its id, its name, or `last`."""
    ctx.obj = store  # `runs --store X list`: the default of the subcommands' own --store
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_command, as_json=False, store=None, **options)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@list_options
@store_option
@click.pass_obj
def list_command(default: str | None, /, as_json: bool, store: str | None, **options: Any) -> None:
    """List the runs, newest first, with their figures.

    Each metric has its mean, its interval and its course over the earlier runs of the same data set."""
    from ragstone.cli.actions.runs import list_runs

    list_runs(store or default, as_json=as_json, **options)


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
