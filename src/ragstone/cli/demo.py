"""`ragstone demo`, declared: the bundled data set, evaluated as a user's own would be."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option


@click.command("demo")
@click.option(
    "-o",
    "--output",
    default="ragstone-demo.html",
    show_default=True,
    metavar="FILE",
    help="The report to write.",
)
@click.option(
    "--configurations",
    is_flag=True,
    help="Then compare four configurations of the built-in pipeline on the built-in corpus.",
)
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(output: str, configurations: bool, language: str | None, store: str | None) -> None:
    """Evaluate a bundled data set and show what comes out.

    28 questions to an invented city library, in English and Spanish, with what a middling system retrieved and answered."""
    from ragstone.cli.actions.demo import run_demo

    run_demo(output, configurations=configurations, language=language, store=store)
