"""`ragstone monitor summary`"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone.cli.messages import Count, note
from ragstone.cli.monitor.archive import open_archive
from ragstone.cli.monitor.options import zone_option
from ragstone.cli.options import (
    store_option,
)
from ragstone.cli.progress import Bar
from ragstone.config.durations import parse_duration
from ragstone.monitor import Archive
from ragstone.monitor.interactions import from_micros, now_micros
from ragstone.monitor.rollups import refresh
from ragstone.monitor.statements import DAY_MICROS
from ragstone.monitor.windows.calendars import Period, get_time_zone, parse_local_time
from ragstone.monitor.windows.corrected import correct_window
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.monitor.windows.summary import summarise_periods, summarise_window
from ragstone.report.figures import describe_correction
from ragstone.report.translator import load_translator


@click.command("summary")
@click.option("--window", default="24h", show_default=True, metavar="LENGTH", help="How far back: 5m, 1h, 24h, 7d.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Where the window ends: 2026-05-01, 2026-05-01T12:00:00Z. Default: now.")  # fmt: skip
@click.option("--by", metavar="FIELD", help="Also by value of a meta field: model, tenant, language.")  # fmt: skip
@click.option("--where", metavar="FIELD=VALUE", help="Only the interactions of one slice.")
@click.option("--period", type=click.Choice(["day", "week", "month"]), help="One row for each day, week or month that the window touches.")  # fmt: skip
@zone_option("Time zone of days, weeks and months")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every statistic.")
@store_option
def command(
    by: str | None,
    where: str | None,
    period: Literal["day", "week", "month"] | None,
    **options: Any,
) -> None:
    """Show the quality of the last hours or days, whole and by slice."""
    if period is not None and by is not None:
        raise click.UsageError("give either --period or --by")
    field, sign, value = (where or "").partition("=")
    if where is not None and not (sign and field):
        raise click.UsageError(f"--where is {where!r}; write FIELD=VALUE")
    chosen_slice = None if where is None else (field, value)
    show_summary(by=by, where=chosen_slice, period=period, **options)


def show_summary(
    *,
    window: str,
    until: str | None,
    by: str | None,
    where: tuple[str, str] | None,
    period: Period | None,
    zone: str,
    as_json: bool,
    store: str | None,
) -> None:
    """Print one window and the same by the values of a field, or a row for each day, week or month of it."""
    archive, end = _open_refreshed(window, until, zone, store)
    if period is not None:
        start = end - parse_duration(window)
        windows = summarise_periods(archive, period, start, end, zone=zone, where=where)
        if as_json:
            click.echo(json.dumps([row.to_dict() for row in windows], indent=2))
        else:
            _print_table([(_format_day(row.since, zone), row) for row in windows])
        return
    summary = summarise_window(archive, window, until=end, by=by, where=where)
    since = end - parse_duration(window)
    corrections = correct_window(archive, since, end, where=where)
    if as_json:
        corrected = {name: asdict(correction) for name, correction in corrections.items()}
        click.echo(json.dumps(summary.to_dict() | {"corrected": corrected}, indent=2))
        return
    whole = summary.whole
    rows = [(f"{whole.field}={whole.value}" if whole.field else "all", whole)]
    rows += [(f"{part.field}={part.value}", part) for part in summary.slices]
    _print_table(rows)
    words = load_translator("en")
    for name, correction in corrections.items():
        for remark in describe_correction(correction, "corrected_mean", words):
            click.echo(f"{name}: {remark.text}")
    if summary.more:
        more = Count(summary.more, "more value")
        note("and {more} of {by}; --where {by}=VALUE shows one", more=more, by=by)


def _open_refreshed(
    window: str, until: str | None, zone: str, store: str | None
) -> tuple[Archive, int]:
    """The archive with the window's roll-ups up to date, and where the window ends."""
    archive = open_archive(store)
    end = now_micros() if until is None else parse_local_time(until, zone)
    length = parse_duration(window)
    get_time_zone(zone)  # an unknown zone is reported before any work is done
    with Bar() as bar:
        refresh(
            archive, end - length, end, progress=bar.build_counter("adding up five-minute steps")
        )
    return archive, end


def _print_table(rows: Sequence[tuple[str, Window]]) -> None:
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("", "n", "mean", "95 % interval", "p50", "p95", "scored", "trend"):
        table.add_column(head, justify="right" if head else "left", no_wrap=bool(head))
    for name, window in rows:
        table.add_row(f"[bold]{escape(name)}[/bold]", f"{window.interactions:,}")
        if window.failed:
            table.add_row("  failed", f"{window.failed:,}")
        series = [*window.metrics.values()]
        measures = (window.feedback, window.latency, window.cost, window.tokens)
        series += [measure for measure in measures if measure is not None]
        for stats in series:
            table.add_row(*_format_cells(stats, window.until - window.since))
    console.print(table)


def _format_cells(stats: SeriesStats, length: int) -> list[str]:
    """A row of the table; the trend is the change over the data of the window, with a question mark when it may be chance."""
    interval = ""
    if stats.low is not None and stats.high is not None:
        interval = f"{_format_number(stats.low)}–{_format_number(stats.high)}"
    trend = ""
    if stats.trend is not None:
        # slopes are per day, and nothing is said of days without data
        change = stats.trend.slope * min(length / DAY_MICROS, stats.trend.days)
        trend = f"{change:+.3f}" if abs(change) < 100 else f"{change:+,.0f}"
        trend += "" if stats.trend.is_moving else "?"
    return [
        f"  {escape(stats.name)}",
        f"{stats.scored:,}",
        _format_number(stats.mean),
        interval,
        _format_number(stats.percentiles.get("p50")),
        _format_number(stats.percentiles.get("p95")),
        "" if stats.coverage is None else f"{stats.coverage:.0%}",
        trend,
    ]


def _format_number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"


def _format_day(at: int, zone: str) -> str:
    return from_micros(at).astimezone(get_time_zone(zone)).date().isoformat()
