"""`ragstone ablate`: what each setting of a system does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import check_outputs, note, output_option, report_language, store_option

if TYPE_CHECKING:
    from ragstone.experiments.bench import Ablation


@click.command("ablate")
@click.argument("data", metavar="DATA")
@click.option(
    "--system",
    required=True,
    metavar="SYSTEM",
    help="pipeline:FOLDER, module:function, file.py:function, a URL.",
)
@click.option(
    "--vary",
    multiple=True,
    required=True,
    metavar="NAME=V1,V2,…",
    help="A setting and its values, the one in force first: top_k=5,3,10. May be repeated.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting that stays as it is. May be repeated.",
)
@click.option("--full", is_flag=True, help="Run every combination, not one setting at a time.")
@click.option("-m", "--metric", "metrics", multiple=True, metavar="METRICS", help="Metrics, with commas between them.")  # fmt: skip
@click.option("--judge", metavar="JUDGE", help="Who answers judged metrics: offline, openai:MODEL, …")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@output_option("effects")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(data: str, system: str, **flags: Any) -> None:
    """Run a grid of a system's settings and say what each of them does.

    \b
      ragstone ablate questions.jsonl --system pipeline:docs -m recall@5 \\
        --vary chunk_size=120,60,300 --vary rerank=false,true"""
    from ragstone.cli.bench import progress_lines
    from ragstone.cli.flags import metrics_of
    from ragstone.cli.progress import aside
    from ragstone.errors import ConfigError
    from ragstone.experiments.bench import ablate
    from ragstone.report.builders.effects import EffectsReport
    from ragstone.report.formats import write_report

    check_outputs("effects", flags["output"])
    complaints: list[str] = []
    metrics = metrics_of(flags["metrics"], complaints)
    if complaints:
        raise ConfigError(complaints)
    with aside():
        found = ablate(
            data,
            system,
            dict(map(setting, flags["vary"])),
            metrics or None,
            full=flags["full"],
            settings={name: values[0] for name, values in map(setting, flags["settings"])},
            judge=flags["judge"],
            store=flags["store"],
            limit=flags["limit"],
            watch=progress_lines(quiet=flags["quiet"]),
        )
    language = report_language(flags["language"])
    report = EffectsReport(found.effects, Path(data).name, language, _runs(found))
    if not flags["quiet"]:
        from rich.console import Console

        from ragstone.report.render import terminal

        terminal.show(report.document(), Console())
    for path in flags["output"]:
        write_report(report, path)
        note(f"wrote {path}", quiet=flags["quiet"])


def setting(text: str) -> tuple[str, list[Any]]:
    """`top_k=5,3,10` as a name and its values."""
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise click.UsageError(f"{text!r} is no setting; write it as top_k=5,3,10")
    return name.strip(), [_value(part.strip()) for part in values.split(",")]


def _value(text: str) -> Any:
    """A number, true, false or null as JSON has them; any other text as it is."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(found, dict | list) else found


def _runs(found: Ablation) -> Sequence[dict[str, Any]]:
    return [
        {"name": name, "run": run.id, "settings": settings}
        for (name, run), settings in zip(found.runs.items(), found.settings, strict=True)
    ]
