"""`ragstone demo`: the bundled data set, evaluated as a user's own would be."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

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
    if configurations:
        _compare(output, spoken, store)
    note("Your own data: ragstone eval DATA.jsonl -m recall@5,token_f1 -o report.html")


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "larger chunks": {"chunk_size": 120, "overlap": 20},
    "more context": {"top_k": 8},
    "hybrid + rerank": {"retriever": "hybrid", "rerank": True},
}
COMPARED = "recall,mrr,token_f1,abstention_accuracy"


def _compare(output: str, language: str, store: str | None) -> None:
    """Four systems on one test set, and which is better."""
    from ragstone.cli.bench import progress_lines
    from ragstone.cli.compare import present
    from ragstone.cli.flags import metrics_of
    from ragstone.data import corpora
    from ragstone.experiments.bench import bench

    page = str(Path(output).with_name(f"{Path(output).stem}-comparison.html"))
    base: dict[str, Any] = {"chunk_size": 40, "overlap": 0, "titles": False, "top_k": 3}
    note("\nFour configurations of the built-in pipeline, on 228 questions to 62 documents:\n")
    done = bench(
        str(corpora.questions()),
        {name: base | settings for name, settings in CONFIGURATIONS.items()},
        metrics_of([COMPARED], []),
        system="pipeline",
        store=store,
        watch=progress_lines(quiet=False),
    )
    assert done.comparison is not None
    runs = [run.stored for run in done.runs.values()]
    flags = {"output": (page,), "quiet": False, "json": False, "as_json": False}
    present(done.comparison, runs, flags, language)
