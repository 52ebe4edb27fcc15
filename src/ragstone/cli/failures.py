"""Options of `ragstone failures`: why samples fail, and where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from ragstone import report
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.classes import CLASSIC
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.cli.messages import note
from ragstone.cli.options import check_outputs, details_option, output_option, store_option
from ragstone.cli.progress import show_waiting
from ragstone.cli.shared import choose_language, open_run, summarise_run
from ragstone.experiments.diagnosis import DiagnosisResult


@click.command("failures")
@click.argument("run", default="last")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="CLASS=LIMIT",
    help="When a sample is of a class: hallucination=0.9, or by metric: recall=0.3. May be repeated.",
)
@click.option(
    "--limits",
    type=click.Choice(["classic"]),
    help="Usual fixed limits instead of measured ones, for judges that say yes or no.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Break down by this field of meta, language or group [default: all]. May be repeated.",
)
@output_option("failures", "tables here")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(
    run: str,
    thresholds: tuple[str, ...],
    limits: str | None,
    by: tuple[str, ...],
    output: tuple[str, ...],
    language: str | None,
    store: str | None,
    details: bool,
) -> None:
    """Explain why samples fail, and where they fail most.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    show_failures(run, thresholds, limits, by, output, language, store, details)


def show_failures(
    name: str,
    thresholds: Sequence[str],
    limits: str | None,
    by: Sequence[str],
    output: Sequence[str],
    language: str | None,
    store_path: str | None,
    details: bool,
) -> None:
    """Classify the failures of a run; print them, or write the files named."""
    check_outputs("failures", output)
    if limits and thresholds:
        raise click.UsageError("--limits and --threshold exclude each other; leave one out")
    run = open_run(name, store_path).stored
    chosen = parse_thresholds(thresholds)
    with show_waiting("looking at every sample"):
        failures = analyse_failures(run, thresholds=CLASSIC if limits else chosen, by=by or None)
    report_language = choose_language(language, run.info.plan.language)
    _present(DiagnosisResult(None, failures, run, report_language), output, details)


def show_diagnosis(
    name: str,
    files: Sequence[str],
    thresholds: Sequence[str],
    output: Sequence[str],
    language: str | None,
    store_path: str | None,
    details: bool,
) -> None:
    """Find the symptoms of a run with their causes and advice; print them, or write the files named."""
    # the file is a report of failures with the advice in it
    check_outputs("failures", output)
    symptoms = load_symptoms([(Path(file).read_text(encoding="utf-8"), file) for file in files])
    run = open_run(name, store_path)
    failures = analyse_failures(run.stored, thresholds=parse_thresholds(thresholds))
    diagnoses = diagnose(run.stored, summarise_run(run), failures, symptoms)
    report_language = choose_language(language, run.info.plan.language)
    result = DiagnosisResult(tuple(diagnoses), failures, run.stored, report_language)
    _present(result, output, details)


def parse_thresholds(texts: Sequence[str]) -> dict[str, float]:
    """Failure class or metric → threshold, from texts such as `hallucination=0.9`."""
    thresholds = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            threshold = float(value)
        except ValueError:
            threshold = math.nan
        if not name.strip() or math.isnan(threshold):
            raise click.UsageError(f"{text!r} is no threshold; write it as hallucination=0.9")
        thresholds[name.strip()] = threshold
    return thresholds


def _present(result: DiagnosisResult, paths: Sequence[str], details: bool) -> None:
    """Print the result, or write the files named."""
    if not paths:
        report.show(result, details=details)
    for path in paths:
        report.write(result, path)
        note("wrote {path}", path=path)
