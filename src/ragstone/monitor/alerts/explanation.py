"""Explanations of an alert: the slice behind a drop, the worst interactions, and what to try."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups import list_fields
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.monitor.windows.summary import summarise_between
from ragstone.monitor.windows.window_run import WindowRun

MAX_EXAMPLES = 3
MAX_ADVICE = 3
MIN_EXPLAINED_SHARE = 0.5
"""A slice explains a drop when at least this share of the drop is gone without the slice."""
MAX_SLICE_SHARE = 0.9
"""A slice with nearly all interactions explains nothing."""

Sums = Mapping[str, tuple[float, float]]
"""Value of a field → weight of its scores and their weighted sum."""


@dataclass(frozen=True, slots=True)
class ExplainingSlice:
    """A slice and the share of a drop that goes away without it."""

    field: str
    value: str
    explained: float
    """That share, at most 1."""
    before: float
    """Mean score of the slice in the reference period."""
    after: float
    """Mean score of the slice since the drop."""
    share: float
    """Share of the scores since the drop."""


def find_explaining_slice(
    archive: Archive,
    metric: str,
    reference: tuple[int, int],
    since: int,
    until: int,
    by: Sequence[str] | None = None,
) -> ExplainingSlice | None:
    """The slice without which most of the drop is gone; None when the drop is everywhere.

    `reference` is the period before the drop, `by` the fields to look at (None: all)."""
    best: ExplainingSlice | None = None
    most_explained = -math.inf
    for field in list_fields(archive, since, until) if by is None else by:
        before = _sum_by_value(archive, metric, *reference, field)
        after = _sum_by_value(archive, metric, since, until, field)
        for explained, candidate in _compare_values(field, before, after):
            # not `candidate.explained`, which is clipped to 1: several slices may explain more than all of the drop
            if explained > most_explained:
                best, most_explained = candidate, explained
    return best


def _compare_values(
    field: str, before: Sums, after: Sums
) -> Iterator[tuple[float, ExplainingSlice]]:
    """Values of a field that explain the drop, each with the unclipped share that it explains."""
    mean_before, mean_after = _compute_mean(before.values()), _compute_mean(after.values())
    if mean_before is None or mean_after is None or len(after) < 2 or mean_before == mean_after:
        return
    drop = mean_before - mean_after
    total_weight = sum(weight for weight, _ in after.values())
    for value, (weight, weighted_sum) in after.items():
        rest, rest_before = (
            _compute_mean_without(after, value),
            _compute_mean_without(before, value),
        )
        if value not in before or not weight or rest is None or rest_before is None:
            continue
        explained = 1 - (rest_before - rest) / drop
        share = weight / total_weight
        if explained >= MIN_EXPLAINED_SHARE and share <= MAX_SLICE_SHARE:
            old_weight, old_sum = before[value]
            means = old_sum / old_weight, weighted_sum / weight
            yield explained, ExplainingSlice(field, value, min(explained, 1.0), *means, share)


def _compute_mean_without(sums: Sums, value: str) -> float | None:
    return _compute_mean(item for key, item in sums.items() if key != value)


def find_worst_examples(
    archive: Archive,
    metric: str,
    since: int,
    until: int,
    *,
    higher_is_better: bool = True,
    where: tuple[str, str] | None = None,
) -> list[dict[str, Any]]:
    """The worst interactions by a metric between two times, the newest of equals first."""
    rows = archive.store.stream(
        "SELECT i.id, s.value FROM monitor_scores s JOIN interactions i ON i.number = s.number"
        " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL"
        " ORDER BY s.value * ?, s.at DESC, i.number DESC",
        (metric, since, until, 1 if higher_is_better else -1),
    )
    return _take_examples(archive, rows, where)


def find_examples_before(
    archive: Archive, metric: str, before: int, where: tuple[str, str] | None = None
) -> list[dict[str, Any]]:
    """The last scored interactions before a drop: what answers were like then."""
    rows = archive.store.stream(
        "SELECT i.id, s.value FROM monitor_scores s JOIN interactions i ON i.number = s.number"
        " WHERE s.metric = ? AND s.at < ? AND s.value IS NOT NULL"
        " ORDER BY s.at DESC, i.number DESC",
        (metric, before),
    )
    return _take_examples(archive, rows, where)


def measure_feedback(
    archive: Archive,
    reference: Sequence[int],
    since: int,
    until: int,
    where: tuple[str, str] | None = None,
) -> dict[str, float] | None:
    """What people said before and since a drop: mean rating and number of ratings; None without ratings on both sides."""
    sides = []
    for start, stop in ((reference[0], reference[1]), (since, max(until, since + HOUR_MICROS))):
        windows = summarise_between(archive, start, stop, by=where[0] if where else None)
        window = (
            windows.whole
            if where is None
            else next((part for part in windows.slices if part.value == where[1]), None)
        )
        if window is None or window.feedback is None or window.feedback.mean is None:
            return None
        sides += [window.feedback.mean, float(window.feedback.scored)]
    return dict(zip(("before", "before_n", "after", "after_n"), sides, strict=True))


def _take_examples(
    archive: Archive, rows: Iterable[tuple[Any, ...]], where: tuple[str, str] | None
) -> list[dict[str, Any]]:
    """The first interactions of a slice among rows of id and value."""
    examples: list[dict[str, Any]] = []
    for id, value in rows:
        interaction = archive.get(id)
        if interaction is None or (
            where is not None and interaction.slices.get(where[0]) != where[1]
        ):
            continue
        examples.append(
            {
                "id": id,
                "value": value,
                "question": shorten_text(interaction.question),
                "answer": shorten_text(interaction.answer),
            }
        )
        if len(examples) == MAX_EXAMPLES:
            break
    return examples


def find_advice(
    archive: Archive, metric: str, since: int, until: int, where: tuple[str, str] | None = None
) -> list[dict[str, Any]]:
    """What to try: the diagnosis of the interactions since the drop, symptoms of the metric itself first."""
    from ragstone.analysis.advice import load_symptoms
    from ragstone.analysis.diagnose import diagnose
    from ragstone.analysis.failures import analyse_failures
    from ragstone.analysis.summary import summarise

    run = WindowRun(archive, since, until, where=where, limit=500)
    if not len(run) or not run.info.metrics:
        return []
    diagnoses = diagnose(run, summarise(run, worst=1), analyse_failures(run), load_symptoms())
    of_metric = [diagnosis for diagnosis in diagnoses if diagnosis.metric == metric]
    others = [diagnosis for diagnosis in diagnoses if diagnosis not in of_metric]
    return [
        {
            "symptom": dict(diagnosis.title),
            "causes": [
                {"cause": dict(item.cause), "advice": dict(item.advice)}
                for item in diagnosis.advice
            ],
        }
        for diagnosis in [*of_metric, *others][:MAX_ADVICE]
    ]


def shorten_text(text: str | None, limit: int = 200) -> str:
    """The start of a text on one line."""
    line = " ".join((text or "").split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _sum_by_value(archive: Archive, metric: str, since: int, until: int, field: str) -> Sums:
    # never an empty range: `since` may be the hour that has just begun
    until = max(until, since + HOUR_MICROS)
    slices = summarise_between(archive, since, until, by=field).slices
    return {
        window.value: (float(stats.scored), float(stats.scored) * stats.mean)
        for window in slices
        if (stats := window.metrics.get(metric)) is not None and stats.mean is not None
    }


def _compute_mean(items: Iterable[tuple[float, float]]) -> float | None:
    pairs = list(items)
    weight = sum(weight for weight, _ in pairs)
    return sum(weighted_sum for _, weighted_sum in pairs) / weight if weight else None
