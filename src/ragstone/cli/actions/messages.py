"""Lines for the person at the terminal, in the language of the command line.

The English text, with {placeholders}, is the key of its translation in `locale/<language>/notes.toml`."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ragstone.cli.translation import choose_language
from ragstone.locale.catalogue import LANGUAGES, fill_phrase, load_phrases
from ragstone.locale.messages import LocalFloat

if TYPE_CHECKING:
    from ragstone.data import Dataset


class Count(NamedTuple):
    """A number of things, which a note writes as `1 sample` or `1,200 samples` in its language."""

    number: int
    thing: str


def note(text: str, *, quiet: bool = False, **values: Any) -> None:
    """Print a line on stderr for the person at the terminal; results go to stdout.

    Without values the text is printed as it is, whatever braces it has."""
    if not quiet:
        click.echo(translate(text, **values), err=True)


def translate(text: str, **values: Any) -> str:
    """The text in the language of the command that runs, with its values as that language writes them."""
    language = find_language()
    if language != LANGUAGES[0]:
        text = load_phrases(language, "notes").get(text, text)
    if not values:
        return text
    return fill_phrase(text, {name: localize(value, language) for name, value in values.items()})


def format_count(number: int, thing: str, language: str = LANGUAGES[0]) -> str:
    """`1 sample`, `1,200 samples`."""
    if language == LANGUAGES[0]:
        return f"{number:,} {thing}" + ("" if number == 1 else "s")
    noun = load_phrases(language, "notes")[f"1 {thing}" if number == 1 else f"{thing}s"]
    return f"{_format_whole(number, language)} {noun}"


def find_language() -> str:
    """The language of the command that runs; that of the environment where none does."""
    context = click.get_current_context(silent=True)
    typed = context.find_root().obj if context is not None else None
    return choose_language(typed or (), os.environ)


def localize(value: Any, language: str) -> Any:
    """A value as a language writes it: a count with its noun, a whole number as text, another one with its decimal sign."""
    if isinstance(value, Count):
        return format_count(value.number, value.thing, language)
    if type(value) is float:
        return LocalFloat(value, load_phrases(language, "report")["decimal"])
    return _format_whole(value, language) if type(value) is int else str(value)


def _format_whole(number: int, language: str) -> str:
    text = f"{number:,}"
    return text if language == LANGUAGES[0] else text.replace(",", ".")


def note_left_over(dataset: Dataset, *, known: Collection[str] = (), quiet: bool = False) -> None:
    """Say which columns of a file are no field of a sample, nor known otherwise, and what else was passed over."""
    names = [name for name in dataset.left_over if name not in known]
    if names:
        note(
            "columns left over (in meta where they are short): {names}",
            names=", ".join(names),
            quiet=quiet,
        )
    for text in dataset.notes:
        note(getattr(text, "template", text), quiet=quiet, **getattr(text, "values", {}))
