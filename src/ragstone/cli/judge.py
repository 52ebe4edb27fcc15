"""`ragstone judge`: look at the prompts, adapt them to a language, check whether a judge is any good."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.judges import Judge
    from ragstone.judges.probe import ProbeReport


@click.group()
def command() -> None:
    """Look at the prompts, or check whether a judge is fit to decide anything."""


def _judge_options(function: Any) -> Any:
    """Which judge, where, and how large."""
    for option in (
        click.option("--small", is_flag=True, help="Ask one claim at a time, as small models need it."),
        click.option("--base-url", metavar="URL", help="Where the judge's server listens."),
        click.option("--judge", "spec", metavar="JUDGE", help="offline, openai:MODEL, anthropic:MODEL, gemini:MODEL, hf:PATH, python:module:function"),
    ):  # fmt: skip
        function = option(function)
    return function


@command.command()
@click.option("--lang", "language", metavar="LANG", help="Language of the page: en, es.")
def quality(language: str | None) -> None:
    """Show how far the embedded judge agrees with people, how that was measured, and where it fails."""
    from ragstone.cli.options import known_language
    from ragstone.judges.offline.quality import page

    click.echo(page(known_language(language) or "en").rstrip())


@command.command()
@click.option(
    "--export", "export_to", metavar="DIR", type=click.Path(), help="Write our prompts into DIR."
)
@click.option(
    "--adapt", "language", metavar="LANG", help="Draft the prompts in a new language with a judge."
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="prompts",
    show_default=True,
    type=click.Path(),
    help="Where --adapt writes LANG/*.md.",
)
@_judge_options
def prompts(
    export_to: str | None,
    language: str | None,
    output: str,
    spec: str | None,
    base_url: str | None,
    small: bool,
) -> None:
    """List the prompts, write them out, or draft them in another language.

    A config uses a folder of prompts with `prompts: DIR`. No file is ever overwritten."""
    from ragstone import prompts as ours

    if export_to and language:
        raise click.UsageError("--export and --adapt are two steps; run one of them")
    if export_to:
        for path in ours.export(export_to):
            click.echo(str(path))
        return
    if language is None:
        for name in ours.list_names():
            click.echo(f"{name}  ({', '.join(ours.list_languages())})")
        return
    if spec is None:
        raise click.UsageError("--adapt needs a judge that can write: --judge openai:MODEL")
    for path in asyncio.run(_adapted(_made(spec, base_url, small), language, output)):
        click.echo(str(path))
    click.echo("A draft: have somebody who speaks the language read it.", err=True)


@command.command()
@click.option(
    "--lang",
    default="en",
    show_default=True,
    metavar="LANG",
    help="Language of the probe items: en or es.",
)
@_judge_options
def check(lang: str, spec: str | None, base_url: str | None, small: bool) -> int:
    """Put twelve questions of known truth to a judge, twice, and say whether it is fit to gate on.

    Exits 1 when it is not."""
    if lang[:2].lower() not in ("en", "es"):
        raise click.UsageError(
            f"there are no probe items in {lang!r}; write --lang en or --lang es"
        )
    found = asyncio.run(_checked(_made(spec or "offline", base_url, small), lang))
    if not found.reply_count and all(one.failure.startswith("transport") for one in found.results):
        reason = found.results[0].failure.partition(": ")[2]
        raise RagstoneError(f"{found.judge} could not be asked: {reason}")
    _show(found)
    return 0 if found.is_fit else 1


def _made(spec: str, base_url: str | None, small: bool) -> Judge:
    from ragstone.judges.factory import make_judge

    settings: dict[str, Any] = {"model": spec}
    if base_url:
        settings["base_url"] = base_url
    if small:
        settings["small"] = True
    return make_judge(settings)


async def _checked(judge: Judge, language: str) -> ProbeReport:
    from ragstone.judges.probe import probe_judge as put

    try:
        return await put(judge, language)
    finally:
        await judge.close()


async def _adapted(judge: Judge, language: str, folder: str) -> list[Any]:
    from ragstone.judges.translation import draft_prompts

    try:
        return list(await draft_prompts(judge, language, folder))
    finally:
        await judge.close()


def _show(found: ProbeReport) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(
        title=f"{escape(found.judge)} on {len(found.results)} items ({found.language})",
        title_justify="left",
        expand=True,
    )
    table.add_column("item", overflow="ellipsis", no_wrap=True, ratio=1)
    for head in ("truth", "said", "again"):
        table.add_column(head, overflow="ellipsis", no_wrap=True, min_width=12, max_width=28)
    for one in found.results:
        mark = "green" if one.is_correct else "red"
        said = one.first or f"({one.failure})"
        table.add_row(
            escape(one.item.text),
            one.item.truth,
            f"[{mark}]{escape(said)}[/]",
            escape(one.second or "–"),
        )
    console.print(table)
    total = len(found.results)
    usage = found.usage
    rate = 2 * total / found.seconds if found.seconds else 0.0
    price = (
        f"{found.usd_per_1000_samples:.2f} USD"
        if usage.usd
        else "not known, or free"
        if usage.calls
        else "nothing"
    )
    for name, text in (
        ("usable replies", f"{found.reply_count} of {total}"),
        ("agreement with the truth", f"{found.correct_count} of {total}"),
        ("same reply when asked again", f"{found.consistent_count} of {total}"),
        ("tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out, {usage.calls} calls"),
        ("speed", f"{rate:.1f} questions a second, {found.seconds:.1f} s in all"),
        ("price of 1,000 samples, five metrics", price),
    ):
        console.print(f"{name:>38}  {text}")
    for reason, count in Counter(one.failure for one in found.results if one.failure).most_common():
        console.print(f"{count} failed: {escape(reason)}", soft_wrap=True)
    if found.is_fit:
        console.print(
            "[green]Fit to gate on[/], as far as twelve easy items can tell; calibrate it on your own data."
        )
    else:
        console.print("[red]Not fit to gate on[/]: its scores may be shown, not relied on.")
