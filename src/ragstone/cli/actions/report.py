"""`ragstone report`: show a stored run or write its report."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.cli.eval import show_summary
from ragstone.cli.options import known_language, open_run, report_language, summed_up, write_files


def report_run(name: str, output: Sequence[str], language: str | None, place: str | None) -> None:
    """Write the run's report into each file; without any, print its table."""
    run = open_run(name, place)
    spoken = known_language(language) or report_language(run.info.plan.get("language"))
    if not output:
        show_summary(summed_up(run), spoken)
    write_files(run, output, spoken)
