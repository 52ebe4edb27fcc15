"""Options of `ragstone bench`: run named configurations on one test set and compare them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from ragstone.cli.compare import present_comparison
from ragstone.cli.messages import Count, note
from ragstone.cli.options import (
    check_outputs,
    correction_option,
    details_option,
    output_option,
    primary_option,
    store_option,
)
from ragstone.cli.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.shared import choose_language
from ragstone.config.benchmark import load_benchmark
from ragstone.engine.sync import run_sync
from ragstone.experiments.bench import Bench, bench_plan


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
@primary_option
@correction_option
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when a run is worse than the baseline, with 3 when a verdict is withheld.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@output_option("comparison")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(config: str, **flags: Any) -> int:
    """Run named configurations on one test set and compare them.

    FILE is a YAML file: data, metrics, judge, system and configurations (NAME: {setting: value}). Interrupted, the same
    command resumes where it stopped."""
    benchmark = load_benchmark(config)
    plan = benchmark.plan
    flags["output"] = flags["output"] or plan.output
    check_outputs("comparison", flags["output"])
    if plan.data.path is None:
        raise click.UsageError(f"{config} names no data; add data: FILE")
    limit = flags["limit"] or plan.data.limit
    plan = replace(plan, data=replace(plan.data, limit=limit), store=flags["store"] or plan.store)
    with stdout_to_stderr():  # a system that prints must not write into our report
        benchmark_result = run_sync(
            lambda: bench_plan(
                plan,
                benchmark.configurations,
                baseline=flags["baseline"] or benchmark.baseline,
                primary=flags["primary"] or benchmark.primary,
                margin=flags["margin"],
                correction=flags["correction"],
                watch=show_progress_lines(quiet=flags["quiet"]),
            )
        )
    _note_runs(benchmark_result, quiet=flags["quiet"])
    result = benchmark_result.result
    if result is None:  # a single configuration: nothing to compare
        return 0
    present_comparison(result, flags, choose_language(flags["language"], plan.language))
    return result.comparison.exit_code if flags["fail_on_regression"] else 0


def _note_runs(benchmark_result: Bench, *, quiet: bool) -> None:
    if not quiet and sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    for name, run in benchmark_result.runs.items():
        note(
            "{name}: {samples}, run {id}",
            name=name,
            samples=Count(run.info.total or 0, "sample"),
            id=run.id,
            quiet=quiet,
        )
