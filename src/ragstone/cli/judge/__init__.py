"""`ragstone judge`: one file per subcommand."""

from __future__ import annotations

import click

from ragstone.cli import LazyCommands

COMMANDS = {
    "quality": "Show how far the embedded judge agrees with people, how that was measured, and where it fails.",
    "prompts": "List the prompts, write them out, or draft them in another language.",
    "check": "Tell which route fits a model, and what a judge is fit for.",
    "measure": "Measure judges on what people labelled, all on the same items, and say what each is fit for.",
    "fit": "Fit a judge's probabilities to what people labelled in a run, for the runs after it.",
    "attack": "Put texts that try to talk the judge round into samples, and see which verdicts change.",
    "get": "List open models that we measured as judges, or fetch the one that you name.",
}


@click.group("judge", cls=LazyCommands, package="ragstone.cli.judge", lines={"Commands": COMMANDS})
def command() -> None:
    """Show the prompts, or check whether a judge is reliable."""
