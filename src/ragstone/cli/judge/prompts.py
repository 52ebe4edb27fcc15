"""`ragstone judge prompts`"""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ragstone import prompts
from ragstone.cli.options import judge_options
from ragstone.judges import Judge, translation
from ragstone.judges.factory import make_judge


@click.command("prompts")
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
@judge_options("Who drafts: openai:MODEL, …")
def command(
    export_to: str | None,
    language: str | None,
    output: str,
    judge: str | dict[str, Any] | None,
) -> None:
    """List the prompts, write them out, or draft them in another language.

    A config uses a folder of prompts with `prompts: DIR`. No file is ever overwritten."""
    if export_to and language:
        raise click.UsageError("--export and --adapt are two steps; run one of them")
    if export_to:
        export_prompts(export_to)
    elif language is None:
        list_prompts()
    elif judge is None:
        raise click.UsageError("--adapt needs a judge that can write: --judge openai:MODEL")
    else:
        draft_prompts(judge, language, output)


def export_prompts(folder: str) -> None:
    """Write the bundled prompts into a folder and print their paths."""
    for path in prompts.export(folder):
        click.echo(str(path))


def list_prompts() -> None:
    """Print every prompt's name with the languages."""
    for name in prompts.list_names():
        click.echo(f"{name}  ({', '.join(prompts.list_languages())})")


def draft_prompts(spec: str | dict[str, Any], language: str, folder: str) -> None:
    """Have a judge translate the prompts into a language."""

    async def draft(judge: Judge) -> list[Any]:
        try:
            return list(await translation.draft_prompts(judge, language, folder))
        finally:
            await judge.close()

    for path in asyncio.run(draft(make_judge(spec))):
        click.echo(str(path))
    click.echo("A draft: have somebody who speaks the language read it.", err=True)
