"""`ragstone tune` in action."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

from ragstone.cli.actions.bench import show_progress_lines
from ragstone.cli.actions.compare import present_comparison
from ragstone.cli.actions.flags import parse_setting, parse_settings
from ragstone.cli.actions.messages import format_count, note
from ragstone.cli.actions.progress import stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.experiments.ablate import format_settings
from ragstone.experiments.tune import TuningBudget, TuningResult, tune
from ragstone.report.files import write_text
from ragstone.report.render.terminal import Screen
from ragstone.systems.pipeline import SEARCH_SPACE

SHOWN_TRIALS = 10
"""Trials on the screen; a file has them all."""


def run_search(data: str, system: str, flags: dict[str, Any]) -> None:
    """Search for better settings, show the result and write the files."""
    check_outputs("comparison", flags["output"])
    quiet = flags["quiet"]
    with stdout_to_stderr():
        result = tune(
            data,
            system,
            dict(_parse_vary(text, system) for text in flags["vary"]),
            flags["objective"],
            against=flags["against"],
            settings=parse_settings(flags["settings"]),
            sampler=flags["sampler"],
            budget=TuningBudget(flags["trials"], flags["calls"], flags["usd"], flags["seconds"]),
            held_out=flags["held_out"],
            seed=flags["seed"],
            judge=flags["judge"],
            store=flags["store"],
            limit=flags["limit"],
            watch=show_progress_lines(quiet=quiet),
        )
    if not quiet:
        _show_result(result)
    # JSON holds the whole search; every other format is the report of winner against baseline.
    pages = [path for path in flags["output"] if not path.endswith(".json")]
    if result.comparison is not None:
        runs = [result.baseline.stored, result.run.stored]
        language = choose_language(flags["language"])
        present_comparison(result.comparison, runs, {**flags, "output": pages}, language)
    elif pages:
        note("no comparison is written: the winner is the system as it was", quiet=quiet)
    for path in flags["output"]:
        if path.endswith(".json"):
            write_text(path, json.dumps(to_json(result), ensure_ascii=False, indent=2) + "\n")
            note(f"wrote {path}", quiet=quiet)


def to_json(result: TuningResult) -> dict[str, Any]:
    """The search and its result as JSON."""
    against = result.objective.against
    return {
        "objective": dict(result.objective.weights),
        "winner": dict(result.winner.settings),
        "winner_run": result.run.id,
        "baseline_run": result.baseline.id,
        "evaluations": result.evaluations,
        "grid_evaluations": result.grid,
        "stopped": result.stopped or None,
        "trials": [
            {
                "settings": dict(trial.settings),
                "questions": trial.questions,
                "objective": trial.mean,
                "run": trial.run.id if trial.run else None,
                "front": trial.front if against else None,
                **(dict(zip(against, trial.standing.costs, strict=True)) if trial.standing else {}),
            }
            for trial in result.trials
        ],
        "comparison": result.comparison.to_dict() if result.comparison else None,
    }


def _parse_vary(text: str, system: str) -> tuple[str, list[Any]]:
    """A setting with its values; the pipeline knows sensible ones for its own."""
    if "=" not in text and system.partition(":")[0] == "pipeline" and text in SEARCH_SPACE:
        return text, list(SEARCH_SPACE[text])
    return parse_setting(text)


def _show_result(result: TuningResult) -> None:
    """Trials, then what the winner is worth on questions that it was not chosen by."""
    screen = Screen(Console())
    _show_trials(screen, result)
    _show_winner(screen, result)


def _show_trials(screen: Screen, result: TuningResult) -> None:
    against = result.objective.against
    heads = [("configuration", False), ("questions", True), ("objective", True)]
    heads += [(name, True) for name in against] + ([("front", False)] if against else [])
    table = screen.build_table(*heads)
    for trial in result.trials[:SHOWN_TRIALS]:
        cells = [format_settings(trial.settings), f"{trial.questions:,}", "–" if trial.mean is None else f"{trial.mean:.3f}"]  # fmt: skip
        if against and trial.standing is not None:
            cells += [f"{cost:.4g}" for cost in trial.standing.costs] + ["★" if trial.front else ""]
        table.add_row(*(screen.build_cell(text, "") for text in cells))
    screen.print_table(table)
    more = len(result.trials) - SHOWN_TRIALS
    if more > 0:
        screen.print_line(f"and {format_count(more, 'more trial')}", "dim")
    share = result.evaluations / result.grid
    early = f" The search ended early: the budget of {result.stopped} was spent."
    screen.print_line(
        f"{format_count(result.evaluations, 'question')} answered while tuning, {share:.0%} of a full grid."
        + (early if result.stopped else ""),
        "dim",
    )
    screen.print_line("")


def _show_winner(screen: Screen, result: TuningResult) -> None:
    screen.print_line(f"Best: {format_settings(result.winner.settings)}", "bold")
    for name in result.objective.metrics:
        for label, run in (("as it was", result.baseline), ("best", result.run)):
            scored = run.summary()[name]
            on = f"{name} on {format_count(scored.scored, 'held-out question')}"
            if scored.mean is None or scored.low is None or scored.high is None:
                screen.print_line(f"{on}, {label}: no interval can be given")
            else:
                ends = f"{scored.low:.3f} – {scored.high:.3f}"
                screen.print_line(f"{on}, {label}: {scored.mean:.3f} ({ends})")
    if result.comparison is None:
        screen.print_line("That is the system as it was: nothing better was found.")
    screen.print_line("")
