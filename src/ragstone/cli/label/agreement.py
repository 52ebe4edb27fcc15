"""`ragstone label agreement`"""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone.cli.label.showing import format_value, load_counting_labels
from ragstone.cli.messages import note, translate
from ragstone.cli.options import store_option
from ragstone.labels import (
    Agreement,
    Label,
    measure_agreement,
)
from ragstone.store import Store

PREVIEW_CHARS = 70


@click.command("agreement")
@click.option("--run", metavar="RUN", help="Only labels that count for this run.")
@click.option(
    "--list",
    "listed",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Disagreements to list.",
)
@store_option
def command(run: str | None, listed: int, store: str | None) -> None:
    """Measure how far people agree, and list where they do not."""
    labels = load_counting_labels(Store.open(store), run)
    agreements = measure_agreement(labels)
    if not agreements:
        click.echo(translate("no item was labelled by two people"))
        return
    Console(highlight=False).print(_build_agreement_table(agreements))
    for agreement in agreements:
        for row in agreement.disagreements[:listed]:
            click.echo(_format_disagreement(row))
    if any(agreement.disagreements for agreement in agreements):
        note("settle them with: ragstone label adjudicate")


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


def _format_disagreement(row: Sequence[Label]) -> str:
    values = ", ".join(
        f"{label.author or translate('unnamed')} {format_value(label)}" for label in row
    )
    item = " ".join(row[0].item.split())
    item = f" “{item[:PREVIEW_CHARS]}{'…' if len(item) > PREVIEW_CHARS else ''}”" if item else ""
    return f"{row[0].sample}: {row[0].target}{item}: {values}"


def _format_interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"{_format_coefficient(low)} – {_format_coefficient(high)}"


def _format_coefficient(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
