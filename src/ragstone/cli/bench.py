"""`ragstone bench`: named configurations on one test set, then which is better."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import (
    check_outputs,
    counted,
    note,
    output_option,
    report_language,
    store_option,
)

if TYPE_CHECKING:
    from ragstone.experiments.bench import Bench

EVERY = 1.0
"""Seconds between two lines about one configuration on a terminal."""


@click.command("bench")
@click.argument("config", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@click.option("--baseline", metavar="NAME", help="Compare the others with this configuration.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=0.02,
    show_default=True,
    help="Differences up to this share of a metric's range do not matter.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    show_default=True,
    help="For how many differences are shown: Holm, Benjamini-Hochberg or none.",
)
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when a run is worse than the baseline, with 3 when a verdict is withheld.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@output_option("comparison")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(config: str, **flags: Any) -> int:
    """Run named configurations on one test set and compare them.

    FILE is a YAML file: data, metrics, judge, system and configurations (NAME: {setting: value}). Interrupted, the same
    command goes on where it was."""
    from ragstone.cli.compare import present
    from ragstone.cli.flags import judge_settings
    from ragstone.cli.progress import aside
    from ragstone.config import revealed
    from ragstone.config.benchmark import load_benchmark
    from ragstone.experiments.bench import bench

    found = load_benchmark(config)
    plan = found.plan
    flags["output"] = flags["output"] or plan.output
    check_outputs("comparison", flags["output"])
    if plan.data.path is None:
        raise click.UsageError(f"{config} names no data; add data: FILE")
    judged = any(metric.judged for metric in plan.metrics)
    with aside():
        done = bench(
            plan.data.path,
            found.configurations,
            plan.metrics or None,
            system=found.system,
            baseline=flags["baseline"] or found.baseline,
            judge=judge_settings(plan) if judged else None,
            store=revealed(flags["store"] or plan.store),
            margin=flags["margin"],
            correction=flags["correction"],
            watch=progress_lines(quiet=flags["quiet"]),
            language=plan.language,
            concurrency=plan.concurrency,
            limit=flags["limit"] or plan.data.limit,
            skip_bad_rows=plan.data.skip_bad_rows,
            format=plan.data.format,
            fields=plan.data.fields or None,
            floor=plan.floor,
        )
    _say_runs(done, quiet=flags["quiet"])
    if done.comparison is None:
        return 0
    runs = [run.stored for run in done.runs.values()]
    present(done.comparison, runs, flags, report_language(flags["language"], plan.language))
    return done.comparison.exit_code if flags["fail_on_regression"] else 0


def progress_lines(*, quiet: bool) -> Callable[[str, Any], None] | None:
    """A line for each configuration that is rewritten while it goes on; none when nobody looks."""
    if quiet or not sys.stderr.isatty():
        return None
    last: dict[str, Any] = {"name": None, "at": 0.0}

    def show(name: str, progress: Any) -> None:
        now = time.monotonic()
        if name == last["name"] and now - last["at"] < EVERY:
            return
        if last["name"] not in (None, name):
            click.echo(err=True)
        last.update(name=name, at=now)
        scoring = hasattr(progress, "usage")
        failed = f", {progress.failures:,} failed" if progress.failures else ""
        what = "scored" if scoring else "answered"
        click.echo(f"\r\x1b[K{name}: {progress.done:,} {what}{failed}", err=True, nl=False)

    return show


def _say_runs(done: Bench, *, quiet: bool) -> None:
    if not quiet and sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    for name, run in done.runs.items():
        note(f"{name}: {counted(run.info.total or 0, 'sample')}, run {run.id}", quiet=quiet)
