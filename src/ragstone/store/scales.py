"""Scales of judges in the store; the ones of the embedded judge come with the package."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ragstone.judges.scale import JudgeScale, load_bundled_scales
from ragstone.store.store import Store

_REPLACE = (
    "INSERT INTO judge_scales VALUES (?, ?, ?, ?)"
    " ON CONFLICT (judge, language, metric) DO UPDATE SET body = excluded.body"
)


def save_scales(store: Store, scales: Sequence[JudgeScale]) -> None:
    """Store scales; each replaces the earlier one of its judge, language and metric."""
    rows = [
        (scale.judge, scale.language, scale.metric, json.dumps(scale.to_json())) for scale in scales
    ]
    store.write(lambda db: db.execute_many(_REPLACE, rows)).result()


def load_scales(store: Store, judge: str | None) -> dict[tuple[str, str], JudgeScale]:
    """Return the scales of a judge by language and metric; a stored one comes before a bundled one.

    `judge` is the fingerprint that a run keeps as `facts.judge_identity`; None has no scale."""
    scales = {(s.language, s.metric): s for s in load_bundled_scales() if s.judge == judge}
    for (body,) in store.read("SELECT body FROM judge_scales WHERE judge = ?", (judge or "",)):
        scale = JudgeScale.from_json(json.loads(body))
        scales[scale.language, scale.metric] = scale
    return scales
