"""`ragstone ablate`: run a grid of settings and report what each setting does to each metric."""

from __future__ import annotations

from typing import Any

from ragstone import report
from ragstone.cli.actions.flags import parse_metrics, parse_setting, parse_settings
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.errors import ConfigError
from ragstone.experiments.ablate import ablate


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
    if not flags["quiet"]:
        report.show(ablation, language=language, details=flags["details"])
    for path in flags["output"]:
        report.write(ablation, path, language=language)
        note("wrote {path}", path=path, quiet=flags["quiet"])
