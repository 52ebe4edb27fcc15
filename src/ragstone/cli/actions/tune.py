"""`ragstone tune`: search for better settings of a system, show the comparison and write the files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from rich.console import Console

from ragstone.cli.actions.compare import present_report
from ragstone.cli.actions.flags import parse_setting, parse_settings
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.experiments.records import describe_search
from ragstone.experiments.trials import TuningBudget
from ragstone.experiments.tune import TuningResult, tune
from ragstone.report import document as doc
from ragstone.report.builders.tuning import SearchView
from ragstone.report.files import write_text
from ragstone.report.render import terminal
from ragstone.report.words import load_words
from ragstone.systems.pipeline import SEARCH_SPACE


def run_search(data: str, system: str, flags: dict[str, Any]) -> None:
    """Search for better settings, show the result and write the files.

    `flags` are the options that cli/tune.py declares, by parameter name."""
    check_outputs("comparison", flags["output"])
    quiet = flags["quiet"]
    with stdout_to_stderr():  # a system that prints must not write into our report
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
    language = choose_language(flags["language"])
    view = SearchView.from_record(describe_search(result))
    # JSON holds the whole search; every other format is the report of winner against baseline.
    pages = [path for path in flags["output"] if not path.endswith(".json")]
    if result.result is not None:
        say = load_words(language)
        report = replace(
            result.result.report(language),
            remarks=view.describe(say),
            extra=(*view.build_front(say), view.build_trials(say)),
        )
        present_report(report, result.result.comparison, {**flags, "output": pages})
    else:
        _show_unchanged(view, language, quiet=quiet)
        if pages:
            note("no comparison is written: the winner is the system as it was", quiet=quiet)
    for path in flags["output"]:
        if path.endswith(".json"):
            write_text(path, json.dumps(to_json(result), ensure_ascii=False, indent=2) + "\n")
            note("wrote {path}", path=path, quiet=quiet)


def _show_unchanged(view: SearchView, language: str, *, quiet: bool) -> None:
    if quiet:
        return
    say = load_words(language)
    lines: list[doc.Node] = [doc.Paragraph(remark.text) for remark in view.describe(say)]
    body = (*lines, *view.build_front(say), view.build_trials(say))
    title = say("tuned.trials")
    terminal.print_document(
        doc.ReportDocument("comparison", say, title, title, (), body), Console()
    )


def to_json(result: TuningResult) -> dict[str, Any]:
    """The search and its result as JSON."""
    against = result.objective.against
    return {
        "objective": dict(result.objective.weights),
        "winner": dict(result.winner.settings),
        "winner_run": result.run.id,
        "baseline_run": result.baseline.id,
        "evaluations": result.evaluations,
        "grid_evaluations": result.full_grid,
        "stopped": result.stopped or None,
        "trials": [
            {
                "settings": dict(trial.settings),
                "questions": trial.questions,
                "measured": trial.measured,
                "winner_beside": result.measure_winner_beside(trial),
                "estimate": trial.estimate,
                "run": trial.run.id if trial.run else None,
                "front": trial.front if against else None,
                **(dict(zip(against, trial.standing.costs, strict=True)) if trial.standing else {}),
            }
            for trial in result.trials
        ],
        "comparison": result.comparison.to_dict() if result.comparison else None,
    }


def _parse_vary(text: str, system: str) -> tuple[str, list[Any]]:
    """A setting with its values; a bare name stands for the values that SEARCH_SPACE has for the pipeline."""
    if "=" not in text and system.partition(":")[0] == "pipeline" and text in SEARCH_SPACE:
        return text, list(SEARCH_SPACE[text])
    return parse_setting(text)
