"""`ragstone runs`: what is in the store."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import check_language, choose_language, open_run, summarise_run
from ragstone.cli.options import store_option

if TYPE_CHECKING:
    from ragstone.store import RunInfo


@click.group("runs", invoke_without_command=True)
@store_option
@click.pass_context
def command(ctx: click.Context, store: str | None) -> None:
    """List, show or delete the stored runs.

    A run is named by its id, the start of its id, its name, or `last`."""
    ctx.obj = store
    if ctx.invoked_subcommand is None:
        ctx.invoke(listing, as_json=False, store=None)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
@click.pass_obj
def listing(default: str | None, as_json: bool, store: str | None) -> None:
    """List the runs, newest first."""
    from ragstone.store import Store

    kept = Store.open(store or default, must_exist=True)
    runs = kept.runs()
    if as_json:
        click.echo(json.dumps([_facts(info) for info in runs], ensure_ascii=False, indent=2))
    elif not runs:
        note(f"no runs yet in {kept.place}; start with: ragstone demo")
    else:
        _table(runs)


@command.command("show")
@click.argument("run", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the table: en, es.")
@store_option
@click.pass_obj
def show(
    default: str | None, run: str, as_json: bool, language: str | None, store: str | None
) -> None:
    """Show a run's facts and its table."""
    found = open_run(run, store or default)
    facts = _facts(found.info)
    if as_json:
        facts["usage"] = {one.metric: asdict(one.usage) for one in found.summary().metrics}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    for key, value in facts.items():
        if value not in (None, "", 0, {}, []) and key not in ("plan", "metrics"):
            click.echo(f"{key:<9} {value}")
    click.echo()
    from ragstone.cli.actions.eval import show_summary

    show_summary(
        summarise_run(found),
        check_language(language) or choose_language(found.info.plan.language),
    )


@command.command("delete")
@click.argument("runs", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@store_option
@click.pass_obj
def delete(default: str | None, runs: tuple[str, ...], yes: bool, store: str | None) -> None:
    """Delete runs with their samples and scores.

    The judge's replies are kept, other runs may use them."""
    found = {run.id: run for run in (open_run(name, store or default) for name in runs)}
    for run in found.values():
        what = f"{run.id} ({run.info.name}, {run.stored.count():,} samples)"
        if not yes and not click.confirm(f"Delete {what}?", err=True):
            note(f"kept {run.id}")
            continue
        run.delete()
        note(f"deleted {what}")


def _table(runs: list[RunInfo]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("run", no_wrap=True)
    table.add_column("name", overflow="fold")
    table.add_column("samples", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("metrics", ratio=1)
    for info in runs:
        samples = f"{info.total:,}" if info.total is not None else ""
        names = ", ".join(metric["name"] for metric in info.metrics)
        table.add_row(Text(info.id), Text(info.name), samples, info.status, Text(names))
    Console(highlight=False, width=None if sys.stdout.isatty() else 200).print(table)


def _facts(info: RunInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "name": info.name,
        "created": info.created,
        "status": info.status,
        "source": info.source,
        "format": info.format,
        "samples": info.total,
        "bad rows": info.bad_count,
        "judge": info.judge,
        "calls": info.usage.calls,
        "usd": info.usage.usd,
        "metrics": [metric["name"] for metric in info.metrics],
        "plan": _plan_facts(info),
    }


def _plan_facts(info: RunInfo) -> dict[str, Any]:
    """The plan of a run in the flat form that `runs show --json` has always printed."""
    plan, facts = info.plan, info.facts
    shown = {
        "source": facts.source,
        "metrics": [metric["name"] for metric in info.metrics],
        "judge": info.judge,
        "language": plan.language,
        "limit": plan.data.limit,
        "format": plan.data.format,
        "fields": dict(plan.data.fields) or None,
        "skip_bad_rows": plan.data.skip_bad_rows,
        "floor": plan.floor,
        "gates": dict(plan.gates) or None,
        "command": list(facts.command) or None,
        "folder": facts.folder,
        "ragstone": facts.ragstone,
    }
    if facts.system is not None:
        shown["system"] = facts.system
        shown["settings"] = dict(plan.system.settings) if plan.system is not None else {}
        shown["parameters"] = dict(facts.parameters)
        shown["system_identity"] = facts.system_identity
    return shown
