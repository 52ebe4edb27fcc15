"""`ragstone judge quality`"""

from __future__ import annotations

import click

from ragstone.cli.shared import check_language, choose_language
from ragstone.judges.offline.quality import page


@click.command("quality")
@click.option("--lang", "language", metavar="LANG", help="Language of the page: en, es.")
def command(language: str | None) -> None:
    """Show how far the embedded judge agrees with people, how that was measured, and where it fails."""
    click.echo(page(choose_language(check_language(language))).rstrip())
