"""Lines for the person at the terminal: on stderr, in English. They are not translated; reports are."""

from __future__ import annotations

import click


def note(text: str, *, quiet: bool = False) -> None:
    """Print a line on stderr for the person at the terminal; results go to stdout."""
    if not quiet:
        click.echo(text, err=True)


def format_count(number: int, thing: str) -> str:
    """`1 sample`, `1,200 samples`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
