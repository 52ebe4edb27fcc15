"""`ragstone tune`: search for better settings of a system, show the comparison and write the files."""

from __future__ import annotations

from typing import Any

from ragstone.cli.actions.compare import present_comparison
from ragstone.cli.actions.flags import parse_setting, parse_settings
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.actions.shared import choose_language
from ragstone.cli.options import check_outputs
from ragstone.experiments.trials import TuningBudget
from ragstone.experiments.tune import tune
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
    # without a comparison there is nothing for any format but JSON
    pages = [path for path in flags["output"] if not path.endswith(".json")]
    if result.result is None and pages:
        note("no comparison is written: the winner is the system as it was", quiet=quiet)
    written = [path for path in flags["output"] if result.result is not None or path not in pages]
    present_comparison(result, {**flags, "output": written}, language)


def _parse_vary(text: str, system: str) -> tuple[str, list[Any]]:
    """A setting with its values; a bare name stands for the values that SEARCH_SPACE has for the pipeline."""
    if "=" not in text and system.partition(":")[0] == "pipeline" and text in SEARCH_SPACE:
        return text, list(SEARCH_SPACE[text])
    return parse_setting(text)
