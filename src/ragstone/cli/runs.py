"""Options of `ragstone runs` and its subcommands: list, show and delete stored runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragstone import report
from ragstone.cli.messages import Count, format_count, note
from ragstone.cli.options import F, store_option
from ragstone.cli.progress import show_waiting
from ragstone.cli.shared import check_language, choose_language, open_run, summarise_run
from ragstone.errors import DataError, UnknownMetric, suggest_nearest
from ragstone.report.monitor.charts import SeriesPoint, format_sparkline
from ragstone.report.terminal import print_trend
from ragstone.report.translator import load_translator
from ragstone.report.view.catalogue import (
    RunEntry,
    group_by_data,
    list_earlier,
    load_entries,
    name_data,
    name_system,
)
from ragstone.report.view.summaries import SummaryShelf
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
    """List the runs, newest first, with their figures.

    Each metric has its mean, its interval and its course over the earlier runs of the same data set."""
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
    elif sys.stdout.isatty():
        _print_blocks(entries, waiting)
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


def _print_blocks(entries: Sequence[RunEntry], waiting: Mapping[str, WaitingJobs]) -> None:
    """A few lines for each run: ten columns would not fit beside each other on a terminal."""
    console = Console(highlight=False)
    groups = group_by_data(entries)
    for entry in entries:
        info = entry.info
        facts = [
            name_data(info), name_system(info), info.judge, info.created[:16].replace("T", " "),
            format_count(entry.count_samples(), "sample"), _format_status(entry, waiting),
            f"{info.usage.usd:,.2f} usd" if info.usage.usd else "",
        ]  # fmt: skip
        console.print(Text.assemble((info.id, "bold"), "  ", info.name))
        console.print(Padding(Text(" · ".join(filter(None, facts)), style="dim"), (0, 0, 0, 2)))
        metrics = "; ".join(_format_metrics(entry, groups[entry.data]))
        if metrics:
            console.print(Padding(Text(metrics), (0, 0, 0, 2)))


def _print_table(entries: Sequence[RunEntry], waiting: Mapping[str, WaitingJobs]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name, more in _COLUMNS.items():
        table.add_column(name, **more)
    groups = group_by_data(entries)
    for entry in entries:
        info = entry.info
        table.add_row(
            Text(info.id), Text(info.name), Text(name_data(info)), Text(name_system(info)),
            Text(info.judge or ""), info.created[:16].replace("T", " "), f"{entry.count_samples():,}",
            _format_status(entry, waiting), f"{info.usage.usd:,.2f}" if info.usage.usd else "",
            Text(", ".join(_format_metrics(entry, groups[entry.data]))),
        )  # fmt: skip
    # In a pipe rich would fold at 80 columns, and scripts read whole lines.
    Console(highlight=False, width=200).print(table)


_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "run": {"no_wrap": True}, "name": {"overflow": "fold"}, "data": {"overflow": "fold"},
    "system": {"overflow": "fold"}, "judge": {"overflow": "fold"}, "date": {}, "samples": {"justify": "right", "no_wrap": True},
    "status": {"no_wrap": True}, "usd": {"justify": "right", "no_wrap": True}, "metrics": {"ratio": 1},
}  # fmt: skip


def _format_status(entry: RunEntry, waiting: Mapping[str, WaitingJobs]) -> str:
    marks = ["baseline"] if entry.notes.is_baseline else []
    if entry.info.id in waiting:
        marks.append(format_waiting(waiting[entry.info.id]))
    return ", ".join([entry.info.status, *marks, *(f"#{tag}" for tag in entry.notes.tags)])


def format_waiting(waiting: WaitingJobs) -> str:
    """What a run waits for: `waits for 2 jobs (1,200 questions, sent 2026-11-16 09:12)`."""
    sent = datetime.fromtimestamp(waiting.since, UTC).strftime("%Y-%m-%d %H:%M")
    questions = format_count(waiting.requests, "question")
    return f"waits for {format_count(waiting.jobs, 'job')} ({questions}, sent {sent})"


def _format_metrics(entry: RunEntry, group: Sequence[RunEntry]) -> Iterator[str]:
    """Each metric with its mean and interval, and its course over the earlier runs of the data set."""
    say = load_translator("en")
    for metric in entry.summary.metrics if entry.summary is not None else ():
        if metric.mean is None:
            yield metric.metric
            continue
        ends = f" ({say.interval(metric.low, metric.high)})" if metric.low is not None else ""
        mean = say.number(metric.mean)
        points = [
            SeriesPoint(0, 0, earlier.mean)
            for earlier in list_earlier(group, metric.metric, entry)[-12:]
        ]
        course = f" {format_sparkline(points)}" if len(points) > 1 else ""
        # brackets as in reports: a figure of a part must not read as a finished one
        is_whole = metric.complete and not entry.is_partial
        yield f"{metric.metric} {mean if is_whole else f'({mean})'}{ends}{course}"


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
