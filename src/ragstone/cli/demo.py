"""`ragstone demo`: the bundled data set, evaluated as a user's own would be."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from ragstone.cli.options import known_language, note, store_option

METRICS = "recall@3,ndcg@3,mrr,exact_match(normalize=squad),token_f1,abstention_accuracy"


@click.command("demo")
@click.option(
    "-o",
    "--output",
    default="ragstone-demo.html",
    show_default=True,
    metavar="FILE",
    help="The report to write.",
)
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(output: str, language: str | None, store: str | None) -> None:
    """Evaluate a bundled data set and show what comes out.

    28 questions to an invented city library, in English and Spanish, with what a middling system retrieved and answered."""
    from ragstone.cli.eval import check_outputs, score, show_summary
    from ragstone.cli.flags import metrics_of
    from ragstone.config import Plan
    from ragstone.data import read

    plan = Plan(name="demo", metrics=metrics_of([METRICS], []), store=store, output=(output,))
    check_outputs(plan)
    bundled = resources.files("ragstone") / "data" / "demo" / "library.jsonl"
    spoken = known_language(language) or "en"
    with resources.as_file(bundled) as path:
        reading = read(path)
        reading.source = path.name  # where the package is installed is of no interest
        run = score(plan, reading)
    show_summary(run.summary(), spoken)
    run.write(output, language=spoken)
    note(f"\nThe report: {Path(output).resolve()}")
    note("Your own data: ragstone eval DATA.jsonl -m recall@5,token_f1 -o report.html")
