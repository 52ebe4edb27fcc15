"""`ragstone testset`: a test set judged before it judges."""

from __future__ import annotations

import json
from typing import Any

import click

from ragstone.cli.options import note, output_option, reading_options, report_language


@click.group("testset")
def command() -> None:
    """Judge a test set: coverage, balance, duplicates, leaks, and what a trivial system gets right."""


@command.command("check")
@click.argument("file")
@click.option("--documents", multiple=True, metavar="DOCS", help="The corpus: a folder, a file or a BEIR folder. May be repeated.")  # fmt: skip
@output_option("testset", "text here")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@reading_options
def check(file: str, documents: tuple[str, ...], output: tuple[str, ...], **flags: Any) -> int:
    """Say what a test set covers, what is wrong with it and what it can show.

    FILE is a test set in any format that is read. With its documents, coverage, evidence and a BM25 search are looked at too.

    Exit codes: 0 all well, 1 an item needs attention, 2 bad input."""
    from pathlib import Path

    from ragstone.cli.flags import fields_of
    from ragstone.errors import ConfigError
    from ragstone.report.builders.testset import CheckupReport
    from ragstone.report.formats import describe_unknown, list_endings, write_report
    from ragstone.testset.checkup import check as judged

    complaints: list[str] = []
    fields = fields_of(flags["fields"], complaints)
    complaints += [
        describe_unknown("testset", path)
        for path in output
        if Path(path).suffix.lower() not in list_endings("testset")
    ]
    if complaints:
        raise ConfigError(complaints)
    found = judged(
        file,
        (documents[0] if len(documents) == 1 else list(documents)) if documents else None,
        format=flags["format"],
        fields=fields or None,
        limit=flags["limit"],
        skip_bad_rows=flags["skip_bad_rows"],
    )
    report = CheckupReport(found, report_language(flags["language"]))
    if flags["as_json"]:
        click.echo(json.dumps(report.data(), ensure_ascii=False, indent=2))
    elif not output:
        from rich.console import Console

        from ragstone.report.render import terminal

        terminal.show(report.document(), Console())
    for path in output:
        write_report(report, path)
        note(f"wrote {path}")
    return 1 if found.faults else 0
