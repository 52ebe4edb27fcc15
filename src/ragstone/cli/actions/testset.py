"""`ragstone testset`: audit a test set and show what was noticed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ragstone.cli.actions.flags import parse_fields
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import choose_language
from ragstone.errors import ConfigError
from ragstone.report.builders.testset import CheckupReport
from ragstone.report.formats import describe_unknown, list_endings, write_report
from ragstone.report.render import terminal
from ragstone.testset.checkup import check_testset


def check_file(
    file: str, documents: Sequence[str], output: Sequence[str], flags: Mapping[str, Any]
) -> int:
    """Audit a test set, show or write the report; the exit code is 1 when an item needs attention.

    `flags` are the options that cli/testset.py declares, by parameter name."""
    errors: list[str] = []
    fields = parse_fields(flags["fields"], errors)
    errors += [
        describe_unknown("testset", path)
        for path in output
        if Path(path).suffix.lower() not in list_endings("testset")
    ]
    if errors:
        raise ConfigError(errors)
    corpus = documents[0] if len(documents) == 1 else list(documents)
    checkup = check_testset(
        file,
        corpus or None,
        format=flags["format"],
        fields=fields or None,
        limit=flags["limit"],
        skip_bad_rows=flags["skip_bad_rows"],
    )
    report = CheckupReport(checkup, choose_language(flags["language"]))
    if flags["as_json"]:
        click.echo(json.dumps(report.data(), ensure_ascii=False, indent=2))
    elif not output:
        terminal.print_document(report.document(), Console())
    for path in output:
        write_report(report, path)
        note(f"wrote {path}")
    return 1 if checkup.faults else 0
