"""Options of `ragstone runs` and its subcommands: list, show and delete stored runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console

from ragstone import report
from ragstone.cli.messages import Count, format_count, note
from ragstone.cli.options import F, store_option
from ragstone.cli.progress import show_waiting
from ragstone.cli.shared import check_language, choose_language, open_run, summarise_run
from ragstone.errors import DataError, UnknownMetric, suggest_nearest
from ragstone.report.monitor.charts import SeriesPoint, format_sparkline
from ragstone.report.terminal import Column, Screen, numbers, print_trend
from ragstone.report.translator import load_translator
from ragstone.report.view.catalogue import (
    RunEntry,
    group_by_data,
    list_earlier,
    load_entries,
    name_data,
    name_system,
)
from ragstone.report.view.summaries import SummaryShelf, choose_headline
from ragstone.report.view.trend import TrendView, build_trend
from ragstone.store import RunInfo, Store, format_plan
from ragstone.store.experiments import load_trials
from ragstone.store.judge_jobs import WaitingJobs, load_waiting_jobs


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
    """List the runs, newest first.

    Each with its leading metric and the course of that over the earlier runs of the same data set; --json has them all."""
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
    delete_runs(runs, store or default, ask=not yes)


def list_runs(
    store_path: str | None,
    *,
    as_json: bool,
    trend: str | None = None,
    data: str | None = None,
    language: str | None = None,
    trials: bool = False,
) -> None:
    """Print every run of the store, newest first; with `trend`, that metric over the runs of each data set.

    Runs of searches for settings only with `trials`."""
    store = Store.open(store_path, must_exist=True)
    hidden = set() if trials else _hide_trials(store)
    entries = _load_entries(store, hidden)
    waiting = load_waiting_jobs(store)
    if data is not None:
        entries = [entry for entry in entries if data in (entry.data, name_data(entry.info))]
        if not entries:
            names = sorted({name_data(info) for info in store.runs()})
            raise DataError(f"no run of the data set {data!r}{suggest_nearest(data, names)}")
    if trend is not None:
        _print_trends(entries, trend, check_language(language) or "en")
    elif as_json:
        facts = [_to_facts(entry.info) | _to_figures(entry, waiting) for entry in entries]
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif not entries and not hidden:
        note("no runs yet in {place}; start with: ragstone demo", place=store.place)
    else:
        _print_table(entries, waiting)


def show_run(name: str, store_path: str | None, language: str | None, *, as_json: bool) -> None:
    """Print a run's facts and its summary."""
    run = open_run(name, store_path)
    facts = _to_facts(run.info)
    waiting = load_waiting_jobs(run.stored.store).get(run.id)
    if waiting is not None:
        facts["status"] += f", {format_waiting(waiting)}"
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
    summarise_run(run)
    report.show(run, language=table_language, is_opened=False)


def delete_runs(names: Sequence[str], store_path: str | None, *, ask: bool) -> None:
    """Delete the runs, each after a question unless `ask` is off."""
    runs = {run.id: run for run in (open_run(name, store_path) for name in names)}
    for run in runs.values():
        title = f"{run.id} ({run.info.name}, {format_count(run.stored.count(), 'sample')})"
        if ask and not click.confirm(f"Delete {title}?", err=True):
            note("kept {id}", id=run.id)
            continue
        run.delete()
        note("deleted {title}", title=title)


def _hide_trials(store: Store) -> set[str]:
    """The runs of searches for settings, and a line that says how many there are."""
    hidden = load_trials(store) & {info.id for info in store.runs()}
    if hidden:
        note("{runs} of searches for settings not listed; --trials lists them", runs=Count(len(hidden), "run"))  # fmt: skip
    return hidden


def _load_entries(store: Store, hidden: Container[str]) -> list[RunEntry]:
    # sums up runs that have no summary at hand: the first time this reads the scores of all
    with show_waiting("summing up runs", quiet=False):
        return load_entries(store, SummaryShelf(store), make=True, left_out=hidden)


