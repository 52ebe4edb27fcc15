"""Options of `ragstone bench`: run named configurations on one test set and compare them."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import (
    correction_option,
    details_option,
    output_option,
    primary_option,
    store_option,
)


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
    from ragstone.cli.actions.bench import run_benchmark

    return run_benchmark(config, flags)
