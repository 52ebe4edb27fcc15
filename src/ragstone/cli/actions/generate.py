"""`ragstone generate` in action."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ragstone.cli.actions.generate_dry_run import show
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import Bar
from ragstone.cli.actions.review import review_items
from ragstone.engine.sync import run_sync
from ragstone.errors import Interrupted
from ragstone.testset.plan import TestsetInputs, TestsetPlan
from ragstone.testset.sets import TestSet, execute_testset_plan, load_unfinished, part_file
from ragstone.testset.summary_text import format_summary


def generate_testset(documents: tuple[str, ...], flags: dict[str, Any]) -> int:
    """Make or review the test set that the flags ask for; the exit code."""
    plan = None
    if not documents and flags["resume"] and flags["output"] is not None:
        plan = load_unfinished(Path(flags["output"]))
    if not documents and plan is None:
        raise click.UsageError("no documents; name a folder or files")
    if flags["review"] and flags["output"] is None:
        return _review(documents)
    plan = plan or _build_plan(documents, flags)
    if flags["dry_run"]:
        show(plan)
        return 0
    made = _execute(plan, quiet=flags["quiet"])
    _report(made, plan, quiet=flags["quiet"])
    if flags["review"] and made.out is not None:
        _review((str(made.out),))
    enough = max(1, flags["floor"] * (plan.n or 0))
    return 0 if len(made.items) >= enough else 3


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


def _execute(plan: TestsetPlan, *, quiet: bool) -> TestSet:
    with Bar(quiet=quiet) as bar:
        bar.what, bar.failed = "writing questions", "rejected"
        try:
            return run_sync(lambda: execute_testset_plan(plan, TestsetInputs(watch=bar)))
        except KeyboardInterrupt:
            if plan.out is None:
                raise
            part = part_file(Path(plan.out))
            raise Interrupted(
                f"stopped; what was made is kept in {part}, resume with --resume"
            ) from None


def _report(made: TestSet, plan: TestsetPlan, *, quiet: bool) -> None:
    if plan.out is None:
        for row in made.rows():
            click.echo(json.dumps(row, ensure_ascii=False))
    note(format_summary(made), quiet=quiet and bool(made.items))
    if made.out is not None:
        note(f"\nwrote {made.out}", quiet=quiet)
    elif plan.out is not None:
        note(f"\nnothing was made: {plan.out} is not written")
    if made.rejected and made.rejected_in is not None:
        note(f"the rejected ones are in {made.rejected_in}", quiet=quiet)
    if made.planted_in is not None:
        note(
            f"the documents with a hidden instruction are in {made.planted_in}"
            + (" and in the corpus" if plan.format == "beir" else ": add them to your corpus"),
            quiet=quiet,
        )
    if made.stopped and plan.out is not None:
        note("resume with the same command and --resume", quiet=quiet)


def _review(files: tuple[str, ...]) -> int:
    if len(files) != 1:
        raise click.UsageError("one test set at a time; give --review FILE")
    return review_items(Path(files[0]))
