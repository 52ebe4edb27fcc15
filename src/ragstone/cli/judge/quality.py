"""`ragstone judge quality`"""

from __future__ import annotations

import re
import sys

import click

from ragstone.cli.shared import check_language, choose_language
from ragstone.judges.offline.quality import page


@click.command("quality")
@click.option("--lang", "language", metavar="LANG", help="Language of the page: en, es.")
def command(language: str | None) -> None:
    """Show how far the embedded judge agrees with people, how that was measured, and where it fails."""
    # marks between which the bench writes its tables
    text = re.sub(r"^<!--.*?-->\n", "", page(choose_language(check_language(language))), flags=re.M)
    if not sys.stdout.isatty():
        click.echo(text.rstrip())
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
