"""`ragstone eval`: build the plan that the flags describe, score it, show and write the result, choose the exit code."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.actions.flags import build_plan, load_plan_file
from ragstone.cli.actions.messages import Count, format_count, note, note_left_over
from ragstone.cli.actions.progress import Bar, count_lines, stdout_to_stderr
from ragstone.cli.actions.shared import choose_language, summarise_run, write_files
from ragstone.cli.options import complain_of_folder
from ragstone.config import Plan, mask_password
from ragstone.config.gates import parse_gate
from ragstone.data import Dataset
from ragstone.errors import ConfigError, Interrupted, NothingToScore, RagstoneError
from ragstone.experiments.inputs import RunInputs, RunObserver
from ragstone.experiments.run import Run, run_plan
from ragstone.locale.messages import render
from ragstone.registry import Metric
from ragstone.report.formats import describe_unknown, list_endings
from ragstone.store import StoredRun

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.judges.batching import BatchJob


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
        from ragstone.cli.actions import resume

        plan, store = resume.load_unfinished(flags, quiet=quiet)
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
        from ragstone.cli.actions import pairs  # imports what draws tables

        return pairs.compare_predictions(
            flags["refs"], _list_predictions(flags, files), plan, quiet=quiet
        )
    if plan.data.path is None:
        raise click.UsageError("no data; name a file, or data: in a config given with -c")
    if flags["dry_run"]:
        from ragstone.cli.actions import dry_run  # imports systems and judges of every kind

        dry_run.show_estimate(plan)
        return 0
    if plan.on == "slurm":
        from ragstone.cli.actions import slurm  # imports what clusters need

        return finish_run(
            slurm.run_job(plan, quiet=quiet), plan, quiet=quiet, details=flags["details"]
        )
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
    from ragstone.cli.actions.next_commands import list_next_commands

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
