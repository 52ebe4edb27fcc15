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
    name: str, output: Sequence[str], language: str | None, labels: str | None, place: str | None
) -> None:
    """Write the run's report into each file; without any, print its table."""
    run = open_run(name, place)
    add_label_file(labels, [run.stored])
    spoken = check_language(language) or choose_language(run.info.plan.language)
    if not output:
        show_summary(summarise_run(run), spoken)
    write_files(run, output, spoken)
