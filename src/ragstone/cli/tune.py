"""Options of `ragstone tune`: search for better settings of a system; the winner is reported on held-out questions."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.compare import present_comparison
from ragstone.cli.messages import note
from ragstone.cli.options import (
    check_outputs,
    details_option,
    judge_options,
    output_option,
    store_option,
)
from ragstone.cli.plans import parse_setting, parse_settings
from ragstone.cli.progress import show_progress_lines, stdout_to_stderr
from ragstone.cli.shared import choose_language
from ragstone.experiments.trials import TuningBudget
from ragstone.experiments.tune import tune
from ragstone.systems.pipeline import SEARCH_SPACE


@click.command("tune")
@click.argument("data", metavar="DATA")
@click.option("--system", required=True, metavar="SYSTEM", help="pipeline:FOLDER, module:function, file.py:function, a URL, command:PROGRAM, a YAML file.")  # fmt: skip
@click.option("--vary", multiple=True, required=True, metavar="NAME=V1,V2,…", help="A setting and values to try: top_k=3,5,10; for the pipeline the name alone will do. May be repeated.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting that stays as it is. May be repeated.")  # fmt: skip
@click.option("--objective", required=True, metavar="METRIC", help="What is wanted: token_f1, or 0.7*recall@5+0.3*token_f1.")  # fmt: skip
@click.option("--against", multiple=True, type=click.Choice(["cost", "latency", "tokens"]), help="What quality is traded for: the front is shown. May be repeated.")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="At most N configurations [default: 64].")  # fmt: skip
@click.option("--calls", type=click.IntRange(min=1), metavar="N", help="Stop the search after N questions to system and judge.")  # fmt: skip
@click.option("--usd", type=click.FloatRange(min=0, min_open=True), metavar="AMOUNT", help="Stop the search after this much money.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), metavar="TIME", help="Stop the search after this time.")  # fmt: skip
@click.option("--held-out", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.3, show_default=True, help="Share of the questions that the winner is reported on.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the split, the order and the trials.")  # fmt: skip
@judge_options("Who answers judged metrics: offline, openai:MODEL, …")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@output_option("comparison", what="Write the comparison, in .json with the trials")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the comparison: en, es.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(data: str, system: str, **flags: Any) -> None:
    """Search for better settings of a system, and report the best on questions that the search never saw.

    Configurations are tried on a growing part of the questions, and the hopeless ones are dropped early. Interrupted, the
    same command resumes where it stopped.

    \b
      ragstone tune questions.jsonl --system pipeline:docs --objective token_f1 \\
        --vary top_k=3,5,10 --vary rerank=false,true"""
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
