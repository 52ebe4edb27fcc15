"""`ragstone ablate`: run a grid of settings and report what each setting does to each metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ragstone.cli.actions.flags import parse_metrics, parse_setting, parse_settings
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.errors import ConfigError
from ragstone.experiments.ablate import Ablation, ablate
from ragstone.report.builders.effects import EffectsReport
from ragstone.report.formats import write_report
from ragstone.report.render import terminal


def run_ablation(data: str, system: str, flags: dict[str, Any]) -> None:
    """Run the grid of settings, show what each does and write the files.

    `flags` are the options that cli/ablate.py declares, by parameter name."""
    check_outputs("effects", flags["output"])
    errors: list[str] = []
    metrics = parse_metrics(flags["metrics"], errors)
    if errors:
        raise ConfigError(errors)
    with stdout_to_stderr():  # a system that prints must not write into our report
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
    comparison = None if ablation.result is None else ablation.result.report(language)
    report = EffectsReport(
        ablation.effects, Path(data).name, language, _list_runs(ablation), comparison
    )
    if not flags["quiet"]:
        terminal.print_document(report.document(), Console())
    for path in flags["output"]:
        write_report(report, path)
        note("wrote {path}", path=path, quiet=flags["quiet"])


def _list_runs(ablation: Ablation) -> Sequence[dict[str, Any]]:
    return [
        {"name": name, "run": run.id, "settings": settings}
        for (name, run), settings in zip(ablation.runs.items(), ablation.settings, strict=True)
    ]
