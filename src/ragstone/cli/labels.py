"""Options of `ragstone labels` and its subcommands: import, export, compare and settle people's labels."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import raw_option, store_option


@click.group("labels")
def command() -> None:
    """Import, export and compare labels of people; settle where they disagree."""


@command.command("import")
@click.argument("file", metavar="FILE")
@click.option(
    "--run", metavar="RUN", help="The run whose samples are labelled [default: any with those ids]."
)
@click.option(
    "--on",
    "target",
    metavar="TARGET",
    help="What is labelled, if the file does not say: claim, chunk, support, correctness, relevance, refusal, preference, score, note.",
)
@click.option("--author", metavar="NAME", help="Who labelled what names nobody.")
@click.option("--scale", metavar="LOW..HIGH", help="The numbers people could give, such as 1..5.")
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Where a field of a label stands: sample=ticket. May be repeated.",
)
@store_option
def import_labels(file: str, **flags: Any) -> None:
    """Read labels from FILE (jsonl, json, csv, parquet) into the store.

    Exports of Phoenix, Langfuse, LangSmith and Argilla are recognised. `feedback` instead of a file takes what users of
    the monitored system said. The same label read twice is kept once."""
    from ragstone.cli.actions.labels import import_file

    import_file(file, flags)


@command.command()
@click.argument("file", metavar="FILE")
@click.option("--run", metavar="RUN", help="Only labels that count for this run.")
@click.option(
    "--revisions", is_flag=True, help="Every label ever given, not only those that count."
)
@raw_option
@store_option
def export(file: str, run: str | None, revisions: bool, raw: bool, store: str | None) -> None:
    """Write the labels to FILE: .jsonl, .json, .csv or .parquet."""
    from ragstone.cli.actions.labels import export_file

    export_file(file, run, revisions, raw, store)


@command.command()
@click.option("--run", metavar="RUN", help="Only labels that count for this run.")
@click.option(
    "--list",
    "listed",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Disagreements to list.",
)
@store_option
def agreement(run: str | None, listed: int, store: str | None) -> None:
    """Measure how far people agree, and list where they do not."""
    from ragstone.cli.actions.labels import show_agreement

    show_agreement(run, listed, store)


@command.command()
@click.option("--run", metavar="RUN", help="Only labels that count for this run.")
@click.option("--author", metavar="NAME", help="Who decides [default: the account's name].")
@store_option
def adjudicate(run: str | None, author: str | None, store: str | None) -> None:
    """Decide the items on which people disagree, one by one; the decision counts instead of their labels."""
    from ragstone.cli.actions.label import adjudicate_items

    adjudicate_items(run, author, store)