def _print_table(entries: Sequence[RunEntry], waiting: Mapping[str, WaitingJobs]) -> None:
    """A line for each run with its leading metric; `runs show` has the others."""
    groups = group_by_data(entries)
    columns = [Column("Run"), Column("Name"), Column("Data"), *numbers("Samples")]
    columns += [Column("Leading metric"), Column("Status", wraps=True)]
    rows = [
        [
            entry.info.id, entry.info.name, name_data(entry.info), f"{entry.count_samples():,}",
            _format_leading(entry, groups[entry.data]), _format_status(entry, waiting),
        ]
        for entry in entries
    ]  # fmt: skip
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    # in a pipe rich would fold at 80 columns, and scripts read whole lines
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 200
    Screen(Console(highlight=False, width=width)).table(columns, rows)


def _format_status(entry: RunEntry, waiting: Mapping[str, WaitingJobs]) -> str:
    marks: list[str] = [] if entry.info.status == "done" else [entry.info.status]
    marks += ["baseline"] if entry.notes.is_baseline else []
    if entry.info.id in waiting:
        marks.append(format_waiting(waiting[entry.info.id]))
    return ", ".join([*marks, *(f"#{tag}" for tag in entry.notes.tags)])


def format_waiting(waiting: WaitingJobs) -> str:
    """What a run waits for: `waits for 2 jobs (1,200 questions, sent 2026-11-16 09:12)`."""
    sent = datetime.fromtimestamp(waiting.since, UTC).strftime("%Y-%m-%d %H:%M")
    questions = format_count(waiting.requests, "question")
    return f"waits for {format_count(waiting.jobs, 'job')} ({questions}, sent {sent})"


def _format_leading(entry: RunEntry, group: Sequence[RunEntry]) -> str:
    """The metric that a report opens with, and its course over the earlier runs of the data set."""
    t = load_translator("en")
    known = {m.metric: m for m in entry.summary.metrics} if entry.summary is not None else {}
    names = [name for name in choose_headline(entry.info.metrics) if name in known]
    metric = next((known[name] for name in names if known[name].mean is not None), None)
    if metric is None:
        return "–"
    means = [earlier.mean for earlier in list_earlier(group, metric.metric, entry)[-12:]]
    course = f" {format_sparkline([SeriesPoint(0, 0, mean) for mean in means])}"
    # brackets as in reports: a figure of a part must not read as a finished one
    mean = t.number(metric.mean)
    is_whole = metric.complete and not entry.is_partial
    return f"{metric.metric} {mean if is_whole else f'({mean})'}{course if len(means) > 1 else ''}"


def _print_trends(entries: Sequence[RunEntry], metric: str, language: str) -> None:
    say = load_translator(language)
    names = {str(m["name"]) for entry in entries for m in entry.info.metrics}
    if metric not in names:
        raise UnknownMetric(
            f"no run has a metric {metric!r}{suggest_nearest(metric, sorted(names))}"
        )
    for group in group_by_data(entries).values():
        trend = build_trend(group, metric, name_data(group[0].info))
        if trend.points:
            print_trend(
                TrendView(trend, say),
                Console(highlight=False, width=None if sys.stdout.isatty() else 140),
            )


def _to_figures(entry: RunEntry, waiting: Mapping[str, WaitingJobs]) -> dict[str, Any]:
    jobs = waiting.get(entry.info.id)
    metrics = entry.summary.metrics if entry.summary is not None else ()
    return {
        "system": name_system(entry.info) or None,
        "tags": list(entry.notes.tags),
        "note": entry.notes.note,
        "baseline": entry.notes.is_baseline,
        "waiting": None if jobs is None else asdict(jobs),
        "figures": {
            metric.metric: {
                "mean": metric.mean, "low": metric.low, "high": metric.high,
                "scored": metric.scored, "applicable": metric.applicable, "complete": metric.complete,
            }
            for metric in metrics
        },
    }  # fmt: skip


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
