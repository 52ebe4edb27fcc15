"""`ragstone ablate`: what each setting of a system does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import note, report_language, store_option

if TYPE_CHECKING:
    from ragstone.experiments.bench import Ablation

ENDINGS = (".html", ".json", ".md", ".svg", ".png")


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
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FILE",
    help="Write a file: .html .md .json .svg .png. May be repeated.",
)
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

    for path in flags["output"]:
        if not path.endswith(ENDINGS):
            raise click.UsageError(
                f"{path!r} names no format; end it in one of {' '.join(ENDINGS)}"
            )
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
    if not flags["quiet"]:
        from rich.console import Console

        from ragstone.report.effects import show

        show(found.effects, Console(), language)
    for path in flags["output"]:
        _write(found, data, path, language)
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


def _write(found: Ablation, data: str, path: str, language: str) -> None:
    from ragstone.report import effects as report
    from ragstone.report.drawing import files
    from ragstone.report.files import write_text

    if path.endswith(".json"):
        plain: dict[str, Any] = {
            "runs": _runs(found),
            "effects": [one.to_dict() for one in found.effects],
        }
        write_text(path, json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    elif path.endswith(".md"):
        write_text(path, report.markdown(found.effects, language))
    elif path.endswith(".html"):
        write_text(path, report.page(found.effects, Path(data).name, language))
    else:
        files.write(report.picture(found.effects, language), Path(path))


def _runs(found: Ablation) -> Sequence[dict[str, Any]]:
    return [
        {"name": name, "run": run.id, "settings": settings}
        for (name, run), settings in zip(found.runs.items(), found.settings, strict=True)
    ]
