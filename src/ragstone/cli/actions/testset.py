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
from ragstone.report.checkup import views as report
from ragstone.testset.checkup import check


def check_file(
    file: str, documents: Sequence[str], output: Sequence[str], flags: Mapping[str, Any]
) -> int:
    """Audit a test set, show or write the report; the exit code is 1 when an item needs attention."""
    complaints: list[str] = []
    fields = parse_fields(flags["fields"], complaints)
    complaints += [
        f"{path!r} names no format of this report; end it in one of {' '.join(report.ENDINGS)}"
        for path in output
        if Path(path).suffix.lower() not in report.ENDINGS
    ]
    if complaints:
        raise ConfigError(complaints)
    corpus = documents[0] if len(documents) == 1 else list(documents)
    checkup = check(
        file,
        corpus or None,
        format=flags["format"],
        fields=fields or None,
        limit=flags["limit"],
        skip_bad_rows=flags["skip_bad_rows"],
    )
    language = choose_language(flags["language"])
    if flags["as_json"]:
        click.echo(json.dumps(checkup.to_dict(), ensure_ascii=False, indent=2))
    elif not output:
        report.show(checkup, Console(), language)
    for path in output:
        report.write(checkup, path, language)
        note(f"wrote {path}")
    return 1 if checkup.faults else 0
