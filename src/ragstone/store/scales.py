"""Saves and loads the scales of judges in the store; those of the embedded judge come with the package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from ragstone.store.store import Store

if TYPE_CHECKING:
    from ragstone.judges.scale import JudgeScale

_REPLACE = (
    "INSERT INTO judge_scales VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (judge, language, metric, source) DO UPDATE SET body = excluded.body"
)


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

    rows = store.read("SELECT body FROM judge_scales WHERE judge = ?", (judge or "",))
    stored = [JudgeScale.from_json(json.loads(body)) for (body,) in rows]
    bundled = [scale for scale in load_bundled_scales() if scale.judge == judge]
    sources = get_args(ScaleSource)  # the least telling first
    best_last = sorted([*bundled, *stored], key=lambda scale: sources.index(scale.source))
    # of equal keys in a dict the last one stays
    return {(scale.language, scale.metric): scale for scale in best_last}
