"""`ragstone labels`: import and export labels, and measure how far people agree."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone.cli.actions.messages import Count, note, translate
from ragstone.data import write_rows
from ragstone.errors import ConfigError, RagstoneError
from ragstone.labels import (
    Agreement,
    Label,
    ReadOptions,
    add_labels,
    attach_content,
    load_labels,
    load_revisions,
    load_run_labels,
    measure_agreement,
    read_labels,
)
from ragstone.labels.feedback import load_feedback
from ragstone.labels.label import parse_target
from ragstone.store import Store, StoredRun

PREVIEW_CHARS = 70


def import_file(file: str, flags: Mapping[str, Any]) -> None:
    """Read a file of labels, or the monitor's `feedback`, into the store.

    `flags` are the options that `import_labels` of cli/labels.py declares, by parameter name."""
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


def export_file(
    file: str, run: str | None, revisions: bool, raw: bool, store_path: str | None
) -> None:
    """Write labels to a file in the format of its ending."""
    store = Store.open(store_path)
    if revisions:
        labels = load_revisions(store, run=None if run is None else store.run(run).id)
    else:
        labels = _load(store, run)
    rows: list[tuple[str, Mapping[str, Any]]] = [
        (json.dumps(label.to_row(), ensure_ascii=False), {}) for label in labels
    ]
    # a function, because some formats read the rows twice
    write_rows(file, lambda: rows, (), raw=raw)
    note("wrote {labels} to {path}", labels=Count(len(rows), "label"), path=file)


def show_agreement(run: str | None, listed: int, store_path: str | None) -> None:
    """Print the agreement on each target and the widest disagreements."""
    labels = _load(Store.open(store_path), run)
    agreements = measure_agreement(labels)
    if not agreements:
        click.echo(translate("no item was labelled by two people"))
        return
    Console(highlight=False).print(_build_agreement_table(agreements))
    for agreement in agreements:
        for row in agreement.disagreements[:listed]:
            click.echo(_format_disagreement(row))
    if any(agreement.disagreements for agreement in agreements):
        note("settle them with: ragstone labels adjudicate")


def _build_agreement_table(agreements: Sequence[Agreement]) -> Table:
    table = Table(title=translate("Agreement of people"), title_justify="left")
    for head in (translate("on"), translate("people")):
        table.add_column(head)
    table.add_column(translate("items"), justify="right")
    table.add_column(translate("measure"))
    for head in (translate("agreement"), translate("95 % interval")):
        table.add_column(head, justify="right")
    for agreement in agreements:
        table.add_row(
            agreement.target,
            f"{agreement.people}",
            f"{agreement.items:,}",
            translate("Krippendorff's alpha"),
            _format_coefficient(agreement.alpha),
            _format_interval(agreement.low, agreement.high),
        )
        for pair in agreement.pairs:
            table.add_row(
                "",
                escape(
                    f"{pair.first or translate('unnamed')}, {pair.second or translate('unnamed')}"
                ),
                f"{pair.items:,}",
                translate("Cohen's kappa, {same:.0%} the same", same=pair.same),
                _format_coefficient(pair.kappa),
                _format_interval(pair.low, pair.high),
            )
    return table


def _load(store: Store, run: str | None) -> list[Label]:
    return load_labels(store) if run is None else load_run_labels(store.run(run))


def _format_disagreement(row: Sequence[Label]) -> str:
    values = ", ".join(
        f"{label.author or translate('unnamed')} {format_value(label)}" for label in row
    )
    item = " ".join(row[0].item.split())
    item = f" “{item[:PREVIEW_CHARS]}{'…' if len(item) > PREVIEW_CHARS else ''}”" if item else ""
    return f"{row[0].sample}: {row[0].target}{item}: {values}"


def format_value(label: Label) -> str:
    """What a label says, in a word or number."""
    return label.word or ("–" if label.value is None else f"{label.value:g}")


def _format_interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"{_format_coefficient(low)} – {_format_coefficient(high)}"


def _format_coefficient(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


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
