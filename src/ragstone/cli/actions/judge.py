"""`ragstone judge`: show the embedded judge's measured quality; list, export and draft prompts."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ragstone import prompts
from ragstone.cli.actions.shared import check_language, choose_language
from ragstone.judges import Judge, translation
from ragstone.judges.factory import make_judge
from ragstone.judges.offline.quality import page


def show_quality(language: str | None) -> None:
    """Print the page of the embedded judge's measured quality."""
    click.echo(page(choose_language(check_language(language))).rstrip())


def export_prompts(folder: str) -> None:
    """Write the bundled prompts into a folder and print their paths."""
    for path in prompts.export(folder):
        click.echo(str(path))


def list_prompts() -> None:
    """Print every prompt's name with the languages."""
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


def _make_judge(spec: str, base_url: str | None, small: bool) -> Judge:
    settings: dict[str, Any] = {"model": spec}
    if base_url:
        settings["base_url"] = base_url
    if small:
        settings["small"] = True
    return make_judge(settings)
