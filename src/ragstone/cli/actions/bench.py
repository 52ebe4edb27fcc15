"""`ragstone bench`: execute the benchmark of a config file, and progress lines for commands that run several systems."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from ragstone.cli.actions.compare import present_comparison
from ragstone.cli.actions.messages import Count, note
from ragstone.cli.actions.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.config.benchmark import load_benchmark
from ragstone.engine.sync import run_sync
from ragstone.experiments.bench import Bench, bench_plan


def run_benchmark(config: str, flags: dict[str, Any]) -> int:
    """Execute the benchmark of a config file and present the comparison; returns the exit code.

    `flags` are the options that cli/bench.py declares, by parameter name."""
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
