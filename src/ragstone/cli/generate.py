"""Options of `ragstone generate`: make a test set from documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ragstone.cli.messages import format_count, note
from ragstone.cli.options import judge_options, store_option
from ragstone.cli.progress import Bar, format_duration
from ragstone.cli.review import review_items
from ragstone.engine.sync import run_sync
from ragstone.errors import Interrupted
from ragstone.testset.estimate import estimate_generation
from ragstone.testset.plan import TestsetInputs, TestsetPlan
from ragstone.testset.sets import TestSet, execute_testset_plan, load_unfinished, part_file
from ragstone.testset.summary_text import format_summary


@click.command("generate", short_help="Make a test set from documents or a log.")
@click.argument("documents", nargs=-1, metavar="DOCS")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The file to write: .jsonl .json .csv .parquet, or a folder for beir [default: jsonl on standard output].",
)
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many items [default: 100, or fewer when there are not as many].",
)
@click.option(
    "--kinds",
    metavar="KIND=WEIGHT,…",
    help="Which kinds the judge writes in which proportion: factual=3,how_to=1,unanswerable=1.",
)
@click.option(
    "--lang", "languages", metavar="LANG,…", help="Only documents in these languages: en,es."
)
@click.option(
    "--from-log",
    "log",
    metavar="FILE",
    help="Questions that people asked: a chat log, a search log, any file that `ragstone eval` reads; DOCS, if given, may answer them.",
)
@click.option(
    "--from-monitor", is_flag=True, help="Questions that the monitor of the store has logged."
)
@click.option(
    "--redact",
    default="on",
    show_default=True,
    metavar="on|off|HOOK",
    help="Take personal data out of a log, or have it done by module:function.",
)
@judge_options(
    "Who writes the questions: openai:MODEL, … [default: the questions that DOCS ask themselves]."
)
@click.option(
    "--checker",
    metavar="JUDGE",
    help="Who proves what the judge wrote [default: the judge itself].",
)
@click.option(
    "--style",
    "styles",
    multiple=True,
    metavar="PERSON",
    help="Whom the judge asks as: 'a worried parent'. May be repeated.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="The same seed gives the same test set.",
)
@click.option(
    "--format",
    "format",
    default="ragstone",
    show_default=True,
    metavar="FORMAT",
    help="ragstone, ragas, deepeval, query, questions or beir.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the unfinished test set beside FILE; all else may be left out.",
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
    "-j",
    "--concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Questions to the judge in flight at once.",
)
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    default=0.9,
    show_default=True,
    metavar="SHARE",
    help="Exit 3 when fewer than this share of -n N was made.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be asked and what it would cost; write nothing."
)
@click.option(
    "--review",
    is_flag=True,
    help="Look through the items of FILE (or of DOCS, a test set) one by one: accept, edit, reject.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(documents: tuple[str, ...], **flags: Any) -> int:
    """Make a test set: of what documents ask, of what people asked, or of what a model writes.

    DOCS are folders or files: txt, md, rst, html, ipynb, pdf and docx (extras), jsonl of {id, text}, or a BEIR folder.

    \b
      ragstone generate manuals/ -o testset.jsonl
      ragstone generate manuals/ -o asked.jsonl --from-log searches.csv -n 200
      ragstone generate manuals/ -o written.jsonl --judge openai:gpt-4o-mini --max-usd 2
      ragstone generate --review testset.jsonl

    Exit codes: 0 all well, 2 bad input, 3 too few items made."""
    plan = None
    if not documents and flags["resume"] and flags["output"] is not None:
        plan = load_unfinished(Path(flags["output"]))  # it names the documents
    from_log = flags["log"] is not None or flags["from_monitor"]
    if not documents and plan is None and not from_log:
        raise click.UsageError("no documents; name a folder or files, or --from-log FILE")
    if from_log and flags["judge"] is not None:
        raise click.UsageError(
            "--from-log takes questions as they are, --judge writes new ones; leave one out"
        )
    if flags["review"] and flags["output"] is None:
        return _review_file(documents)
    plan = plan or _build_plan(documents, flags)
    if flags["dry_run"]:
        show_estimate(plan)
        return 0
    testset = _execute_plan(plan, quiet=flags["quiet"])
    _report_testset(testset, plan, quiet=flags["quiet"])
    if flags["review"] and testset.out is not None:
        _review_file((str(testset.out),))
    # At least one item, even where no number was asked for: an empty test set is never a success.
    enough = max(1, flags["floor"] * (plan.n or 0))
    return 0 if len(testset.items) >= enough else 3


def _build_plan(documents: tuple[str, ...], flags: dict[str, Any]) -> TestsetPlan:
    if flags["resume"] and flags["output"] is None:
        raise click.UsageError("--resume needs the file of the unfinished test set; give -o FILE")
    if not flags["resume"] and flags["output"] is not None and Path(flags["output"]).is_file():
        raise click.UsageError(
            f"{flags['output']} exists; give another name, --resume it, or remove it first"
        )
    languages = (part.strip() for part in (flags["languages"] or "").split(","))
    return TestsetPlan(
        documents=documents,
        n=flags["count"],
        languages=tuple(language for language in languages if language),
        out=flags["output"],
        styles=tuple(flags["styles"]),
        **{name: flags[name] for name in _SAME_NAMES},
    )


_SAME_NAMES = (
    "log",
    "from_monitor",
    "redact",
    "kinds",
    "judge",
    "checker",
    "seed",
    "format",
    "resume",
    "store",
    "concurrency",
    "max_usd",
    "max_calls",
)
"""Options that are called as the fields of a plan."""


def _execute_plan(plan: TestsetPlan, *, quiet: bool) -> TestSet:
    with Bar(quiet=quiet) as bar:
        bar.title, bar.failed_word = "writing questions", "refused"
        try:
            return run_sync(lambda: execute_testset_plan(plan, TestsetInputs(watch=bar)))
        except KeyboardInterrupt:
            if plan.out is None:
                raise
            part = part_file(Path(plan.out))
            raise Interrupted(
                f"stopped; the plan is in {part} and what was replied in the store, resume with --resume"
            ) from None


def _report_testset(testset: TestSet, plan: TestsetPlan, *, quiet: bool) -> None:
    if plan.out is None:
        for row in testset.rows():
            click.echo(json.dumps(row, ensure_ascii=False))
    # With -q the summary is printed only when nothing was made: it says why.
    note(format_summary(testset), quiet=quiet and bool(testset.items))
    if testset.out is not None:
        note("\nwrote {path}", path=testset.out, quiet=quiet)
    elif plan.out is not None:
        note("\nnothing was made: {path} is not written", path=plan.out)
    if testset.rejected and testset.rejected_in is not None:
        note("the refused ones are in {path}", path=testset.rejected_in, quiet=quiet)
    if testset.planted_in is not None:
        note(
            "the documents with a hidden instruction are in {path} and in the corpus"
            if plan.format == "beir"
            else "the documents with a hidden instruction are in {path}: add them to your corpus",
            path=testset.planted_in,
            quiet=quiet,
        )
    if testset.stopped and plan.out is not None:
        note("resume with the same command and --resume", quiet=quiet)


def _review_file(files: tuple[str, ...]) -> int:
    if len(files) != 1:
        raise click.UsageError("one test set at a time; give --review FILE")
    return review_items(Path(files[0]))


def show_estimate(plan: TestsetPlan) -> None:
    """Print the estimate of a plan."""
    estimate = estimate_generation(plan)
    if estimate.judge is None:
        what = (
            "the questions that they ask themselves are taken"
            if plan.log is None and not plan.from_monitor
            else "they may answer the questions of the log"
        )
        click.echo(
            f"{format_count(estimate.documents, 'document')}; {what}: no judge is asked and nothing is paid"
        )
        return
    click.echo(
        f"{format_count(estimate.documents, 'document')}, about {estimate.asked_about:,} of them asked about; "
        f"{format_count(sum(estimate.kinds.values()), 'item')} wanted:"
    )
    wide = max(map(len, estimate.kinds))
    for kind, count in estimate.kinds.items():
        click.echo(f"  {kind:<{wide}}  {count:,}")
    money = "USD unknown" if estimate.usd is None else f"{estimate.usd:,.2f} USD"
    click.echo(
        f"{estimate.judge}: about {format_count(estimate.calls, 'call')}, {estimate.input_tokens:,.0f} tokens in, "
        f"{estimate.output_tokens:,.0f} out, {money}, {format_duration(estimate.seconds)}"
    )
    click.echo("Nothing was asked, written or paid.")
