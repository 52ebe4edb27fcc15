"""`ragstone ablate` in action."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ragstone.cli.actions.bench import show_progress_lines
from ragstone.cli.actions.flags import parse_metrics, parse_setting, parse_settings
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.errors import ConfigError
from ragstone.experiments.ablate import Ablation, ablate
from ragstone.report import effects as report
from ragstone.report.drawing import files
from ragstone.report.files import write_text

ENDINGS = (".html", ".json", ".md", ".svg", ".png")


def run_ablation(data: str, system: str, flags: dict[str, Any]) -> None:
    """Run the grid of settings, show what each does and write the files."""
    for path in flags["output"]:
        if not path.endswith(ENDINGS):
            raise click.UsageError(
                f"{path!r} names no format; end it in one of {' '.join(ENDINGS)}"
            )
    complaints: list[str] = []
    metrics = parse_metrics(flags["metrics"], complaints)
    if complaints:
        raise ConfigError(complaints)
    with stdout_to_stderr():
        ablation = ablate(
            data,
            system,
            dict(map(parse_setting, flags["vary"])),
            metrics or None,
            full=flags["full"],
            settings=parse_settings(flags["settings"]),
            judge=flags["judge"],
            store=flags["store"],
            limit=flags["limit"],
            watch=show_progress_lines(quiet=flags["quiet"]),
        )
    language = choose_language(flags["language"])
    if not flags["quiet"]:
        report.show(ablation.effects, Console(), language)
    for path in flags["output"]:
        _write(ablation, data, path, language)
        note(f"wrote {path}", quiet=flags["quiet"])


def _write(ablation: Ablation, data: str, path: str, language: str) -> None:
    if path.endswith(".json"):
        plain: dict[str, Any] = {
            "runs": _list_runs(ablation),
            "effects": [effects.to_dict() for effects in ablation.effects],
        }
        write_text(path, json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    elif path.endswith(".md"):
        write_text(path, report.markdown(ablation.effects, language))
    elif path.endswith(".html"):
        write_text(path, report.page(ablation.effects, Path(data).name, language))
    else:
        files.write(report.picture(ablation.effects, language), Path(path))


def _list_runs(ablation: Ablation) -> Sequence[dict[str, Any]]:
    return [
        {"name": name, "run": run.id, "settings": settings}
        for (name, run), settings in zip(ablation.runs.items(), ablation.settings, strict=True)
    ]
