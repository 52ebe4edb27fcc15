"""`ragstone runs`: list, show and delete stored runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragstone.cli.actions.eval import show_summary
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import check_language, choose_language, open_run, summarise_run
from ragstone.store import RunInfo, Store, format_plan


def list_runs(store_path: str | None, *, as_json: bool) -> None:
    """Print every run of the store, newest first."""
    store = Store.open(store_path, must_exist=True)
    runs = store.runs()
    if as_json:
        click.echo(json.dumps([_to_facts(info) for info in runs], ensure_ascii=False, indent=2))
    elif not runs:
        note(f"no runs yet in {store.place}; start with: ragstone demo")
    else:
        _print_table(runs)


def show_run(name: str, store_path: str | None, language: str | None, *, as_json: bool) -> None:
    """Print a run's facts and its summary."""
    run = open_run(name, store_path)
    facts = _to_facts(run.info)
    if as_json:
        facts["usage"] = {row.metric: asdict(row.usage) for row in run.summary().metrics}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    for key, value in facts.items():
        # The summary below shows the metrics; the plan is for --json.
        if value not in (None, "", 0, {}, []) and key not in ("plan", "metrics"):
            click.echo(f"{key:<9} {value}")
    click.echo()
    table_language = check_language(language) or choose_language(run.info.plan.language)
    show_summary(summarise_run(run), table_language)


def delete_runs(names: Sequence[str], store_path: str | None, *, ask: bool) -> None:
    """Delete the runs, each after a question unless `ask` is off."""
    runs = {run.id: run for run in (open_run(name, store_path) for name in names)}
    for run in runs.values():
        title = f"{run.id} ({run.info.name}, {run.stored.count():,} samples)"
        if ask and not click.confirm(f"Delete {title}?", err=True):
            note(f"kept {run.id}")
            continue
        run.delete()
        note(f"deleted {title}")


def _print_table(runs: list[RunInfo]) -> None:
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
    # In a pipe rich would fold at 80 columns, and scripts read whole lines.
    Console(highlight=False, width=None if sys.stdout.isatty() else 200).print(table)


def _to_facts(info: RunInfo) -> dict[str, Any]:
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
        "plan": format_plan(info),
    }
