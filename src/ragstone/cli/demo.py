"""Options of `ragstone demo`: evaluate and compare two versions of a shop's assistant, with data from the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.compare import compare
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.cli.compare import present_comparison
from ragstone.cli.eval import check_outputs, score_plan, show_result
from ragstone.cli.messages import note
from ragstone.cli.options import store_option
from ragstone.cli.progress import show_progress_lines
from ragstone.cli.shared import check_language, choose_language
from ragstone.config import Plan
from ragstone.data import corpora, read
from ragstone.data.demo import load_answers
from ragstone.experiments.bench import bench
from ragstone.experiments.inputs import RunInputs
from ragstone.experiments.run import Run
from ragstone.report import html
from ragstone.report.files import write_text
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.pages.demo import DemoPage
from ragstone.report.pages.failures import FailurePage
from ragstone.report.pages.run import RunPage
from ragstone.report.terminal import print_page, print_part
from ragstone.report.translator import Translator, load_translator


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
    if Path(output).suffix.lower() != ".html":
        raise click.UsageError(f"{output!r}: the demo writes a page; end it in .html")
    check_outputs(Plan(output=(output,)))
    t = load_translator(choose_language(check_language(language)))
    first, second = (_evaluate_version(version, store, t) for version in (1, 2))
    page = _open_page(first, second, t)
    _show_part(t, "demo_title", t("demo_story"))
    _show_part(t, "demo_quality")
    show_result(first, t.language, commands=())
    _show_part(t, "demo_cause", *page.weaknesses)
    print_page(page.failures, Console())
    _show_part(t, "demo_change")
    print_page(page.comparison, Console())
    write_text(output, html.render(page))
    note("\n" + t("demo_page", path=Path(output).resolve()))
    if configurations:
        _compare_configurations(output, t.language, store)
    note(t("demo_own"))


METRICS = ("faithfulness", "answer_correctness", "recall", "mrr")


def _evaluate_version(version: int, store: str | None, t: Translator) -> Run:
    plan = Plan(name=t("demo_version", n=version), metrics=METRICS, store=store)
    dataset = read(load_answers(version, t.language))
    dataset.source = t("demo_source")
    return score_plan(plan, RunInputs(samples=dataset))


def _open_page(first: Run, second: Run, t: Translator) -> DemoPage:
    failures = analyse_failures(first.stored)
    diagnoses = diagnose(first.stored, first.summary(), failures, load_symptoms())
    runs = {run.id: run.stored for run in (first, second)}
    return DemoPage(
        t,
        RunPage(t, first.stored, first.summary()),
        FailurePage(t, failures, diagnoses, first.stored),
        ComparisonPage(t, compare(list(runs.values())), runs),
    )


def _show_part(t: Translator, title: str, *texts: str) -> None:
    print_part(t(title), texts, Console())


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "larger chunks": {"chunk_size": 120, "overlap": 20},
    "more context": {"top_k": 8},
    "hybrid + rerank": {"retriever": "hybrid", "rerank": True},
}

COMPARED_METRICS = ["recall", "mrr", "token_f1", "abstention_accuracy"]


def _compare_configurations(output: str, language: str, store: str | None) -> None:
    """Four systems on one test set, and which is better."""
    page = str(Path(output).with_name(f"{Path(output).stem}-comparison.html"))
    base: dict[str, Any] = {"chunk_size": 40, "overlap": 0, "titles": False, "top_k": 3}
    note("\nFour configurations of the built-in pipeline, on 228 questions to 62 documents:\n")
    benchmark_result = bench(
        str(corpora.questions()),
        {name: base | settings for name, settings in CONFIGURATIONS.items()},
        COMPARED_METRICS,
        system="pipeline",
        store=store,
        watch=show_progress_lines(quiet=False),
    )
    assert benchmark_result.result is not None  # None only for a single configuration
    flags = {"output": (page,), "quiet": False, "as_json": False}  # see `present_comparison`
    present_comparison(benchmark_result.result, flags, language)
