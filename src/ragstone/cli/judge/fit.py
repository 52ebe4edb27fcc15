"""`ragstone judge fit`"""

from __future__ import annotations

import click

from ragstone.cli.label.import_ import add_label_file
from ragstone.cli.messages import Count, note
from ragstone.cli.options import labels_option, store_option
from ragstone.experiments.calibration import fit_judge
from ragstone.store import Store


@click.command("fit")
@click.argument("run", default="last", metavar="RUN")
@labels_option
@store_option
def command(run: str, labels: str | None, store: str | None) -> None:
    """Fit a judge's probabilities to what people labelled in a run, for the runs after it.

    Thirty labels of claims (or of whole answers) are enough. What is fitted must be better on labels left out than the
    judge's own probabilities; then runs with this judge use it and say so, until labels are fitted anew. `eval
    --no-calibration` leaves it out.

    \b
      ragstone label last --on claim
      ragstone judge fit last
      ragstone judge fit last --labels people.jsonl
    """

    fit_to_labels(run, labels, store)


def fit_to_labels(name: str, labels: str | None, store: str | None) -> None:
    """Fit the judge of a run, keep the result in the store, and say what it is."""
    run = Store.open(store, must_exist=True).run(name)
    add_label_file(labels, [run])
    fitted = fit_judge(run)
    judge = run.info.judge or ""
    if fitted is None:
        note(
            "the probabilities of {judge} fit the labels as they are; nothing is changed",
            judge=judge,
        )
        return
    note(
        "fitted {judge} to {labels} ({method}): log-loss {before} before, {after} now, on labels left out; "
        "runs from here on use it, --no-calibration leaves it out",
        judge=judge,
        labels=Count(fitted.labels, "label"),
        method=fitted.method,
        before=f"{fitted.before:.3f}",
        after=f"{fitted.log_loss:.3f}",
    )
