"""`ragstone monitor report`: a day, a week or a month."""

from __future__ import annotations

import click

from ragstone.cli.options import note, store_option


@click.command("report")
@click.option("--period", type=click.Choice(["daily", "weekly", "monthly"]), default="weekly", show_default=True, help="What the report is about.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Of the last period that was over then: 2026-05-01. Default: now.")  # fmt: skip
@click.option("--zone", default="UTC", show_default=True, help="Time zone of days, weeks and months: Europe/Madrid.")  # fmt: skip
@click.option("-o", "--output", multiple=True, metavar="FILE", help="Write a file: .html .md. May be repeated. Default: Markdown here.")  # fmt: skip
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(
    period: str,
    until: str | None,
    zone: str,
    output: tuple[str, ...],
    language: str | None,
    store: str | None,
) -> None:
    """Report on the last day, week or month against the one before.

    Metrics with intervals and verdicts, trends, alerts, failure classes, worst interactions, cost and advice."""
    from pathlib import Path

    from ragstone.cli.options import report_language
    from ragstone.monitor import Archive
    from ragstone.monitor.interactions import micros
    from ragstone.monitor.windows.summary import moment_of
    from ragstone.report.files import write_text
    from ragstone.report.monitor.period import check_ending, read, rendered
    from ragstone.store import Store

    for path in output:
        check_ending(path)
    archive = Archive(Store.open(store, must_exist=True))
    end = micros() if until is None else moment_of(until, zone)
    whole = read(archive, period, end, zone)
    spoken = report_language(language)
    if not output:
        click.echo(rendered(whole, ".md", spoken), nl=False)
    for path in output:
        write_text(path, rendered(whole, Path(path).suffix.lower(), spoken))
        first, last = whole.report.dates()
        note(f"wrote {path}: {first} to {last}")
