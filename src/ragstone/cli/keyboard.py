"""Decisions typed on the keyboard, one key each."""

from __future__ import annotations

from collections.abc import Mapping

import click


def read_key(words: Mapping[str, str], prompt: str, what: str) -> str:
    """Wait for one of the keys of `words` (key → word to print) and return it; the end of the input counts as `q`.

    `what` names the activity for the error when there is no terminal."""
    while True:
        click.echo(f"  {prompt}  ", nl=False)
        try:
            typed = click.getchar().lower()
        except (EOFError, KeyboardInterrupt):
            typed = "q"
        except OSError:
            click.echo()
            raise click.UsageError(f"{what} needs a terminal with a keyboard") from None
        # Ctrl-C and Ctrl-D come as characters where the terminal is raw.
        if typed in ("", "\x03", "\x04"):
            typed = "q"
        click.echo(words.get(typed, ""))
        if typed in words:
            return typed
