"""`ragstone eval --refs --preds`: score several files of predictions against one file of references, in one table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragstone.analysis.summary import MetricSummary, Summary
from ragstone.cli.messages import Count, note
from ragstone.cli.progress import Bar
from ragstone.cli.shared import choose_language
from ragstone.config import Data, Plan
from ragstone.data import pair_predictions, to_csv_line
from ragstone.experiments.inputs import RunInputs, RunObserver
from ragstone.experiments.run import run_plan
from ragstone.report.files import write_text
from ragstone.report.translator import Translator

METRICS = ("exact_match", "token_f1", "abstention_accuracy")
"""Metrics when none is named."""

OUTPUTS = (".json", ".csv", ".md")


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file of predictions and the summary of its run."""

    name: str
    file: str
    summary: Summary


def compare_predictions(refs: str, preds: Sequence[str], plan: Plan, *, quiet: bool = False) -> int:
    """Evaluate each file of predictions, show one table, write the outputs; the exit code."""
    for path in plan.output:
        if not path.endswith(OUTPUTS):
            raise click.UsageError(
                f"a comparison is not written as {path!r}; end it in one of {' '.join(OUTPUTS)}"
            )
    words = Translator(choose_language(plan.language))
    entries = [
        _evaluate_file(refs, file, name, plan, quiet=quiet)
        for file, name in zip(preds, _name_files(preds), strict=True)
    ]
    if not quiet:
        _note_formats(entries)
        _print_table(entries, words)
    for entry in entries:
        for sentence in _list_faults(entry):
            note("{name}: {sentence}", name=entry.name, sentence=sentence)
    for path in plan.output:
        render = {".json": _render_json, ".csv": _render_csv}.get(Path(path).suffix)
        write_text(path, render(entries) if render else _render_markdown(entries, words))
        note("wrote {path}", path=path, quiet=quiet)
    return _choose_exit_code(entries)


def _evaluate_file(refs: str, file: str, name: str, plan: Plan, *, quiet: bool) -> FileResult:
    dataset = pair_predictions(
        refs, file, skip_bad_rows=plan.data.skip_bad_rows, limit=plan.data.limit
    )
    with Bar(quiet=quiet) as bar:
        bar.title = name
        # Each file is a run of its own in the store; outputs are written once, for all files
        # together.
        file_plan = replace(
            plan, name=name, data=Data(), metrics=plan.metrics or METRICS, output=()
        )
        run = run_plan(file_plan, RunInputs(samples=dataset), RunObserver(progress=bar))
    summary = run.summary()
    # A question without a prediction is a system error on every metric; the largest count is of a
    # metric that applies to all.
    missing = max((m.outcomes.get("system_error", 0) for m in summary.metrics), default=0)
    if missing:
        note(
            "{name}: no prediction for {missing} of {questions}",
            name=name,
            missing=missing,
            questions=Count(run.info.total or 0, "question"),
            quiet=quiet,
        )
    return FileResult(name, file, summary)


def _note_formats(entries: Sequence[FileResult]) -> None:
    """What was read as what, once where it is the same for all."""
    infos = [entry.summary.run for entry in entries]
    for samples, name in dict.fromkeys((info.total or 0, info.format) for info in infos):
        note("read {samples} as {format}", samples=Count(samples, "sample"), format=name)


def _name_files(preds: Sequence[str]) -> list[str]:
    """File names, with their folder when two are alike."""
    names = [Path(file).name for file in preds]
    return [
        name if names.count(name) == 1 else str(Path(file))
        for file, name in zip(preds, names, strict=True)
    ]


def _list_incomplete(entry: FileResult) -> list[MetricSummary]:
    """Metrics with too few samples scored."""
    return [metric for metric in entry.summary.metrics if not metric.complete]


def _list_faults(entry: FileResult) -> list[str]:
    """Why the exit code will not be 0."""
    missed = [gate.sentence for gate in entry.summary.gates if not gate.passed]
    return missed + [metric.incomplete for metric in _list_incomplete(entry)]


def _choose_exit_code(entries: Sequence[FileResult]) -> int:
    """That of the worst file."""
    gates = [gate.passed for entry in entries for gate in entry.summary.gates]
    # 3 outranks 1: where figures are missing, a missed gate may be an artefact of that.
    if None in gates or any(_list_incomplete(entry) for entry in entries):
        return 3
    return 1 if False in gates else 0


def _print_table(entries: Sequence[FileResult], words: Translator) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("")
    for metric in entries[0].summary.metrics:
        table.add_column(metric.metric, justify="right")
    for entry in entries:
        cells = [
            Text.assemble(
                words.number(metric.mean),
                (f"\n{words.interval(metric.low, metric.high)}", "dim"),
                (f"\n{format_coverage(metric)}", "dim" if metric.complete else "yellow"),
            )
            for metric in entry.summary.metrics
        ]
        table.add_row(Text(entry.name, style="cyan"), *cells)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\n{words('pairs_caption')}", style="dim")


def format_coverage(metric: MetricSummary) -> str:
    """Samples scored of those that could be."""
    return f"{metric.scored:,}/{metric.applicable:,}"


def _render_json(entries: Sequence[FileResult]) -> str:
    rows = [
        {
            "name": entry.name,
            "file": entry.file,
            "run": entry.summary.run.id,
            "samples": entry.summary.run.total,
            "metrics": {metric.metric: _to_figures(metric) for metric in entry.summary.metrics},
            "gates": [
                {"metric": gate.metric, "rule": gate.rule, "passed": gate.passed}
                for gate in entry.summary.gates
            ],
        }
        for entry in entries
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _to_figures(metric: MetricSummary) -> dict[str, Any]:
    return {
        "mean": metric.mean,
        "low": metric.low,
        "high": metric.high,
        "scored": metric.scored,
        "applicable": metric.applicable,
        "total": metric.total,
        "outcomes": dict(metric.outcomes),
        "labels": dict(metric.labels),
    }


def _render_csv(entries: Sequence[FileResult]) -> str:
    keys = ("mean", "low", "high", "scored", "applicable")
    names = [metric.metric for metric in entries[0].summary.metrics]
    columns = [name if key == "mean" else f"{name}_{key}" for name in names for key in keys]
    lines = [to_csv_line(["name", "samples", *columns])]
    for entry in entries:
        figures = [_to_figures(metric) for metric in entry.summary.metrics]
        cells = [figure[key] for figure in figures for key in keys]
        lines.append(to_csv_line([entry.name, entry.summary.run.total, *cells]))
    return "".join(lines)


def _render_markdown(entries: Sequence[FileResult], words: Translator) -> str:
    names = [metric.metric for metric in entries[0].summary.metrics]
    lines = [f"| | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    for entry in entries:
        cells = [
            f"{words.number(m.mean)}, {words.interval(m.low, m.high)}, {format_coverage(m)}"
            for m in entry.summary.metrics
        ]
        name = entry.name.replace("|", "\\|")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", words("pairs_caption")]) + "\n"
