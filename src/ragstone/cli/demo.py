"""Options of `ragstone demo`: evaluate and compare two versions of a shop's assistant, with data from the package."""

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
    help="The page to write.",
)
@click.option(
    "--configurations",
    is_flag=True,
    help="Then compare four configurations of the built-in pipeline on the built-in corpus.",
)
@click.option(
    "--lang",
    "language",
    metavar="LANG",
    help="Language of the assistant and of the report: en, es.",
)
@store_option
def command(output: str, configurations: bool, language: str | None, store: str | None) -> None:
    """Evaluate, diagnose and compare two versions of a shop's assistant.

    36 questions of customers, with what each version retrieved and answered; version 1 has a planted weakness. One page to
    open shows how good it is, with evidence, what is wrong with it, and whether version 2 is better."""
    from ragstone.cli.actions.demo import run_demo

    run_demo(output, configurations=configurations, language=language, store=store)
