"""Why an alert: which slice explains a drop, which interactions show it, and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups.refresh import fields
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.summary import between
from ragstone.monitor.windows.window_run import WindowRun

EXAMPLES = 3
EXPLAINS = 0.5
"""A slice explains a drop when, without it, so much of the drop is gone."""
LARGEST_SHARE = 0.9
"""A slice with nearly all interactions explains nothing."""
ADVICE = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A slice and the share of a drop that goes away without it."""

    field: str
    value: str
    explained: float
    before: float
    after: float
    share: float
    """Of the scores since the drop."""


def explaining_slice(
    archive: Archive,
    metric: str,
    reference: tuple[int, int],
    since: int,
    until: int,
    by: Sequence[str] | None = None,
) -> Part | None:
    """The slice without which most of the drop is gone; None when the drop is everywhere."""
    best: Part | None = None
    for field in fields(archive, since, until) if by is None else by:
        before = _sums(archive, metric, *reference, field)
        after = _sums(archive, metric, since, until, field)
        total_before, total_after = _mean(before.values()), _mean(after.values())
        if total_before is None or total_after is None or len(after) < 2:
            continue
        drop = total_before - total_after
        weight = sum(w for w, _ in after.values())
        for value, (w, x) in after.items():
            rest = _mean(item for key, item in after.items() if key != value)
            rest_before = _mean(item for key, item in before.items() if key != value)
            if value not in before or not w or rest is None or rest_before is None or not drop:
                continue
            explained = 1 - (rest_before - rest) / drop
            share = w / weight
            fits = explained >= EXPLAINS and share <= LARGEST_SHARE
            if fits and (best is None or explained > best.explained):
                old = before[value]
                best = Part(field, value, min(explained, 1.0), old[1] / old[0], x / w, share)
    return best


def examples(
    archive: Archive,
    metric: str,
    since: int,
    until: int,
    *,
    higher_is_better: bool = True,
    where: tuple[str, str] | None = None,
) -> list[dict[str, Any]]:
    """The worst interactions of a stretch by a metric, the newest of equals first."""
    rows = archive.store.stream(
        "SELECT i.id, s.value FROM monitor_scores s JOIN interactions i ON i.number = s.number"
        " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL"
        " ORDER BY s.value * ?, s.at DESC, i.number DESC",
        (metric, since, until, 1 if higher_is_better else -1),
    )
    found: list[dict[str, Any]] = []
    for id, value in rows:
        one = archive.get(id)
        if one is None or (where is not None and one.slices.get(where[0]) != where[1]):
            continue
        found.append(
            {
                "id": id,
                "value": value,
                "question": shortened(one.question),
                "answer": shortened(one.answer),
            }
        )
        if len(found) == EXAMPLES:
            break
    return found


def advice(
    archive: Archive, metric: str, since: int, until: int, where: tuple[str, str] | None = None
) -> list[dict[str, Any]]:
    """What to try: the diagnosis of the interactions since the drop, symptoms of the metric itself first."""
    from ragstone.analysis.advice import load_symptoms
    from ragstone.analysis.diagnose import diagnose
    from ragstone.analysis.failures import analyse
    from ragstone.analysis.summary import summarise

    run = WindowRun(archive, since, until, where=where, most=500)
    if not len(run) or not run.info.metrics:
        return []
    found = diagnose(run, summarise(run, worst=1), analyse(run), load_symptoms())
    family = metric.partition("@")[0].partition("(")[0]
    own = [one for one in found if any(e.what.startswith(family) for e in one.evidence)]
    rest = [one for one in found if one not in own]
    return [
        {
            "symptom": dict(one.title),
            "causes": [
                {"cause": dict(item.cause), "advice": dict(item.advice)} for item in one.advice
            ],
        }
        for one in [*own, *rest][:ADVICE]
    ]


def shortened(text: str | None, most: int = 200) -> str:
    """The start of a text on one line."""
    line = " ".join((text or "").split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _sums(
    archive: Archive, metric: str, since: int, until: int, field: str
) -> dict[str, tuple[float, float]]:
    """Value → how much its scores weigh, and their weighted sum."""
    until = max(until, since + HOUR)
    found = between(archive, since, until, by=field).slices
    return {
        one.value: (float(figure.scored), float(figure.scored) * figure.mean)
        for one in found
        if (figure := one.metrics.get(metric)) is not None and figure.mean is not None
    }


def _mean(items: Any) -> float | None:
    pairs = list(items)
    weight = sum(w for w, _ in pairs)
    return sum(x for _, x in pairs) / weight if weight else None
