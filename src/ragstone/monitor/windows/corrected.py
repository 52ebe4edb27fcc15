"""Means of a window corrected by labels: what people would say of its interactions."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.analysis.corrected import MetricCorrection
from ragstone.labels import Label, load_labels, resolve_labels
from ragstone.labels.correction import correct_scores
from ragstone.labels.label import MONITOR
from ragstone.monitor.archive import Archive
from ragstone.monitor.windows.window_run import WindowRun

MAX_CORRECTED = 20_000
"""Judged interactions that a corrected mean is made of, the newest."""
IDS_AT_ONCE = 500
"""Ids in one query."""


def correct_window(
    archive: Archive,
    since: int,
    until: int,
    *,
    where: tuple[str, str] | None = None,
    limit: int = MAX_CORRECTED,
) -> dict[str, MetricCorrection]:
    """Metric → what labels of interactions say of its mean; empty when nobody labelled one of the window.

    Only interactions that were drawn at random count, each by 1 / its sampling rate, as in the window's own means."""
    labels = _load_labels(archive, since, until)
    if not labels:
        return {}
    run = WindowRun(archive, since, until, where=where, limit=limit, only_drawn=True)
    weights = dict(
        archive.store.read(
            "SELECT i.id, MAX(s.weight) FROM interactions i JOIN monitor_scores s"
            " ON s.number = i.number WHERE i.at >= ? AND i.at < ? AND s.drawn = 1 GROUP BY i.id",
            (since, until),
        )
    )
    return correct_scores(run, resolve_labels(labels), weights)


def _load_labels(archive: Archive, since: int, until: int) -> list[Label]:
    """Labels of the monitor's interactions, and those that name no run, on interactions of the window."""
    labels = [label for label in load_labels(archive.store) if label.run in ("", MONITOR)]
    inside: set[str] = set()
    ids = list(dict.fromkeys(label.sample for label in labels))
    for start in range(0, len(ids), IDS_AT_ONCE):
        inside |= _find_inside(archive, ids[start : start + IDS_AT_ONCE], since, until)
    return [label for label in labels if label.sample in inside]


def _find_inside(archive: Archive, ids: Sequence[str], since: int, until: int) -> set[str]:
    placeholders = ", ".join("?" * len(ids))
    sql = f"SELECT id FROM interactions WHERE id IN ({placeholders}) AND at >= ? AND at < ?"  # noqa: S608
    return {str(id) for (id,) in archive.store.read(sql, (*ids, since, until))}
