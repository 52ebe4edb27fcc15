"""`ragstone judge`: show its measured quality and prompts, draft prompts, probe a judge."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone import prompts
from ragstone.cli.actions.shared import check_language
from ragstone.errors import RagstoneError
from ragstone.judges import Judge, translation
from ragstone.judges.factory import make_judge
from ragstone.judges.offline.quality import page
from ragstone.judges.probe import ProbeReport, probe_judge


def show_quality(language: str | None) -> None:
    """Print the page of the embedded judge's measured quality."""
    click.echo(page(check_language(language) or "en").rstrip())


def export_prompts(folder: str) -> None:
    """Write the bundled prompts into a folder and print their paths."""
    for path in prompts.export(folder):
        click.echo(str(path))


def list_prompts() -> None:
    """Print every prompt's name with its languages."""
    for name in prompts.list_names():
        click.echo(f"{name}  ({', '.join(prompts.list_languages())})")


def draft_prompts(spec: str, base_url: str | None, small: bool, language: str, folder: str) -> None:
    """Have a judge translate the prompts into a language."""

    async def draft(judge: Judge) -> list[Any]:
        try:
            return list(await translation.draft_prompts(judge, language, folder))
        finally:
            await judge.close()

    for path in asyncio.run(draft(_make_judge(spec, base_url, small))):
        click.echo(str(path))
    click.echo("A draft: have somebody who speaks the language read it.", err=True)


def check_judge(spec: str, base_url: str | None, small: bool, language: str) -> int:
    """Probe a judge, show the result, and return the exit code: 1 when it is not fit to gate on."""

    async def probe(judge: Judge) -> ProbeReport:
        try:
            return await probe_judge(judge, language)
        finally:
            await judge.close()

    report = asyncio.run(probe(_make_judge(spec, base_url, small)))
    failures = [result.failure for result in report.results]
    if not report.reply_count and all(failure.startswith("transport") for failure in failures):
        reason = failures[0].partition(": ")[2]
        raise RagstoneError(f"{report.judge} could not be asked: {reason}")
    _show_probe(report)
    return 0 if report.is_fit else 1


def _make_judge(spec: str, base_url: str | None, small: bool) -> Judge:
    settings: dict[str, Any] = {"model": spec}
    if base_url:
        settings["base_url"] = base_url
    if small:
        settings["small"] = True
    return make_judge(settings)


def _show_probe(report: ProbeReport) -> None:
    console = Console(highlight=False)
    table = Table(
        title=f"{escape(report.judge)} on {len(report.results)} items ({report.language})",
        title_justify="left",
        expand=True,
    )
    table.add_column("item", overflow="ellipsis", no_wrap=True, ratio=1)
    for head in ("truth", "said", "again"):
        table.add_column(head, overflow="ellipsis", no_wrap=True, min_width=12, max_width=28)
    for result in report.results:
        mark = "green" if result.is_correct else "red"
        reply = result.first or f"({result.failure})"
        table.add_row(
            escape(result.item.text),
            result.item.truth,
            f"[{mark}]{escape(reply)}[/]",
            escape(result.second or "–"),
        )
    console.print(table)
    total = len(report.results)
    usage = report.usage
    # Every item is asked twice.
    rate = 2 * total / report.seconds if report.seconds else 0.0
    price = (
        f"{report.usd_per_1000_samples:.2f} USD"
        if usage.usd
        else "not known, or free"
        if usage.calls
        else "nothing"
    )
    for name, text in (
        ("usable replies", f"{report.reply_count} of {total}"),
        ("agreement with the truth", f"{report.correct_count} of {total}"),
        ("same reply when asked again", f"{report.consistent_count} of {total}"),
        ("tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out, {usage.calls} calls"),
        ("speed", f"{rate:.1f} questions a second, {report.seconds:.1f} s in all"),
        ("price of 1,000 samples, five metrics", price),
    ):
        console.print(f"{name:>38}  {text}")
    for reason, count in Counter(
        result.failure for result in report.results if result.failure
    ).most_common():
        console.print(f"{count} failed: {escape(reason)}", soft_wrap=True)
    if report.is_fit:
        console.print(
            "[green]Fit to gate on[/], as far as twelve easy items can tell; calibrate it on your own data."
        )
    else:
        console.print("[red]Not fit to gate on[/]: its scores may be shown, not relied on.")
