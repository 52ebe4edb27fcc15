"""Saves and loads the scales of judges in the store; those of the embedded judge come with the package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from ragstone.store.database import Connection
from ragstone.store.store import Store

if TYPE_CHECKING:
    from ragstone.judges.scale import JudgeScale

_REPLACE = (
    "INSERT INTO judge_scales VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (judge, language, metric, source) DO UPDATE SET body = excluded.body"
)

_CALIBRATION = "calibration"
"""Stands for the metric in the row of a judge's fit to labels, which is of all languages."""


def save_scales(store: Store, scales: Sequence[JudgeScale]) -> None:
    """Store scales; each replaces the earlier one of its judge, language, metric and source."""
    rows = [
        (scale.judge, scale.language, scale.metric, scale.source, json.dumps(scale.to_json()))
        for scale in scales
    ]
    store.write(lambda db: db.execute_many(_REPLACE, rows)).result()


def load_scales(store: Store, judge: str | None) -> dict[tuple[str, str], JudgeScale]:
    """Return the scales of a judge by language and metric; of several, the one from the most telling source.

    `judge` is the fingerprint that a run keeps as `facts.judge_identity`; None has no scale."""
    from ragstone.judges.scale import JudgeScale, ScaleSource, load_bundled_scales

    rows = store.read(
        "SELECT body FROM judge_scales WHERE judge = ? AND metric <> ?", (judge or "", _CALIBRATION)
    )
    stored = [JudgeScale.from_json(json.loads(body)) for (body,) in rows]
    bundled = [scale for scale in load_bundled_scales() if scale.judge == judge]
    sources = get_args(ScaleSource)  # the least telling first
    best_last = sorted([*bundled, *stored], key=lambda scale: sources.index(scale.source))
    # of equal keys in a dict the last one stays
    return {(scale.language, scale.metric): scale for scale in best_last}


def save_calibration(store: Store, judge: str, body: Mapping[str, Any] | None) -> None:
    """Store how a judge's probabilities fit labels, in place of an earlier fit; None forgets that."""
    row = (judge, "", _CALIBRATION, "labels")

    def write(db: Connection) -> None:
        db.execute("DELETE FROM judge_scales WHERE judge = ? AND metric = ?", (judge, _CALIBRATION))
        if body is not None:
            db.execute(_REPLACE, (*row, json.dumps(body)))

    store.write(write).result()


def load_calibration(store: Store, judge: str) -> dict[str, Any] | None:
    """Return the fit of a judge, by its fingerprint; None where it has none."""
    rows = store.read(
        "SELECT body FROM judge_scales WHERE judge = ? AND metric = ?", (judge, _CALIBRATION)
    )
    return json.loads(rows[0][0]) if rows else None
