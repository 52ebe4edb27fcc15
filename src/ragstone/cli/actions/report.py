"""`ragstone report`: show a stored run or write its report."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.cli.actions.eval import show_summary
from ragstone.cli.actions.labels import add_label_file
from ragstone.cli.actions.shared import (
    check_language,
    choose_language,
    open_run,
    summarise_run,
    write_files,
)


def report_run(
    name: str,
    output: Sequence[str],
    language: str | None,
    labels: str | None,
    store_path: str | None,
) -> None:
    """Write the run's report into each file; without any, print its table."""
    run = open_run(name, store_path)
    add_label_file(labels, [run.stored])
    report_language = check_language(language) or choose_language(run.info.plan.language)
    if not output:
        show_summary(summarise_run(run), report_language)
    write_files(run, output, report_language)
