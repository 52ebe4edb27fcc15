"""Options of `ragstone metrics`: what each metric means, needs and takes."""

from __future__ import annotations

import inspect
import json
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragstone.metrics import REGISTERED, resolve
from ragstone.registry import Metric, describe_options


@click.command("metrics")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the metrics, or explain one.

    NAME is a metric as you would type it after -m: recall, recall@5, or your own module:function."""
    metrics = [resolve(name)] if name else list(REGISTERED.values())
    if as_json:
        facts = [to_json(metric) for metric in metrics]
        click.echo(json.dumps(facts[0] if name else facts, ensure_ascii=False, indent=2))
        return
    console = Console(highlight=False)
    if name:
        _explain_metric(console, metrics[0])
    else:
        _list_metrics(console, metrics)


TABLE_MIN_COLUMNS = 110
"""Terminal width from which a table of four columns reads well."""


def to_json(metric: Metric) -> dict[str, Any]:
    """A metric as plain data."""
    return {
        "name": metric.name,
        "meaning": metric.meaning,
        "needs": list(metric.needs),
        "may_use": [field for field in metric.takes if field not in metric.needs],
        "options": {
            option: {"value": metric.options[option], "accepts": words}
            for option, words in describe_options(metric).items()
        },
        "higher_is_better": metric.higher_is_better,
        "range": list(metric.bounds) if metric.bounds else None,
        "judged": metric.judged,
        "extra": metric.extra,
        "labels": list(metric.labels),
    }


def _list_metrics(console: Console, metrics: list[Metric]) -> None:
    plain = [metric for metric in metrics if not metric.judged]
    judged = [metric for metric in metrics if metric.judged]
    for heading, group in (("Without a judge", plain), ("With a judge", judged)):
        if not group:
            continue
        if console.is_terminal:
            console.print(heading, style="bold")
        # Tabs for `cut` and `grep`; colours and boxes are for people.
        if not console.is_terminal:
            for metric in group:
                click.echo("\t".join(_list_cells(metric)))
        elif console.width < TABLE_MIN_COLUMNS:
            _print_stacked(console, group)
        else:
            _print_table(console, group)
        if console.is_terminal:
            console.print()
    if console.is_terminal:
        console.print("ragstone metrics NAME explains one and its options.", style="dim")


def _list_cells(metric: Metric) -> tuple[str, str, str, str]:
    """Name, needs, direction and meaning, as they stand in a list."""
    cut = "[@k]" if "k" in metric.options else ""
    options = [option for option in metric.options if option != "k"]
    more = f" Options: {', '.join(options)}." if options else ""
    extra = f" Needs ragstone[{metric.extra}]." if metric.extra else ""
    needs = ", ".join(metric.needs) or "–"
    return metric.name + cut, needs, _name_direction(metric), metric.meaning + more + extra


def _print_table(console: Console, metrics: list[Metric]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="cyan", width=30)
    table.add_column(width=20)
    table.add_column(no_wrap=True, width=6)
    table.add_column(ratio=1)
    for metric in metrics:
        table.add_row(*map(Text, _list_cells(metric)))
    console.print(table)


def _print_stacked(console: Console, metrics: list[Metric]) -> None:
    """Two lines a metric, for terminals too narrow for four columns."""
    for metric in metrics:
        name, needs, better, meaning = _list_cells(metric)
        better = "" if better == "higher" else f", {better} is better"
        console.print(Text.assemble((name, "cyan"), (f"  {needs}{better}", "dim")))
        console.print(Padding(Text(meaning), (0, 0, 0, 4)))


def _explain_metric(console: Console, metric: Metric) -> None:
    console.print(Text(metric.name, style="bold cyan"))
    console.print(Text(inspect.getdoc(metric.function) or "No description."))
    may_use = [field for field in metric.takes if field not in metric.needs]
    low, high = metric.bounds or (None, None)
    facts = {
        "needs": ", ".join(metric.needs) or "nothing",
        "may use": ", ".join(may_use),
        "better": f"{_name_direction(metric)}, "
        + (f"{low:g} to {high:g}" if metric.bounds else "any number"),
        "asks a judge": "yes" if metric.judged else "no",
        "extra": f"pip install 'ragstone[{metric.extra}]'" if metric.extra else "",
        "categories": ", ".join(metric.labels),
    }
    console.print()
    for key, value in facts.items():
        if value:
            console.print(Text.assemble((f"{key:<13}", "bold"), value))
    for option, words in describe_options(metric).items():
        value = _format_value(metric.options[option])
        console.print(
            Text.assemble((f"{'option':<13}", "bold"), f"{option}={value}", f"  ({words})")
        )


def _name_direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def _format_value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
