"""`ragstone report`: show a stored run or write its report."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone import report
from ragstone.cli.actions.labels import add_label_file
from ragstone.cli.actions.progress import show_waiting
from ragstone.cli.actions.shared import (
    check_language,
    choose_language,
    open_run,
    write_files,
)


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
        with show_waiting(f"summing up {run.info.name}"):
            run.summary()
        report.show(run, language=report_language, details=details)
    write_files(run, output, report_language)
