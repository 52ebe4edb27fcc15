"""Lines for the person at the terminal."""

from __future__ import annotations

import click


def note(text: str, *, quiet: bool = False) -> None:
    """A line for the person at the terminal; results go to stdout, this does not."""
    if not quiet:
        click.echo(text, err=True)


def format_count(number: int, thing: str) -> str:
    """`1 sample`, `1,200 samples`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
