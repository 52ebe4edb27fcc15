"""Options of `ragstone ablate`: run a grid of a system's settings, to see what each setting does."""

from __future__ import annotations

from typing import Any

import click

from ragstone import report
from ragstone.cli.messages import note
from ragstone.cli.options import (
    check_outputs,
    details_option,
    judge_options,
    output_option,
    store_option,
)
from ragstone.cli.plans import parse_metrics, parse_setting, parse_settings
from ragstone.cli.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.shared import choose_language
from ragstone.errors import ConfigError
from ragstone.experiments.ablate import ablate


@click.command("ablate")
@click.argument("data", metavar="DATA")
@click.option(
    "--system",
    required=True,
    metavar="SYSTEM",
    help="pipeline:FOLDER, module:function, file.py:function, a URL, command:PROGRAM, a YAML file.",
)
@click.option(
    "--vary",
    multiple=True,
    required=True,
    metavar="NAME=V1,V2,…",
    help="A setting and its values, the current one first: top_k=5,3,10. May be repeated.",
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
@judge_options("Who answers judged metrics: offline, openai:MODEL, …")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@output_option("effects")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(data: str, system: str, **flags: Any) -> None:
    """Run a grid of a system's settings and say what each of them does.

    \b
      ragstone ablate questions.jsonl --system pipeline:docs -m recall@5 \\
        --vary chunk_size=120,60,300 --vary rerank=false,true"""
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
