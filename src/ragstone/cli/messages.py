"""Lines for the person at the terminal, in English as with every tool of the field; results go to stdout."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ragstone.locale.catalogue import fill_phrase

if TYPE_CHECKING:
    from ragstone.data import Dataset


class Count(NamedTuple):
    """A number of things, which a note writes as `1 sample` or `1,200 samples`."""

    number: int
    thing: str

    def __str__(self) -> str:
        return format_count(self.number, self.thing)


def format_count(number: int, thing: str) -> str:
    """`1 sample`, `1,200 samples`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def note(text: str, *, quiet: bool = False, **values: Any) -> None:
    """Print a line on stderr for the person at the terminal; results go to stdout.

    Without values the text is printed as it is, whatever braces it has."""
    if not quiet:
        click.echo(translate(text, **values), err=True)


def translate(text: str, **values: Any) -> str:
    """The text with its values; whole numbers get thousands separators."""
    if not values:
        return text
    return fill_phrase(text, {name: _to_text(value) for name, value in values.items()})


def _to_text(value: Any) -> Any:
    """A count or number as it is written; a float stays one, since the text says with how many digits."""
    if isinstance(value, Count) or type(value) is not float:
        return f"{value:,}" if type(value) is int else str(value)
    return value


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
