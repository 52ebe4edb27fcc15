"""Options of `ragstone testset`: audit a test set, show its card, compare two versions of one."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import judge_options, output_option, reading_options, store_option


@click.group("testset")
def command() -> None:
    """Judge a test set: what is wrong with it, where it comes from, and how it differs from its last version."""


@command.command("check")
@click.argument("file")
@click.option("--documents", multiple=True, metavar="DOCS", help="The corpus: a folder, a file or a BEIR folder. May be repeated.")  # fmt: skip
@output_option("testset", "text here")
@click.option("--fix", "fix", metavar="FILE", help="Ask for each fix that was found, and write the set with those you accept to FILE (jsonl).")  # fmt: skip
@click.option("--accept", metavar="KIND,…", help="With --fix: accept the fixes of these kinds without asking (duplicate, leaked, …), or all.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@judge_options("Who reads the passages that may answer an item which is said to have no answer: openai:MODEL, … [default: nobody, figures alone decide].")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking the judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking the judge after N calls.")  # fmt: skip
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions to the judge in flight at once.")  # fmt: skip
@store_option
@reading_options
def check(file: str, documents: tuple[str, ...], output: tuple[str, ...], **flags: Any) -> int:
    """Say what a test set covers, what is wrong with it and what it can show.

    FILE is a test set in any format that is read. With its documents, coverage, evidence and a BM25 search are looked at too.

    Exit codes: 0 all well, 1 an item needs attention, 2 bad input, 3 the judge could not read every item."""
    from ragstone.cli.actions.testset import check_file

    return check_file(file, documents, output, flags)


@command.command("card")
@click.argument("file")
@click.option("--labels", multiple=True, metavar="FILE", help="Labels of the viewer or of another tool on runs of this set. May be repeated.")  # fmt: skip
@output_option("testset", "text here")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the card: en, es.")
def card(file: str, labels: tuple[str, ...], output: tuple[str, ...], **flags: Any) -> int:
    """Show where the items of a generated set come from, how they were proved, who read them, and what it is weak at.

    FILE is a set that `ragstone generate` wrote; decisions of a review beside it are taken into account."""
    from ragstone.cli.actions.testset import show_card

    return show_card(file, labels, output, flags)


@command.command("compare")
@click.argument("old")
@click.argument("new")
@output_option("testset", "text here")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
def compare(old: str, new: str, output: tuple[str, ...], **flags: Any) -> int:
    """Say which items of two versions of a generated set are the same, changed, new or gone."""
    from ragstone.cli.actions.testset import show_versions

    return show_versions(old, new, output, flags)
