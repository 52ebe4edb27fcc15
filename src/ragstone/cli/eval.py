"""`ragstone eval`: the whole chain from a data file to an exit code."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import (
    counted,
    note,
    reading_options,
    report_language,
    store_option,
    summed_up,
    write_files,
)

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.config import Plan
    from ragstone.data import Reading
    from ragstone.experiments.run import Run
    from ragstone.registry import Metric
    from ragstone.store import StoredRun


@click.command("eval", short_help="Score a data set.")
@click.argument("files", nargs=-1, metavar="[DATA]")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRICS",
    help="Metrics with commas between them: recall@5,token_f1. May be repeated. Default: all that need no judge and fit the data.",
)
@click.option(
    "-c", "--config", metavar="FILE", help="A YAML file with the plan; flags replace what it says."
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FILE",
    help="Also write a file: .jsonl .json .csv .parquet .md .html .xml (JUnit). May be repeated.",
)
@click.option(
    "-j",
    "--concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Questions to the judge in flight at once.",
)
@click.option(
    "--judge", metavar="JUDGE", help="Who answers judged metrics: offline, openai:MODEL, …"
)
@click.option(
    "--system",
    metavar="SYSTEM",
    help="Ask this system for the answers: pipeline:FOLDER, module:function, file.py:function, a URL.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the system: top_k=5. May be repeated.",
)
@click.option("--resume", is_flag=True, help="Go on with the unfinished run of the same plan.")
@click.option("--run", "run_id", metavar="ID", help="Name the run, or the one to go on with.")
@click.option("--retry-errors", is_flag=True, help="Score again what ended in a failure.")
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
    help="Exit 3 when fewer of the applicable samples were scored [default: 0.95].",
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
    help="Score on the workers of a Dask cluster: dask (processes of this machine), dask:4, dask://HOST:PORT, or the scheduler's file.json; slurm sends a job.",
)
@click.option("--name", metavar="NAME", help="What the run is called in lists and reports.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@reading_options
@store_option
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **flags: Any) -> None:
    """Score a data set with metrics and say how good the system is.

    DATA is a jsonl, json, csv or parquet file, a BEIR folder, or - for standard input.

    \b
      ragstone eval answers.jsonl -m recall@5,token_f1 -o report.html
      ragstone eval --refs answers.json --preds baseline.json rag.json
      ragstone eval -c nightly.yaml --gate 'recall@5 >= 0.8'

    Exit codes: 0 all well, 1 a gate missed, 2 bad input, 3 too few samples scored."""
    from ragstone.cli.flags import planned

    quiet = flags["quiet"]
    if flags["resume"] and not files and not flags["config"] and not flags["refs"]:
        ctx.exit(_again(flags["run_id"], flags["store"], quiet=quiet))
    flags["data"] = None if flags["refs"] or flags["preds"] else _only(files)
    plan, notes = planned(flags.pop("config"), flags)
    for text in notes:
        note(text, quiet=quiet)
    check_outputs(plan)
    if flags["refs"] or flags["preds"]:
        from ragstone.cli.pairs import compare

        ctx.exit(compare(flags["refs"], _predictions(flags, files), plan, quiet=quiet))
    if plan.data.path is None:
        raise click.UsageError("no data; name a file, or data: in a config given with -c")
    under_test = _system(flags)
    if flags["dry_run"]:
        from ragstone.cli.dry_run import show

        show(plan, _reading(plan), under_test)
        return
    if plan.on == "slurm":
        from ragstone.cli.slurm import evaluated

        run = evaluated(plan, _without_on(_arguments()[1:]), flags["run_id"], quiet=quiet)
    else:
        run = score(plan, run_id=flags["run_id"], quiet=quiet, **under_test)
    ctx.exit(finish(run, plan, quiet=quiet))


def score(
    plan: Plan,
    source: Reading | None = None,
    *,
    run_id: str | None = None,
    quiet: bool = False,
    **under_test: Any,
) -> Run:
    """Carry out a plan, on its data or on a reading already at hand; Ctrl-C keeps what was finished and says how to go on."""
    from ragstone.cli.flags import judge_settings
    from ragstone.cli.progress import Bar, aside, lines_in
    from ragstone.config import revealed
    from ragstone.experiments.run import evaluate

    reading = source or _reading(plan)
    # without answers the data do not say which metrics fit; the system's answers will
    chosen: Sequence[Metric] | None = plan.metrics or None
    metrics = chosen if under_test else _metrics(plan, reading, quiet=quiet)
    started: list[StoredRun] = []

    def begin(stored: StoredRun, _: Reading) -> None:
        started.append(stored)
        bar.what = stored.info.name

    data = plan.data
    with Bar(quiet=quiet) as bar, aside():
        bar.guess = lambda: lines_in(data.path or "", data.limit)
        try:
            return evaluate(
                reading if data.path in (None, "-") else data.path,
                metrics,
                judge=judge_settings(plan),
                name=plan.name or ("stdin" if data.path == "-" else None),
                store=revealed(plan.store),
                language=plan.language,
                concurrency=plan.concurrency,
                resume=plan.resume,
                run_id=run_id,
                retry_errors=plan.retry_errors,
                limit=data.limit,
                skip_bad_rows=data.skip_bad_rows,
                format=data.format,
                fields=data.fields or None,
                floor=plan.floor,
                gates=plan.gates or None,
                watch=bar,
                started=begin,
                command=_arguments(),
                on=plan.on,
                asked=bar.asked if under_test else None,
                **under_test,
            )
        except KeyboardInterrupt:
            raise _interrupted(started, bar.answers) from None


def check_outputs(plan: Plan) -> None:
    """Complain of files that could not be written before anything is paid for."""
    from ragstone.errors import ConfigError
    from ragstone.report import PAGES, ROWS

    endings, complaints = (*PAGES, *ROWS), []
    for output in plan.output:
        path = Path(output)
        if path.suffix.lower() not in endings:
            complaints.append(f"{output!r} names no format; end it in one of {' '.join(endings)}")
        elif path.is_dir():
            complaints.append(f"{output!r} is a folder; name a file in it")
        elif not path.parent.is_dir():
            complaints.append(f"there is no folder {str(path.parent)!r} for {path.name!r}")
    if complaints:
        raise ConfigError(complaints)


def finish(run: Run, plan: Plan, *, quiet: bool = False) -> int:
    """Show the result, write the files, and say how it went as an exit code."""
    info, language = run.info, report_language(plan.language)
    summary = summed_up(run, quiet=quiet)
    note(f"read {counted(info.total or 0, 'sample')} as {info.format}", quiet=quiet)
    if quiet:
        _missed(summary)
    else:
        show_summary(summary, language)
    write_files(run, plan.output, language, quiet=quiet)
    return summary.exit_code


def show_summary(summary: Summary, language: str) -> None:
    """The table on stdout, as wide as the terminal."""
    from rich.console import Console

    from ragstone.report import terminal

    terminal.show(summary, Console(), language)


def _system(flags: dict[str, Any]) -> dict[str, Any]:
    """What `evaluate` takes of the system under test: nothing without --system."""
    from ragstone.cli.ablate import setting

    if not flags["system"]:
        if flags["settings"]:
            raise click.UsageError("--set needs the system whose setting it is; add --system")
        return {}
    settings = {name: values[0] for name, values in map(setting, flags["settings"])}
    return {"system": flags["system"], "settings": settings}


def _only(files: tuple[str, ...]) -> str | None:
    if len(files) > 1:
        raise click.UsageError(
            f"{len(files)} data files; give one, or compare predictions with --refs and --preds"
        )
    return files[0] if files else None


def _predictions(flags: dict[str, Any], files: tuple[str, ...]) -> list[str]:
    if not flags["refs"]:
        raise click.UsageError("--preds needs the references; add --refs FILE")
    named = [flags["preds"], *files] if flags["preds"] else list(files)
    if not named:
        raise click.UsageError("--refs needs predictions; add --preds FILE …")
    return named


def _reading(plan: Plan) -> Reading:
    from ragstone.data import read

    data = plan.data
    return read(
        data.path,
        format=data.format,
        fields=data.fields or None,
        skip_bad_rows=data.skip_bad_rows,
        limit=data.limit,
    )


def _metrics(plan: Plan, reading: Reading, *, quiet: bool) -> list[Metric]:
    """The plan's metrics, or those that fit the data; every gate must be on one of them."""
    from ragstone.errors import ConfigError
    from ragstone.experiments.run import chosen_metrics

    metrics = chosen_metrics(plan.metrics or None, reading)
    names = [metric.name for metric in metrics]
    if not plan.metrics:
        note(f"metrics that fit the data: {', '.join(names)}", quiet=quiet)
    astray = [name for name in plan.gates if name not in names]
    complaints = [f"a gate on {name!r}, which is not measured; add -m {name}" for name in astray]
    complaints += [text for metric in metrics for text in _beyond(metric, plan.gates)]
    if complaints:
        raise ConfigError(complaints)
    return metrics


