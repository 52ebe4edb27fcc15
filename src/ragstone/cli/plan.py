"""Options of `ragstone plan`: how many questions it takes to detect a difference, before any is paid for."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import store_option


@click.command("plan")
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    required=True,
    help="The difference that should not be missed, in the metric's own units: 0.03.",
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A stored run of such questions; named twice, two of them, whose difference is measured.",
)
@click.option(
    "-m", "--metric", metavar="METRIC", help="The metric that decides; needed with --run."
)
@click.option(
    "--power",
    type=click.FloatRange(0.05, 0.999),
    default=0.8,
    show_default=True,
    help="How often a study should notice such a difference.",
)
@click.option(
    "--comparisons",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Differences that the study will show: runs times metrics.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the answer: en, es.")
@store_option
def command(runs: tuple[str, ...], effect: float, **flags: Any) -> None:
    """Estimate how many questions it takes to detect a difference.

    Without a run it assumes the worst: a yes-or-no metric at 50 %."""  # fmt: skip
    from ragstone.cli.actions.plan import show_need

    show_need(runs, effect, flags)
