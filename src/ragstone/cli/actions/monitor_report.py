"""`ragstone monitor report`: the report of a day, week or month."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ragstone import report
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.monitor_plan import open_archive
from ragstone.cli.actions.shared import choose_language
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.report import markdown


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
