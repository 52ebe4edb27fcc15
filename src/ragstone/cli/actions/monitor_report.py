"""`ragstone monitor report`: the report of a day, week or month."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ragstone.cli.actions.monitor_plan import open_archive
from ragstone.cli.options import note, report_language
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.report.files import write_text
from ragstone.report.monitor.period import check_ending, read, rendered


def write_period_report(
    period: str,
    until: str | None,
    zone: str,
    output: Sequence[str],
    language: str | None,
    store: str | None,
) -> None:
    """Write the report of the last complete period to files, or print it as Markdown."""
    for path in output:
        check_ending(path)
    archive = open_archive(store)
    end = now_micros() if until is None else parse_local_time(until, zone)
    report = read(archive, period, end, zone)
    spoken = report_language(language)
    if not output:
        click.echo(rendered(report, ".md", spoken), nl=False)
    for path in output:
        write_text(path, rendered(report, Path(path).suffix.lower(), spoken))
        first, last = report.report.dates()
        note(f"wrote {path}: {first} to {last}")
