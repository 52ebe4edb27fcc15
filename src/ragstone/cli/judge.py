"""`ragstone judge`: look at the prompts, adapt them to a language, check whether a judge is any good."""

from __future__ import annotations

from typing import Any

import click


@click.group()
def command() -> None:
    """Show the prompts, or check whether a judge is reliable."""


def _judge_options(function: Any) -> Any:
    """Which judge, where, and how large."""
    for option in (
        click.option("--small", is_flag=True, help="Ask for one token a question, as small models need it."),
        click.option("--base-url", metavar="URL", help="Where the judge's server listens."),
        click.option("--judge", "spec", metavar="JUDGE", help="offline, openai:MODEL, anthropic:MODEL, gemini:MODEL, ollama:MODEL, gguf:PATH, hf:PATH, nli:PATH, python:module:function"),
    ):  # fmt: skip
        function = option(function)
    return function


@command.command()
@click.option("--lang", "language", metavar="LANG", help="Language of the page: en, es.")
def quality(language: str | None) -> None:
    """Show how far the embedded judge agrees with people, how that was measured, and where it fails."""
    from ragstone.cli.actions.judge import show_quality

    show_quality(language)


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
    from ragstone.cli.actions.judge import draft_prompts, export_prompts, list_prompts

    if export_to and language:
        raise click.UsageError("--export and --adapt are two steps; run one of them")
    if export_to:
        export_prompts(export_to)
    elif language is None:
        list_prompts()
    elif spec is None:
        raise click.UsageError("--adapt needs a judge that can write: --judge openai:MODEL")
    else:
        draft_prompts(spec, base_url, small, language, output)


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
    from ragstone.cli.actions.judge import check_judge

    if lang[:2].lower() not in ("en", "es"):
        raise click.UsageError(
            f"there are no probe items in {lang!r}; write --lang en or --lang es"
        )
    return check_judge(spec or "offline", base_url, small, lang)
