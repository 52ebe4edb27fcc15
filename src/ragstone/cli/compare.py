"""Options of `ragstone compare`: which run is better, and is that more than chance?"""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import (
    correction_option,
    details_option,
    labels_option,
    output_option,
    primary_option,
    store_option,
)


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--baseline", metavar="RUN", help="Compare the others with this one [default: the first]."
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="Only these metrics. May be repeated or comma-separated.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=0.02,
    show_default=True,
    help="Differences up to this share of a metric's range do not matter.",
)
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    help="Say how many questions a difference of this size needs [default: the margin].",
)
@primary_option
@correction_option
@click.option(
    "--plain-intervals",
    is_flag=True,
    help="Show the 95% interval of each difference alone; verdicts stay corrected.",
)
@click.option(
    "--unpaired",
    is_flag=True,
    help="The runs are sets of different samples: two weeks, two slices of users.",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare runs in which the values of claim metrics mean different things.",
)
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Share of the pairs that must be scored on both sides for a verdict.",
)
@click.option(
    "--fail-on-regression",
    is_flag=True,
    help="Exit with 1 when a run is worse than the baseline, with 3 when a verdict is withheld.",
)
@click.option(
    "--samples",
    type=click.IntRange(0, 500),
    default=20,
    show_default=True,
    help="Samples that moved most to show, each way.",
)
@click.option("--judge", metavar="JUDGE", help="Also ask a judge which answer is better, in both orders: openai:MODEL, local, …")  # fmt: skip
@click.option("--base-url", metavar="URL", help="Where the judge's server listens.")
@click.option("--small", is_flag=True, help="The judge is a small model: one token a question.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Concurrent requests to the judge.")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking the judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking the judge after N calls.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what the judge would be asked, and stop.")
@output_option("comparison")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("--quiet", "-q", is_flag=True, help="Print no tables.")
@labels_option
@store_option
def command(runs: tuple[str, ...], **flags: Any) -> int:
    """Compare runs: which is better, and is that more than chance?

    A RUN is named by its id, the start of its id, its name, or `last`. Samples are matched by id; with --unpaired they
    are not. With --judge a judge also sees the answers side by side; more than two runs are ranked. In GitHub Actions the result also becomes the step's summary, with an annotation for each regression."""  # fmt: skip
    from ragstone.cli.actions.compare import compare_runs

    return compare_runs(runs, flags)