def _beyond(metric: Metric, gates: Mapping[str, str]) -> Iterator[str]:
    """A gate that no value of the metric can meet, or miss, is a slip of the pen."""
    from ragstone.config.gates import parse_gate

    if metric.name in gates and metric.bounds is not None:
        gate = parse_gate(gates[metric.name])
        low, high = (0.0, 1.0) if gate.figure == "coverage" else metric.bounds
        if not low <= gate.limit <= high:
            yield f"the gate {metric.name} {gate} is outside {low:g} to {high:g}; lower or raise it"


def _missed(summary: Summary) -> None:
    for gate in summary.gates:
        if not gate.passed:
            note(gate.sentence)
    for metric in summary.metrics:
        if not metric.complete:
            note(metric.incomplete)


def _arguments() -> list[str]:
    """What was typed after the program's name, fit to be stored and typed again."""
    from ragstone.config import without_password

    return [without_password(word) for word in sys.argv[1:] if word != "--resume"]


def _without_on(words: Sequence[str]) -> list[str]:
    """The words of a command without where it is to be carried out, which run it is, and what is written here."""
    left: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("--on", "--run", "-o", "--output"):
            skip = True
        elif not word.startswith(("--on=", "--run=", "--output=")):
            left.append(word)
    return left


def _again(run_id: str | None, store: str | None, *, quiet: bool) -> int:
    """Go on with the unfinished run named, or the newest one, by the command that started it."""
    from ragstone.cli import run
    from ragstone.errors import RunNotFound
    from ragstone.store import Store

    opened = Store.open(store, must_exist=True)
    runs = [opened.run(run_id).info] if run_id else opened.runs()
    opened.close()
    for info in runs:
        command = info.plan.get("command")
        if info.status == "running" and command:
            os.chdir(info.plan["folder"])
            words = [*command, "--resume", *(() if "--run" in command else ("--run", info.id))]
            note(f"going on with: ragstone {shlex.join(words)}", quiet=quiet)
            return run(words)
    raise RunNotFound(
        f"no unfinished run in {opened.place}; name the data of a new one: ragstone eval DATA"
    )


def _interrupted(started: list[StoredRun], answers: int) -> Exception:
    from ragstone.errors import Interrupted

    if not started and not answers:
        return Interrupted("stopped before anything was scored")
    program = Path(sys.argv[0]).name
    program = "python -m ragstone" if program == "__main__.py" else program
    again = f"{program} {shlex.join([*_arguments(), '--resume'])}"
    kept = (
        f"{counted(started[0].count(), 'sample')} scored and kept"
        if started
        else f"{counted(answers, 'answer')} of the system kept"
    )
    return Interrupted(f"stopped; {kept}; go on with: {again}")
