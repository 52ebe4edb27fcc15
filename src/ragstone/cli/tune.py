"""`ragstone tune`: better settings for a system, without being sold noise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import check_outputs, counted, note, report_language, store_option

if TYPE_CHECKING:
    from ragstone.experiments.tune import Tuned

SHOWN = 10
"""Trials on the screen; a file has them all."""


@click.command("tune")
@click.argument("data", metavar="DATA")
@click.option("--system", required=True, metavar="SYSTEM", help="pipeline:FOLDER, module:function, file.py:function, a URL.")  # fmt: skip
@click.option("--vary", multiple=True, required=True, metavar="NAME=V1,V2,…", help="A setting and values to try: top_k=3,5,10; for the pipeline the name alone will do. May be repeated.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting that stays as it is. May be repeated.")  # fmt: skip
@click.option("--objective", required=True, metavar="METRIC", help="What is wanted: token_f1, or 0.7*recall@5+0.3*token_f1.")  # fmt: skip
@click.option("--against", multiple=True, type=click.Choice(["cost", "latency", "tokens"]), help="What quality is traded for: the front is shown. May be repeated.")  # fmt: skip
@click.option("--sampler", type=click.Choice(["race", "halving", "grid", "optuna"]), help="How configurations are tried; optuna needs the extra tune [default: race, with --against halving].")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="At most N configurations [default: 64].")  # fmt: skip
@click.option("--calls", type=click.IntRange(min=1), metavar="N", help="Stop the search after N questions to system and judge.")  # fmt: skip
@click.option("--usd", type=click.FloatRange(min=0, min_open=True), metavar="AMOUNT", help="Stop the search after this much money.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), metavar="TIME", help="Stop the search after this time.")  # fmt: skip
@click.option("--held-out", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.3, show_default=True, help="Share of the questions that the winner is reported on.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the split, the order and the trials.")  # fmt: skip
@click.option("--judge", metavar="JUDGE", help="Who answers judged metrics: offline, openai:MODEL, …")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@click.option("-o", "--output", multiple=True, metavar="FILE", help="Write a file: .json (trials and comparison) .md .html .svg .png (comparison). May be repeated.")  # fmt: skip
@click.option("--lang", "language", metavar="LANG", help="Language of the comparison: en, es.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(data: str, system: str, **flags: Any) -> None:
    """Search for better settings of a system, and report the best on questions that the search never saw.

    Configurations are tried on a growing part of the questions, and the hopeless ones are dropped early. Interrupted, the
    same command goes on where it was.

    \b
      ragstone tune questions.jsonl --system pipeline:docs --objective token_f1 \\
        --vary top_k=3,5,10 --vary rerank=false,true"""
    from ragstone.cli.ablate import setting
    from ragstone.cli.bench import progress_lines
    from ragstone.cli.compare import present
    from ragstone.cli.progress import aside
    from ragstone.experiments.tune import Budget, tune

    check_outputs("comparison", flags["output"])
    quiet = flags["quiet"]
    with aside():
        found = tune(
            data,
            system,
            dict(_varied(text, system) for text in flags["vary"]),
            flags["objective"],
            against=flags["against"],
            settings={name: values[0] for name, values in map(setting, flags["settings"])},
            sampler=flags["sampler"],
            budget=Budget(flags["trials"], flags["calls"], flags["usd"], flags["seconds"]),
            held_out=flags["held_out"],
            seed=flags["seed"],
            judge=flags["judge"],
            store=flags["store"],
            limit=flags["limit"],
            watch=progress_lines(quiet=quiet),
        )
    if not quiet:
        _say(found)
    if found.comparison is not None:
        others = [path for path in flags["output"] if not path.endswith(".json")]
        runs = [found.baseline.stored, found.run.stored]
        present(found.comparison, runs, {**flags, "output": others}, report_language(flags["language"]))  # fmt: skip
    elif any(not path.endswith(".json") for path in flags["output"]):
        note("no comparison is written: the winner is the system as it was", quiet=quiet)
    for path in flags["output"]:
        if path.endswith(".json"):
            from ragstone.report.files import write_text

            write_text(path, json.dumps(plain(found), ensure_ascii=False, indent=2) + "\n")
            note(f"wrote {path}", quiet=quiet)


def plain(found: Tuned) -> dict[str, Any]:
    """The search and its result as JSON."""
    against = found.objective.against
    return {
        "objective": dict(found.objective.weights),
        "winner": dict(found.winner.settings),
        "winner_run": found.run.id,
        "baseline_run": found.baseline.id,
        "evaluations": found.evaluations,
        "grid_evaluations": found.grid,
        "stopped": found.stopped or None,
        "trials": [
            {
                "settings": dict(one.settings),
                "questions": one.questions,
                "objective": one.mean,
                "run": one.run.id if one.run else None,
                "front": one.front if against else None,
                **(dict(zip(against, one.standing.costs, strict=True)) if one.standing else {}),
            }
            for one in found.trials
        ],
        "comparison": found.comparison.to_dict() if found.comparison else None,
    }


def _varied(text: str, system: str) -> tuple[str, list[Any]]:
    """A setting with its values; the pipeline knows sensible ones for its own."""
    from ragstone.cli.ablate import setting

    if "=" not in text and system.partition(":")[0] == "pipeline":
        from ragstone.systems.pipeline import SEARCH_SPACE

        if text in SEARCH_SPACE:
            return text, list(SEARCH_SPACE[text])
    return setting(text)


def _say(found: Tuned) -> None:
    """Trials, then what the winner is worth on questions that it was not chosen by."""
    from rich.console import Console

    from ragstone.experiments.tune import label
    from ragstone.report.render.terminal import Screen

    screen = Screen(Console())
    against = found.objective.against
    heads = [("configuration", False), ("questions", True), ("objective", True)]
    heads += [(name, True) for name in against] + ([("front", False)] if against else [])
    table = screen.table(*heads)
    for one in found.trials[:SHOWN]:
        cells = [label(one.settings), f"{one.questions:,}", "–" if one.mean is None else f"{one.mean:.3f}"]  # fmt: skip
        if against and one.standing is not None:
            cells += [f"{cost:.4g}" for cost in one.standing.costs] + ["★" if one.front else ""]
        table.add_row(*(screen.cell(text, "") for text in cells))
    screen.put(table)
    more = len(found.trials) - SHOWN
    if more > 0:
        screen.line(f"and {counted(more, 'more trial')}", "dim")
    share = found.evaluations / found.grid
    early = f" The search ended early: the budget of {found.stopped} was spent."
    screen.line(
        f"{counted(found.evaluations, 'question')} answered while tuning, {share:.0%} of a full grid."
        + (early if found.stopped else ""),
        "dim",
    )
    screen.line("")
    screen.line(f"Best: {label(found.winner.settings)}", "bold")
    for name in found.objective.metrics:
        for who, run in (("as it was", found.baseline), ("best", found.run)):
            scored = run.summary()[name]
            on = f"{name} on {counted(scored.scored, 'held-out question')}"
            if scored.mean is None or scored.low is None or scored.high is None:
                screen.line(f"{on}, {who}: no interval can be given")
            else:
                ends = f"{scored.low:.3f} – {scored.high:.3f}"
                screen.line(f"{on}, {who}: {scored.mean:.3f} ({ends})")
    if found.comparison is None:
        screen.line("That is the system as it was: nothing better was found.")
    screen.line("")
