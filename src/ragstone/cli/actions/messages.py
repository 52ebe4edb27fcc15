"""Lines for the person at the terminal: on stderr, in English. They are not translated; reports are."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ragstone.data import Dataset


def note(text: str, *, quiet: bool = False) -> None:
    """Print a line on stderr for the person at the terminal; results go to stdout."""
    if not quiet:
        click.echo(text, err=True)


def format_count(number: int, thing: str) -> str:
    """`1 sample`, `1,200 samples`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def note_left_over(dataset: Dataset, *, known: Collection[str] = (), quiet: bool = False) -> None:
    """Say which columns of a file are no field of a sample, nor known otherwise, and what else was passed over."""
    from ragstone.data.left_over import describe_left_over  # `--help` imports only click

    names = [name for name in dataset.left_over if name not in known]
    if names:
        note(describe_left_over(names), quiet=quiet)
    for text in dataset.notes:
        note(text, quiet=quiet)
