"""Options of `ragstone eval`: score a data file and exit with a code that says whether the gates were met."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import (
    details_option,
    judge_options,
    output_option,
    parse_worker_count,
    reading_options,
    store_option,
)


@click.command("eval", short_help="Score a data set.")
@click.argument("files", nargs=-1, metavar="[DATA]")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRICS",
    help="Metrics with commas between them: recall@5,token_f1. May be repeated. Default: those that fit the data.",
)
@click.option(
    "-c", "--config", metavar="FILE", help="A YAML file with the plan; flags replace what it says."
)
@output_option("run", what="Also write a file")
@click.option(
    "--explain",
    is_flag=True,
    help="Also write claims, verdicts and quotes into the rows of .jsonl, .json, .csv and .parquet files.",
)
@click.option(
    "-j",
    "--concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Concurrent requests to the judge.",
)
@click.option(
    "--workers",
    callback=parse_worker_count,
    metavar="N|auto",
    help="Processes that score, for text metrics and the embedded judge. auto, the default: all cores where that pays.",
)
@click.option(
    "--no-calibration",
    is_flag=True,
    help="Leave the judge's probabilities as they are, although `judge fit` fitted them to labels.",
)
@judge_options("Who answers judged metrics: offline, openai:MODEL, …")
@click.option(
    "--system",
    metavar="SYSTEM",
    help="Ask this system for the answers: pipeline:FOLDER, module:function, file.py:function, a URL, command:PROGRAM, a YAML file.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the system: top_k=5. May be repeated.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the unfinished run of the same plan; without DATA, the newest one.",
)
@click.option(
    "--restart",
    is_flag=True,
    help="Like --resume, but begin a new run where judge, prompts, metrics or ragstone have changed.",
)
@click.option("--run", "run_id", metavar="ID", help="Name the run, or the one to resume.")
@click.option("--retry-errors", is_flag=True, help="Score failed samples again.")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be done and what it would cost; write nothing."
)
@click.option(
    "--max-usd",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Stop asking the judge before this much is spent.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop asking the judge after N calls.",
)
@click.option(
    "--gate",
    "gates",
    multiple=True,
    metavar="RULE",
    help="Exit 1 unless it holds: 'recall@5 >= 0.8' (lower end of the interval), 'recall@5 mean >= 0.8'. May be repeated.",
)
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit 3 when less than this share of the applicable samples was scored [default: 0.95].",
)
@click.option(
    "--labels",
    metavar="FILE",
    help="Labels of people on the samples (jsonl, csv, exports of other tools): correct the means by them.",
)
@click.option(
    "--refs",
    metavar="FILE",
    help="References for predictions in other files: eval --refs REFS --preds A B C.",
)
@click.option(
    "--preds",
    metavar="FILE …",
    help="Predictions to compare, matched by question_id, else by position.",
)
@click.option(
    "--lang",
    "language",
    metavar="LANG",
    help="Language of samples that name none, and of the report: en, es.",
)
@click.option(
    "--on",
    metavar="WHERE",
    help="Score on the workers of a Dask cluster: dask (processes of this machine), dask:4, dask://HOST:PORT, or the scheduler's file.json; slurm submits a job.",
)
@click.option("--name", metavar="NAME", help="What the run is called in lists and reports.")
@click.option("--plan", metavar="FILE", hidden=True, help="A plan as JSON; launchers give it.")
@details_option
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@reading_options
@store_option
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **flags: Any) -> None:
    """Score a data set with metrics: how good is the system?

    DATA is a jsonl, json, csv or parquet file, a BEIR folder, or - for standard input.

    Without -m, the metrics that the data allow are chosen. Without --judge, the embedded judge answers the judged ones.

    \b
      ragstone eval answers.jsonl
      ragstone eval answers.jsonl -m recall@5,token_f1 -o report.html
      ragstone eval --refs answers.json --preds baseline.json rag.json
      ragstone eval -c nightly.yaml --gate 'recall@5 >= 0.8'

    Exit codes: 0 success, 1 a gate failed, 2 bad input, 3 too few samples scored."""
    # Imported when the command runs, so that `--help` stays quick.
    from ragstone.cli.actions.eval import evaluate_files

    # `obj` of the root holds the typed words, see `ragstone.cli.run`.
    ctx.exit(evaluate_files(files, flags, ctx.find_root().obj or ()))
