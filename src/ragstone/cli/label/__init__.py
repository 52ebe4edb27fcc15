"""`ragstone label`: by keyboard, and what is done with labels of people; one file per subcommand."""

from __future__ import annotations

import click

from ragstone.cli import LazyCommands

COMMANDS = {
    "run": "Label claims, chunks or answers of a run with the keyboard (the default).",
    "import": "Read labels from FILE (jsonl, json, csv, parquet) into the store.",
    "export": "Write the labels to FILE: .jsonl, .json, .csv or .parquet.",
    "agreement": "Measure how far people agree, and list where they do not.",
    "adjudicate": "Decide the items on which people disagree, one by one; the decision counts instead of their labels.",
}


class LabelCommands(LazyCommands):
    """What names no subcommand is a run: `ragstone label last` is `ragstone label run last`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in {*COMMANDS, "-h", "--help"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    "label",
    cls=LabelCommands,
    package="ragstone.cli.label",
    lines={"Commands": COMMANDS},
    subcommand_metavar="[RUN] | COMMAND …",
)
def command() -> None:
    """Label a run with the keyboard; import, export and compare labels of people.

    `ragstone label RUN` begins at once; its options are those of `ragstone label run`."""
