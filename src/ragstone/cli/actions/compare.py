"""`ragstone compare`: compare stored runs, show and write the result."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from ragstone import report
from ragstone.analysis.comparison import attach_corrections
from ragstone.cli.actions.labels import add_label_file
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.preferences import (
    add_preferences,
    check_judge_flags,
    show_preference_estimate,
)
from ragstone.cli.actions.progress import show_waiting
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.experiments.compare import ComparisonResult, compare
from ragstone.experiments.tune import TuningResult
from ragstone.labels import correct_difference
from ragstone.report import markdown
from ragstone.report.comparison import github
from ragstone.store import Store, StoredRun


def compare_runs(names: Sequence[str], flags: Mapping[str, Any]) -> int:
    """Compare the named runs and return the exit code.

    `flags` are the options that cli/compare.py declares, by parameter name."""
    check_outputs("comparison", flags["output"])
    check_judge_flags(flags)
    runs, baseline_index = _open_runs(names, flags["baseline"], flags["store"])
    add_label_file(flags["labels"], runs)
    if flags["dry_run"]:
        show_preference_estimate(runs, baseline_index, flags)
        return 0
    metrics = [name.strip() for text in flags["metrics"] for name in text.split(",")]
    with show_waiting("comparing", quiet=flags["quiet"]):
        result = compare(
            runs,
            baseline=baseline_index,
            metrics=[name for name in metrics if name] or None,
            primary=flags["primary"],
            margin=flags["margin"],
            effect=flags["effect"],
            correction=flags["correction"],
            floor=flags["floor"],
            samples=flags["samples"],
            unpaired=flags["unpaired"],
            anyway=flags["anyway"],
        )
    if not flags["unpaired"]:
        base = runs[baseline_index]
        corrections = {run.id: correct_difference(base, run) for run in runs if run is not base}
        comparison = attach_corrections(result.comparison, corrections)
        result = replace(result, comparison=comparison)
    if flags["judge"] is not None:
        result = add_preferences(result, runs, baseline_index, flags)
    language = choose_language(flags["language"], runs[baseline_index].info.plan.language)
    present_comparison(result, flags, language)
    return result.comparison.exit_code if flags["fail_on_regression"] else 0


def present_comparison(
    result: ComparisonResult | TuningResult, flags: Mapping[str, Any], language: str
) -> None:
    """Show the comparison, write its files, and report to GitHub Actions when it runs there.

    Every command that compares passes its own flags: all have `output` and `quiet`; `details`, `as_json`,
    `plain_intervals` and `fail_on_regression` exist only in some."""
    options: dict[str, Any] = {"plain_intervals": True} if flags.get("plain_intervals") else {}
    if flags.get("as_json"):
        click.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    elif not flags["quiet"]:
        report.show(result, language=language, details=bool(flags.get("details")), **options)
    for path in flags["output"]:
        report.write(result, path, language=language, **options)
        note("wrote {path}", path=path, quiet=flags["quiet"])
    # Set by GitHub for each step. Workflow commands are lines of the log, so they are printed even with -q; JSON on
    # stdout must stay JSON, and the runner reads stderr too.
    summary_file = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary_file and result.comparison is not None:
        page = report.open_page(result, language, **options)
        github.append_summary(summary_file, markdown.render(page))
        is_error = bool(flags.get("fail_on_regression"))
        for line in github.build_commands(result.comparison, language, error=is_error):
            click.echo(line, err=bool(flags.get("as_json")))


def _open_runs(
    names: Sequence[str], baseline: str | None, store_path: str | None
) -> tuple[list[StoredRun], int]:
    """The runs, and the index of the baseline among them."""
    store = Store.open(store_path)
    runs = [store.run(name) for name in names]
    index = 0
    if baseline is not None:
        base = store.run(baseline)
        ids = [run.id for run in runs]
        if base.id not in ids:
            # A baseline that is not among the runs joins them; one that is keeps its place.
            runs.insert(0, base)
        else:
            index = ids.index(base.id)
    ids = [run.id for run in runs]
    repeated = next((run for run in runs if ids.count(run.id) > 1), None)
    if repeated is not None:
        raise click.UsageError(
            f"run {repeated.id} ({repeated.info.name}) is named twice; name each run once"
        )
    if len(runs) < 2:
        raise click.UsageError("a comparison needs at least two runs; name another")
    return runs, index
