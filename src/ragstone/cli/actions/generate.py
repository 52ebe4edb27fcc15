"""`ragstone generate`: make a test set from documents, or review one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ragstone.cli.actions.generate_dry_run import show_estimate
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import Bar
from ragstone.cli.actions.review import review_items
from ragstone.engine.sync import run_sync
from ragstone.errors import Interrupted
from ragstone.testset.plan import TestsetInputs, TestsetPlan
from ragstone.testset.sets import TestSet, execute_testset_plan, load_unfinished, part_file
from ragstone.testset.summary_text import format_summary


def generate_testset(documents: tuple[str, ...], flags: dict[str, Any]) -> int:
    """Make or review the test set that the flags ask for; returns the exit code.

    `flags` are the options that cli/generate.py declares, by parameter name."""
    plan = None
    if not documents and flags["resume"] and flags["output"] is not None:
        plan = load_unfinished(Path(flags["output"]))  # it names the documents
    if not documents and plan is None:
        raise click.UsageError("no documents; name a folder or files")
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
    languages = (part.strip() for part in (flags["languages"] or "").split(","))
    return TestsetPlan(
        documents=documents,
        n=flags["count"],
        languages=tuple(language for language in languages if language),
        out=flags["output"],
        styles=tuple(flags["styles"]),
        **{
            name: flags[name]
            for name in (
                "kinds",
                "judge",
                "seed",
                "format",
                "resume",
                "store",
                "concurrency",
                "max_usd",
                "max_calls",
            )
        },
    )


def _execute_plan(plan: TestsetPlan, *, quiet: bool) -> TestSet:
    with Bar(quiet=quiet) as bar:
        bar.title, bar.failed_word = "writing questions", "rejected"
        try:
            return run_sync(lambda: execute_testset_plan(plan, TestsetInputs(watch=bar)))
        except KeyboardInterrupt:
            if plan.out is None:
                raise
            part = part_file(Path(plan.out))
            raise Interrupted(
                f"stopped; what was made is kept in {part}, resume with --resume"
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
        note("the rejected ones are in {path}", path=testset.rejected_in, quiet=quiet)
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
