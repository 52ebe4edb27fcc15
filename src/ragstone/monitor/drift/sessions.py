"""How much the scores of one session or user hang together: the design effect of clusters."""

from __future__ import annotations

import json
from collections import defaultdict

from ragstone.monitor.archive import Archive

SESSION_FIELDS = ("session", "session_id", "conversation", "conversation_id", "user", "user_id")
"""Meta fields that group interactions; the first that most interactions have is used."""
MAX_SCORES = 5000
"""Scores that the effect is estimated from, the first of the period."""
MIN_SCORES = 200
"""With fewer nothing is said."""


def estimate_session_factor(archive: Archive, metric: str, since: int, until: int) -> float:
    """Variance of a mean relative to that of as many independent scores, 1 or more; 1 where no session is given."""
    rows = archive.store.read(
        "SELECT s.value, i.meta FROM monitor_scores s JOIN interactions i ON i.number = s.number"
        " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL"
        " ORDER BY s.at LIMIT ?",
        (metric, since, until, MAX_SCORES),
    )
    if len(rows) < MIN_SCORES:
        return 1.0
    values = [float(value) for value, _ in rows]
    metas = [json.loads(meta) for _, meta in rows]
    field = next(
        (name for name in SESSION_FIELDS if sum(name in meta for meta in metas) > len(metas) / 2),
        None,
    )
    if field is None:
        return 1.0
    mean = sum(values) / len(values)
    # an interaction without the field is a cluster of its own
    sums: defaultdict[object, float] = defaultdict(float)
    for number, (value, meta) in enumerate(zip(values, metas, strict=True)):
        sums[str(meta[field]) if field in meta else number] += value - mean
    alone = sum((value - mean) ** 2 for value in values)
    return max(1.0, sum(total**2 for total in sums.values()) / alone) if alone > 0 else 1.0
