"""`ragstone judge fit`: fit the probabilities of a run's judge to labels."""

from __future__ import annotations

from ragstone.cli.actions.labels import add_label_file
from ragstone.cli.actions.messages import Count, note
from ragstone.experiments.calibration import fit_judge
from ragstone.store import Store


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
