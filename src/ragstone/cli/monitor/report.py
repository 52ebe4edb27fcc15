"""`ragstone monitor report`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ragstone import report
from ragstone.cli.messages import note
from ragstone.cli.monitor.archive import open_archive
from ragstone.cli.monitor.options import language_option, zone_option
from ragstone.cli.options import (
    check_outputs,
    output_option,
    store_option,
)
from ragstone.cli.shared import choose_language
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.report import markdown


@click.command("report")
@click.option("--period", type=click.Choice(["daily", "weekly", "monthly"]), default="weekly", show_default=True, help="What the report is about.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Of the last period that was over then: 2026-05-01. Default: now.")  # fmt: skip
@zone_option("Time zone of days, weeks and months")
@output_option("period", "Markdown here")
@language_option("Language of the report")
@store_option
def command(output: tuple[str, ...], **options: Any) -> None:
    """Report on the last day, week or month against the one before.

    Metrics with intervals and verdicts, trends, alerts, failure classes, worst interactions, cost and advice."""
    check_outputs("period", output)
    write_period_report(output=output, **options)


def write_period_report(
    period: str,
    until: str | None,
    zone: str,
    output: Sequence[str],
    language: str | None,
    store: str | None,
) -> None:
    """Write the report of the last complete period to files, or print it as Markdown."""
    archive = open_archive(store)
    end = now_micros() if until is None else parse_local_time(until, zone)
    analysis = analyse_period(archive, period, end, zone)
    language = choose_language(language)
    if not output:
        click.echo(markdown.render(report.open_page(analysis, language)), nl=False)
    for path in output:
        report.write(analysis, path, language=language)
        first, last = analysis.report.dates()
        note("wrote {path}: {first} to {last}", path=path, first=first, last=last)
