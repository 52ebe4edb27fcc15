"""Options of `ragstone testset check`: audit a test set before systems are evaluated with it."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import output_option, reading_options


@click.group("testset")
def command() -> None:
    """Judge a test set: coverage, balance, duplicates, leaks, and what a trivial system gets right."""


@command.command("check")
@click.argument("file")
@click.option("--documents", multiple=True, metavar="DOCS", help="The corpus: a folder, a file or a BEIR folder. May be repeated.")  # fmt: skip
@output_option("testset", "text here")
@click.option("--fix", "fix", metavar="FILE", help="Ask for each fix that was found, and write the set with those you accept to FILE (jsonl).")  # fmt: skip
@click.option("--accept", metavar="KIND,…", help="With --fix: accept the fixes of these kinds without asking (duplicate, leaked, …), or all.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@reading_options
def check(file: str, documents: tuple[str, ...], output: tuple[str, ...], **flags: Any) -> int:
    """Say what a test set covers, what is wrong with it and what it can show.

    FILE is a test set in any format that is read. With its documents, coverage, evidence and a BM25 search are looked at too.

    Exit codes: 0 all well, 1 an item needs attention, 2 bad input."""
    from ragstone.cli.actions.testset import check_file

    return check_file(file, documents, output, flags)
