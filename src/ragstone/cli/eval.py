"""`ragstone eval`: score a data file and exit with a code that says whether the gates were met."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.init import CONFIG_NAME
from ragstone.cli.messages import Count, format_count, note, note_left_over
from ragstone.cli.options import (
    complain_of_folder,
    details_option,
    judge_options,
    output_option,
    parse_worker_count,
    reading_options,
    store_option,
)
from ragstone.cli.plans import build_plan, load_plan_file
from ragstone.cli.progress import Bar, count_lines, stdout_to_stderr
from ragstone.cli.shared import choose_language, summarise_run, write_files
from ragstone.config import Plan, mask_password
from ragstone.config.gates import parse_gate
from ragstone.data import Dataset
from ragstone.errors import ConfigError, Interrupted, NothingToScore, RagstoneError, RunNotFound
from ragstone.experiments.inputs import RunInputs, RunObserver
from ragstone.experiments.run import Run, run_plan
from ragstone.locale.messages import render
from ragstone.registry import Metric
from ragstone.report.formats import describe_unknown, list_endings
from ragstone.store import RunInfo, Store, StoredRun

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.judges.batching import BatchJob


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

    # `obj` of the root holds the typed words, see `ragstone.cli.run`.
    ctx.exit(evaluate_files(files, flags, ctx.find_root().obj or ()))


def evaluate_files(files: tuple[str, ...], flags: dict[str, Any], typed: Sequence[str]) -> int:
    """Do what the flags ask for and return the exit code; `typed` are the words of the command line.

    `flags` are the options that cli/eval.py declares, by parameter name."""
    quiet = flags["quiet"]
    if flags["plan"] is not None:  # set by a Slurm launcher
        plan, _ = build_plan(flags, load_plan_file(flags["plan"]))
        # No command words: the launcher's own `--plan FILE` would be useless in a report.
        return finish_run(
            score_plan(plan, quiet=quiet), plan, quiet=quiet, details=flags["details"]
        )
    # These words are stored and shown in reports. Without --resume, since whoever repeats the run
    # wants a new one.
    words = tuple(mask_password(word) for word in typed if word not in ("--resume", "--restart"))
    # Only a bare --resume looks for the newest run; with data or a config the plan is known, and
    # its own unfinished run is looked for by identity.
    if (
        (flags["resume"] or flags["restart"])
        and not files
        and not flags["config"]
        and not flags["refs"]
    ):
        plan, store = load_unfinished(flags, quiet=quiet)
        inputs = RunInputs(store=store, command=words)
        return finish_run(
            score_plan(plan, inputs, quiet=quiet), plan, quiet=quiet, details=flags["details"]
        )
    is_comparison = flags["refs"] or flags["preds"]
    flags["data"] = None if is_comparison else _choose_single_file(files)
    plan, notes = build_plan(flags)
    for text in notes:
        note(text, quiet=quiet)
    # Before the dry run, too, whose purpose is to show mistakes.
    check_outputs(plan)
    if is_comparison:
        from ragstone.cli.pairs import compare_predictions  # imports what draws tables

        return compare_predictions(
            flags["refs"], _list_predictions(flags, files), plan, quiet=quiet
        )
    if plan.data.path is None:
        raise click.UsageError("no data; name a file, or data: in a config given with -c")
    if flags["dry_run"]:
        from ragstone.cli.dry_run import show_estimate  # imports systems and judges of every kind

        show_estimate(plan)
        return 0
    if plan.on == "slurm":
        from ragstone.cli.slurm import run_job  # imports what clusters need

        return finish_run(run_job(plan, quiet=quiet), plan, quiet=quiet, details=flags["details"])
    return finish_run(
        score_plan(plan, RunInputs(command=words), quiet=quiet),
        plan,
        quiet=quiet,
        details=flags["details"],
    )


def score_plan(plan: Plan, inputs: RunInputs = RunInputs(), *, quiet: bool = False) -> Run:  # noqa: B008
    """Execute a plan with a progress bar; Ctrl-C keeps what was finished and says how to resume."""
    started: list[StoredRun] = []  # the run, once it is in the store; empty before

    def note_start(stored: StoredRun, dataset: Dataset) -> None:
        started.append(stored)
        note_left_over(dataset, quiet=quiet)
        bar.title = stored.info.name
        if plan.gates:
            _note_unfit_gates(stored, choose_language(plan.language), quiet=quiet)

    if plan.data.path == "-" and plan.name is None:
        # A run is else named after its file, which would be `-`.
        plan = replace(plan, name="stdin")
    # stdout_to_stderr: a user's metric that prints must not end up in our JSON or table on stdout.
    with Bar(quiet=quiet) as bar, stdout_to_stderr():
        bar.estimate_total = lambda: count_lines(plan.data.path or "", plan.data.limit)
        observer = RunObserver(
            progress=bar,
            answers=bar.show_answers if plan.system is not None else None,
            # With a system the metrics are known only after it has answered.
            metrics=_check_metrics(plan, quiet=quiet) if plan.system is None else None,
            started=note_start,
            job_sent=lambda job: note_job(job, quiet=quiet),
        )
        try:
            return run_plan(plan, inputs, observer)
        except NothingToScore as nothing:
            raise RagstoneError(render(nothing.message, choose_language(plan.language))) from None
        except KeyboardInterrupt:
            raise _explain_stop(started, bar.answers, inputs.command) from None


def _note_unfit_gates(stored: StoredRun, language: str, *, quiet: bool) -> None:
    """Say which gates are on metrics that the judge was found not fit for."""
    from ragstone.analysis.scales import find_unfit_gates
    from ragstone.report.figures import describe_unfit_gates
    from ragstone.report.translator import load_translator

    unfit = find_unfit_gates(stored)
    for remark in describe_unfit_gates(unfit, stored.info.judge, load_translator(language)):
        note(remark.text, quiet=quiet)


def note_job(job: BatchJob, *, quiet: bool) -> None:
    """Say that questions wait at a provider, and that nobody has to wait with them."""
    provider = job.place.partition(" ")[0]
    note(
        "sent {questions} to {provider} as the job {id}, answered within 24 hours; stop with Ctrl-C whenever you like, and collect the replies later with --resume",
        questions=Count(len(job.keys), "question"),
        provider=provider,
        id=job.id,
        quiet=quiet,
    )


def check_outputs(plan: Plan) -> None:
    """Raise ConfigError for files that could not be written, before anything is paid for."""
    errors = []
    for output in plan.output:
        path = Path(output)
        if path.suffix.lower() not in list_endings("run"):
            errors.append(describe_unknown("run", output))
        elif path.is_dir():
            errors.append(f"{output!r} is a folder; name a file in it")
        else:
            errors += complain_of_folder(path)
    if errors:
        raise ConfigError(errors)


def finish_run(run: Run, plan: Plan, *, quiet: bool = False, details: bool = False) -> int:
    """Show the result, write the files, and say how it went as an exit code."""
    info, language = run.info, choose_language(plan.language)
    summary = summarise_run(run, quiet=quiet)
    note(
        "read {samples} as {format}",
        samples=Count(info.total or 0, "sample"),
        format=info.format,
        quiet=quiet,
    )
    if quiet:
        _note_failures(summary)
    else:
        show_result(run, language, details=details)
    write_files(run, plan.output, language, explain=plan.explain, quiet=quiet)
    return summary.exit_code


def show_result(
    run: Run,
    language: str,
    commands: Sequence[tuple[str, str]] | None = None,
    *,
    details: bool = False,
) -> None:
    """What a run found, on stdout: verdict, table, worst claims, and what to do next."""
    # Imported when shown: a quiet run, as in CI, needs none of it.
    from ragstone import report

    following = list_next_commands(run) if commands is None else commands
    report.show(run, language=language, details=details, commands=following)


def _choose_single_file(files: tuple[str, ...]) -> str | None:
    if len(files) > 1:
        raise click.UsageError(
            f"{len(files)} data files; give one, or compare predictions with --refs and --preds"
        )
    return files[0] if files else None


def _list_predictions(flags: dict[str, Any], files: tuple[str, ...]) -> list[str]:
    if not flags["refs"]:
        raise click.UsageError("--preds needs the references; add --refs FILE")
    named = [flags["preds"], *files] if flags["preds"] else list(files)
    if not named:
        raise click.UsageError("--refs needs predictions; add --preds FILE …")
    return named


def _check_metrics(plan: Plan, *, quiet: bool) -> Callable[[Sequence[Metric]], None]:
    """A check of the chosen metrics: every gate must be on one of them, and within its bounds."""

    def check_gates(metrics: Sequence[Metric]) -> None:
        names = [metric.name for metric in metrics]
        if not plan.metrics:
            note("metrics that fit the data: {names}", names=", ".join(names), quiet=quiet)
        errors = [
            f"a gate on {name!r}, which is not measured; add -m {name}"
            for name in plan.gates
            if name not in names
        ]
        errors += [text for metric in metrics for text in _complain_of_gate(metric, plan.gates)]
        if errors:
            raise ConfigError(errors)

    return check_gates


def _complain_of_gate(metric: Metric, gates: Mapping[str, str]) -> Iterator[str]:
    """A gate that no value of the metric can meet, or miss, is a typing mistake."""
    if metric.name in gates and metric.bounds is not None:
        gate = parse_gate(gates[metric.name])
        # Coverage is a share, whatever the metric's own scale.
        low, high = (0.0, 1.0) if gate.figure == "coverage" else metric.bounds
        if not low <= gate.limit <= high:
            yield f"the gate {metric.name} {gate} is outside {low:g} to {high:g}; lower or raise it"


def _note_failures(summary: Summary) -> None:
    for gate in summary.gates:
        if not gate.passed:
            note(gate.sentence)
    for metric in summary.metrics:
        if not metric.complete:
            note(metric.incomplete)


def _explain_stop(
    started: Sequence[StoredRun], answers: int, command: Sequence[str]
) -> Interrupted:
    if not started and not answers:
        return Interrupted("stopped before anything was scored")
    # What the user can paste: under `python -m ragstone` argv[0] is the path of our __main__.py.
    program = Path(sys.argv[0]).name
    program = "python -m ragstone" if program == "__main__.py" else program
    again = f"{program} {shlex.join([*command, '--resume'])}"
    progress = (
        f"{format_count(started[0].count(), 'sample')} scored and kept"
        if started
        else f"{format_count(answers, 'answer')} of the system kept"
    )
    return Interrupted(f"stopped; {progress}; resume with: {again}")


IN_ENVIRONMENT = ("store", "api_key")
"""Secrets that a resumed run has from elsewhere: its store is open, and keys are in the environment."""


def load_unfinished(flags: Mapping[str, Any], *, quiet: bool = False) -> tuple[Plan, Store]:
    """The plan of the named unfinished run, or of the newest one, with the flags applied to it; and its store."""
    store = Store.open(flags["store"], must_exist=True)
    name = flags["run_id"]
    # Newest first: the first that fits is the one the user means.
    runs = [store.run(name).info] if name else store.runs()
    for info in runs:
        # A named run is taken even if it cannot be resumed: `load_plan` then says why.
        if info.status == "running" and (name or _is_resumable(info)):
            plan, _ = build_plan({**flags, "run_id": info.id}, load_plan(info))
            kept = format_count(store.run(info.id).count(), "sample")
            note(
                "resuming run {id} ({name}): {kept} kept",
                id=info.id, name=info.name, kept=kept, quiet=quiet,
            )  # fmt: skip
            return plan, store
    store.close()
    raise RunNotFound(
        f"no unfinished run in {store.place}; name the data of a new one: ragstone eval DATA"
    )


def load_plan(info: RunInfo) -> Plan:
    """The plan of a stored run; RagstoneError says what is missing to execute it again."""
    if info.facts.legacy:
        raise RagstoneError(
            f"run {info.id} was started by ragstone 0.1, which did not write down how it scores; "
            "start a new run by its command, without --resume"
        )
    if not _is_resumable(info):
        what = " and ".join(info.facts.in_memory) or "options"
        raise RagstoneError(
            f"run {info.id} was started from Python, and its {what} cannot be stored; resume it there: "
            f"evaluate(..., run_id={info.id!r}, resume=True)"
        )
    lost = [name for name in info.facts.lost if name not in IN_ENVIRONMENT]
    if lost:
        raise RagstoneError(
            f"run {info.id} was started with a secret that is not stored ({', '.join(lost)}); "
            "resume it by its own command with --resume at the end"
        )
    return info.plan


def _is_resumable(info: RunInfo) -> bool:
    return not info.facts.in_memory and not info.facts.legacy


def list_next_commands(run: Run) -> list[tuple[str, str]]:
    """Each command with the key of the reason to run it."""
    from ragstone.report.figures import name_store

    info = run.info
    if not info.place:  # a store in memory ends with this process
        return []
    store_flag = name_store(info)
    commands = [
        ("report", f"ragstone report {info.id}{store_flag} -o report.html"),
        ("diagnose", f"ragstone diagnose {info.id}{store_flag}"),
    ]
    earlier = next((old for old in run.stored.store.runs() if _is_earlier(old, info)), None)
    if earlier is not None:
        commands.append(("compare", f"ragstone compare {earlier.id} {info.id}{store_flag}"))
    data = info.plan.data.path
    is_configured = {"-c", "--config"} & set(info.facts.command) or Path(CONFIG_NAME).exists()
    is_plain = info.plan.system is None and not is_configured  # `init` knows nothing of a system
    if data and data != "-" and Path(data).is_file() and is_plain:
        commands.append(("init", f"ragstone init {shlex.quote(_shorten_path(data))}"))
    return commands


def _shorten_path(path: str) -> str:
    """The path as it is typed here, for a file below this folder."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _is_earlier(old: RunInfo, info: RunInfo) -> bool:
    """Whether `old` is an earlier, finished run of the same file with a metric in common."""
    names = {metric["name"] for metric in info.metrics}
    return (
        old.id != info.id
        and old.created <= info.created
        and old.status == "done"
        and old.facts.source == info.facts.source
        and any(metric["name"] in names for metric in old.metrics)
    )
