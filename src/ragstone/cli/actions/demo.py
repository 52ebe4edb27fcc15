"""`ragstone demo` in action."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from ragstone.cli.actions.bench import show_progress_lines
from ragstone.cli.actions.compare import present_comparison
from ragstone.cli.actions.eval import check_outputs, score_plan, show_summary
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import check_language
from ragstone.config import Plan
from ragstone.data import corpora, read
from ragstone.experiments.bench import bench
from ragstone.experiments.inputs import RunInputs

METRICS = (
    "recall@3", "ndcg@3", "mrr", "exact_match(normalize=squad)", "token_f1", "abstention_accuracy",
)  # fmt: skip


def run_demo(output: str, *, configurations: bool, language: str | None, store: str | None) -> None:
    """Evaluate the bundled data set and write its report."""
    plan = Plan(name="demo", metrics=METRICS, store=store, output=(output,))
    check_outputs(plan)
    bundled = resources.files("ragstone") / "data" / "demo" / "library.jsonl"
    spoken = check_language(language) or "en"
    # The package may be a zip file, in which the data has no path.
    with resources.as_file(bundled) as path:
        dataset = read(path)
        dataset.source = path.name  # where the package is installed is of no interest
        run = score_plan(plan, RunInputs(samples=dataset))
    show_summary(run.summary(), spoken)
    run.write(output, language=spoken)
    note(f"\nThe report: {Path(output).resolve()}")
    if configurations:
        _compare_configurations(output, spoken, store)
    note("Your own data: ragstone eval DATA.jsonl -m recall@5,token_f1 -o report.html")


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
    assert benchmark_result.result is not None
    flags = {"output": (page,), "quiet": False, "json": False, "as_json": False}
    present_comparison(benchmark_result.result, flags, language)
