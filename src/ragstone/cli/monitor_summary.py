"""`ragstone monitor summary`: a window in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragstone.cli.options import counted, note, store_option

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.monitor.windows.summary import Figure, Summary, Window


@click.command("summary")
@click.option("--window", default="24h", show_default=True, metavar="LENGTH", help="How far back: 5m, 1h, 24h, 7d.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Where the window ends: 2026-05-01, 2026-05-01T12:00:00Z. Default: now.")  # fmt: skip
@click.option("--by", metavar="FIELD", help="Also by value of a meta field: model, tenant, language.")  # fmt: skip
@click.option("--where", metavar="FIELD=VALUE", help="Only the interactions of one slice.")
@click.option("--period", type=click.Choice(["day", "week", "month"]), help="One row for each day, week or month that the window touches.")  # fmt: skip
@click.option("--zone", default="UTC", show_default=True, help="Time zone of days, weeks and months: Europe/Madrid.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every figure.")
@store_option
def command(
    window: str,
    until: str | None,
    by: str | None,
    where: str | None,
    period: str | None,
    zone: str,
    as_json: bool,
    store: str | None,
) -> None:
    """Say how good the last hours or days were, whole and by slice."""
    import json

    from ragstone.cli.progress import Bar
    from ragstone.monitor import Archive
    from ragstone.monitor.interactions import micros
    from ragstone.monitor.rollups.refresh import refresh
    from ragstone.monitor.windows.summary import duration, moment_of, periods, summary, time_zone
    from ragstone.store import Store

    archive = Archive(Store.open(store, must_exist=True))
    end = micros() if until is None else moment_of(until, zone)
    slice = _slice(where)
    length = duration(window)
    time_zone(zone)  # a mistake is told before any work is done
    with Bar() as bar:
        refresh(archive, end - length, end, progress=bar.counts("adding up five-minute steps"))
    if period is not None:
        if by is not None:
            raise click.UsageError("give either --period or --by")
        rows = periods(archive, period, end - length, end, zone=zone, where=slice)  # type: ignore[arg-type]
        if as_json:
            click.echo(json.dumps([one.to_dict() for one in rows], indent=2))
        else:
            _show([(_day(one.since, zone), one) for one in rows])
        return
    found = summary(archive, window, until=end, by=by, where=slice)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2))
    else:
        _show(_named(found))
        if found.more:
            note(f"and {counted(found.more, 'more value')} of {by}; --where {by}=VALUE shows one")


def _slice(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    field, sign, value = text.partition("=")
    if not sign or not field:
        raise click.UsageError(f"--where is {text!r}; write FIELD=VALUE")
    return field, value


def _named(found: Summary) -> list[tuple[str, Window]]:
    whole = f"{found.whole.field}={found.whole.value}" if found.whole.field else "all"
    return [(whole, found.whole), *((f"{one.field}={one.value}", one) for one in found.slices)]


def _show(rows: list[tuple[str, Window]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console: Console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("", "n", "mean", "95 % interval", "p50", "p95", "scored", "trend"):
        table.add_column(head, justify="right" if head else "left", no_wrap=bool(head))
    for name, window in rows:
        table.add_row(f"[bold]{escape(name)}[/bold]", f"{window.interactions:,}")
        if window.failed:
            table.add_row("  failed", f"{window.failed:,}")
        figures: list[Figure | None] = [*window.metrics.values()]
        figures += [window.feedback, window.latency, window.cost, window.tokens]
        for figure in figures:
            if figure is not None:
                table.add_row(*_cells(figure, window.until - window.since))
    console.print(table)


def _cells(figure: Figure, length: int) -> list[str]:
    """A row of the table; the trend is the change over the whole window, with a question mark when it may be chance."""
    from rich.markup import escape

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"

    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f"{number(figure.low)}–{number(figure.high)}"
    slope = ""
    if figure.trend is not None:
        change = figure.trend.slope * length / 86_400_000_000
        slope = (f"{change:+.3f}" if abs(change) < 100 else f"{change:+,.0f}") + (
            "" if figure.trend.moving else "?"
        )
    coverage = "" if figure.coverage is None else f"{figure.coverage:.0%}"
    at = figure.percentiles
    return [
        f"  {escape(figure.name)}", f"{figure.scored:,}", number(figure.mean), interval, number(at.get("p50")),
        number(at.get("p95")), coverage, slope,
    ]  # fmt: skip


def _day(at: int, zone: str) -> str:
    from ragstone.monitor.interactions import from_micros
    from ragstone.monitor.windows.summary import time_zone

    return from_micros(at).astimezone(time_zone(zone)).date().isoformat()
