"""`ragstone report`: a stored run as a page, a table or a file."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ragstone import report
from ragstone.analysis.headline import MAX_CLASSIFIED
from ragstone.cli.label.import_ import add_label_file
from ragstone.cli.options import details_option, labels_option, output_option, store_option
from ragstone.cli.shared import (
    check_language,
    choose_language,
    open_run,
    summarise_run,
    write_files,
)


@click.command("report")
@click.argument("run", default="last")
@output_option("run", "a table here")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@labels_option
@store_option
def command(
    run: str,
    output: tuple[str, ...],
    language: str | None,
    labels: str | None,
    store: str | None,
    details: bool,
) -> None:
    """Write the report of a stored run as a page, table or file.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    report_run(run, output, language, labels, store, details)


def report_run(
    name: str,
    output: Sequence[str],
    language: str | None,
    labels: str | None,
    store_path: str | None,
    details: bool,
) -> None:
    """Write the run's report into each file; without any, print its table."""
    run = open_run(name, store_path)
    add_label_file(labels, [run.stored])
    report_language = check_language(language) or choose_language(run.info.plan.language)
    if not output:
        # the sentences and the worst claims of a huge run would be waited for
        is_opened = summarise_run(run).samples <= MAX_CLASSIFIED
        report.show(run, language=report_language, details=details, is_opened=is_opened)
    write_files(run, output, report_language)
