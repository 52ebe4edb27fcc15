"""`ragstone label import`, and `--labels` of other commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ragstone.cli.messages import Count, note
from ragstone.cli.options import store_option
from ragstone.errors import ConfigError, RagstoneError
from ragstone.labels import (
    Label,
    ReadOptions,
    add_labels,
    attach_content,
    read_labels,
)
from ragstone.labels.feedback import load_feedback
from ragstone.labels.label import parse_target
from ragstone.store import Store, StoredRun


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option(
    "--run", metavar="RUN", help="The run whose samples are labelled [default: any with those ids]."
)
@click.option(
    "--on",
    "target",
    metavar="TARGET",
    help="What is labelled, if the file does not say: claim, chunk, support, correctness, relevance, refusal, preference, score, note.",
)
@click.option("--author", metavar="NAME", help="Who labelled what names nobody.")
@click.option("--scale", metavar="LOW..HIGH", help="The numbers people could give, such as 1..5.")
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Where a field of a label stands: sample=ticket. May be repeated.",
)
@store_option
def command(file: str, **flags: Any) -> None:
    """Read labels from FILE (jsonl, json, csv, parquet) into the store.

    Exports of Phoenix, Langfuse, LangSmith and Argilla are recognised. `feedback` instead of a file takes what users of
    the monitored system said. The same label read twice is kept once."""
    options = ReadOptions(
        parse_label_fields(flags["fields"]),
        None if flags["target"] is None else parse_target(flags["target"]),
        flags["author"] or "",
        parse_scale(flags["scale"]),
    )
    store = Store.open(flags["store"])
    if file == "feedback":
        labels: Sequence[Label] = load_feedback(store, options.target or "score")
        note("read {labels} from the feedback of the monitor", labels=Count(len(labels), "label"))
    else:
        content = read_labels(file, options)
        labels = content.labels
        note("read {labels} as {format}", labels=Count(len(labels), "label"), format=content.format)
        for why, count in content.skipped.items():
            note("left out {rows}: {why}", rows=Count(count, "row"), why=why)
    if flags["run"] is not None:
        labels, unknown = attach_content(store.run(flags["run"]), labels)
        if unknown and not labels:
            raise RagstoneError(
                f"the run {flags['run']} has none of the labelled samples, such as {unknown[0].sample!r}, so nothing is "
                "stored: name their run with --run, or the column of their ids with --field sample=COLUMN"
            )
        if unknown:
            note(
                "left out {labels} of samples that the run does not have, such as {sample}",
                labels=Count(len(unknown), "label"),
                sample=f"{unknown[0].sample!r}",
            )
    fresh = add_labels(store, labels)
    note(
        "stored {labels}, {known} {known:was|were} there already",
        labels=Count(fresh, "label"),
        known=len(labels) - fresh,
    )


def add_label_file(path: str | None, runs: Sequence[StoredRun]) -> None:
    """Read a file of labels into the store of runs, for the samples that they have."""
    labels = read_labels(path).labels if path is not None else ()
    for run in runs if labels else ():
        count = add_labels(run.store, attach_content(run, labels)[0])
        note("stored {labels} for {name}", labels=Count(count, "label"), name=run.info.name)


def parse_scale(text: str | None) -> tuple[float, float] | None:
    """Lowest and highest value of a scale written as `1..5`."""
    if text is None:
        return None
    low, dots, high = text.partition("..")
    try:
        bounds = float(low), float(high)
    except ValueError:
        dots = ""
    if not dots or bounds[0] >= bounds[1]:
        raise click.UsageError(f"{text!r} is no scale; write it as 1..5")
    return bounds


def parse_label_fields(texts: Sequence[str]) -> dict[str, str]:
    """Field of a label → column, from `--field sample=ticket`."""
    fields = {}
    for text in texts:
        name, equals, where = (part.strip() for part in text.partition("="))
        if not equals or not where:
            raise ConfigError([f"--field {text!r}: write sample=COLUMN"])
        fields[name] = where
    return fields
