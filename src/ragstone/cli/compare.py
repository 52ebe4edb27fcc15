"""`ragstone compare`: which run is better, and is that more than chance?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs, output_option, store_option

if TYPE_CHECKING:
    from ragstone.analysis.compare import Comparison
    from ragstone.store import StoredRun


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--baseline", metavar="RUN", help="Compare the others with this one [default: the first]."
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="Only these metrics. May be repeated or comma-separated.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=0.02,
    show_default=True,
    help="Differences up to this share of a metric's range do not matter.",
)
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    help="Say how many questions a difference of this size needs [default: the margin].",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    show_default=True,
    help="For how many differences are shown: Holm, Benjamini-Hochberg or none.",
)
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Share of the pairs that must be scored on both sides for a verdict.",
)
@click.option(
    "--fail-on-regression",
    is_flag=True,
    help="Exit with 1 when a run is worse than the baseline, with 3 when a verdict is withheld.",
)
@click.option(
    "--samples",
    type=click.IntRange(0, 500),
    default=20,
    show_default=True,
    help="Samples that moved most to show, each way.",
)
@output_option("comparison")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("--quiet", "-q", is_flag=True, help="Print no tables.")
@store_option
def command(runs: tuple[str, ...], **flags: Any) -> int:
    """Say which run is better, and whether that is more than chance.

    A RUN is named by its id, the start of its id, its name, or `last`. Samples are matched by id. In GitHub Actions the
    result also becomes the step's summary, with an annotation for each regression."""  # fmt: skip
    from ragstone.analysis.compare import compare
    from ragstone.cli.actions.progress import show_waiting

    check_outputs("comparison", flags["output"])
    opened, baseline = _opened(runs, flags["baseline"], flags["store"])
    named = [name.strip() for text in flags["metrics"] for name in text.split(",")]
    with show_waiting("comparing", quiet=flags["quiet"]):
        comparison = compare(
            opened,
            baseline=baseline,
            metrics=[name for name in named if name] or None,
            margin=flags["margin"],
            effect=flags["effect"],
            correction=flags["correction"],
            floor=flags["floor"],
            samples=flags["samples"],
        )
    language = choose_language(flags["language"], opened[baseline].info.plan.language)
    present(comparison, opened, flags, language)
    return comparison.exit_code if flags["fail_on_regression"] else 0


def present(
    comparison: Comparison, runs: list[StoredRun], flags: dict[str, Any], language: str
) -> None:
    """Show the comparison, write its files, and tell GitHub when it is listening."""
    from ragstone.report.builders.comparison import ComparisonReport
    from ragstone.report.formats import write_report

    report = ComparisonReport(comparison, {run.id: run for run in runs}, language)
    if flags.get("as_json"):
        import json

        click.echo(json.dumps(report.data(), ensure_ascii=False, indent=2, allow_nan=False))
    elif not flags["quiet"]:
        from rich.console import Console

        from ragstone.report.render import terminal

        terminal.show(report.document(), Console())
    for path in flags["output"]:
        write_report(report, path)
        note(f"wrote {path}", quiet=flags["quiet"])
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        from ragstone.report.comparison import github
        from ragstone.report.render import markdown

        github.append_summary(summary, markdown.render(report.document()))
        fails = bool(flags.get("fail_on_regression"))
        for line in github.build_commands(comparison, language, error=fails):
            click.echo(line)


def _opened(
    names: tuple[str, ...], baseline: str | None, store: str | None
) -> tuple[list[StoredRun], int]:
    from ragstone.store import Store

    kept = Store.open(store)
    runs = [kept.run(name) for name in names]
    first = 0
    if baseline is not None:
        found = kept.run(baseline)
        ids = [run.id for run in runs]
        if found.id not in ids:
            runs.insert(0, found)
        else:
            first = ids.index(found.id)
    ids = [run.id for run in runs]
    twice = next((run for run in runs if ids.count(run.id) > 1), None)
    if twice is not None:
        raise click.UsageError(
            f"run {twice.id} ({twice.info.name}) is named twice; name each run once"
        )
    if len(runs) < 2:
        raise click.UsageError("a comparison needs at least two runs; name another")
    return runs, first
