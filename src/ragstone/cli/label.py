"""Options of `ragstone label`: a person labels claims, chunks or answers of a run in the terminal."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option


@click.command("label")
@click.argument("run", default="last")
@click.option(
    "--next",
    "count",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="How many to label now.",
)
@click.option(
    "--on",
    "target",
    default="claim",
    show_default=True,
    type=click.Choice(["claim", "chunk", "support", "correctness", "relevance", "refusal"]),
    help="What to label.",
)
@click.option(
    "--random",
    "random_share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="Share drawn at random; statistics need it. The rest is where the judge is unsure.",
)
@click.option(
    "--against",
    metavar="RUN",
    help="A run of the same samples with another judge: label where the two disagree.",
)
@click.option("--author", metavar="NAME", help="Your name [default: the account's].")
@store_option
def command(
    run: str,
    count: int,
    target: str,
    random_share: float,
    against: str | None,
    author: str | None,
    store: str | None,
) -> None:
    """Label claims, chunks or answers of a run with the keyboard.

    RUN is its id, the start of its id, its name, or `last` (the default). Every label is stored as it is given: quit at any
    time, the same command resumes."""
    from ragstone.cli.actions.label import label_run

    label_run(run, count, target, random_share, against, author, store)
