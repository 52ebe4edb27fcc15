"""`ragstone monitor report`: a day, a week or a month."""

from __future__ import annotations

import click

from ragstone.cli.actions.messages import note
from ragstone.cli.options import check_outputs, output_option, store_option


@click.command("report")
@click.option("--period", type=click.Choice(["daily", "weekly", "monthly"]), default="weekly", show_default=True, help="What the report is about.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Of the last period that was over then: 2026-05-01. Default: now.")  # fmt: skip
@click.option("--zone", default="UTC", show_default=True, help="Time zone of days, weeks and months: Europe/Madrid.")  # fmt: skip
@output_option("period", "Markdown here")
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
    from ragstone.cli.actions.shared import choose_language
    from ragstone.monitor import Archive
    from ragstone.monitor.interactions import now_micros
    from ragstone.monitor.windows.calendars import parse_local_time
    from ragstone.report.builders.monitor_period import MonitorReport
    from ragstone.report.formats import write_report
    from ragstone.report.monitor.period import analyse_period
    from ragstone.report.render import markdown
    from ragstone.store import Store

    check_outputs("period", output)
    archive = Archive(Store.open(store, must_exist=True))
    end = now_micros() if until is None else parse_local_time(until, zone)
    report = MonitorReport(analyse_period(archive, period, end, zone), choose_language(language))
    if not output:
        click.echo(markdown.render(report.document()), nl=False)
    for path in output:
        write_report(report, path)
        first, last = report.analysis.report.dates()
        note(f"wrote {path}: {first} to {last}")
