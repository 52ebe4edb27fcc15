"""The means of a run corrected by labels, and the corrected difference of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragstone.analysis.corrected import (
    MIN_LABELS,
    CorrectedMean,
    LabelledUnits,
    MetricCorrection,
    correct_mean,
)
from ragstone.analysis.summary import ScoredRun
from ragstone.labels.agreement import resolve_labels
from ragstone.labels.archive import load_run_labels
from ragstone.labels.label import Label, Target
from ragstone.labels.units import INVERTED, JUDGED_BY, JudgedUnit, list_units
from ragstone.locale.messages import compose
from ragstone.store import StoredRun
from ragstone.types import EMPTY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOT_CORRECTED: frozenset[Target] = frozenset({"refusal"})
"""Targets whose mean is not that of the metric that judges them: abstention counts unanswerable questions only."""


@dataclass(frozen=True, slots=True)
class _LabelledRun:
    """The units of a metric with the labels that count for them."""

    target: Target
    units: Sequence[JudgedUnit]
    labels: Mapping[tuple[str, str], Label]
    """By the key of the unit."""
    bounds: tuple[float, float] | None
    inverted: bool
    """Whether the metric counts what is not supported, so that its mean is 1 minus that of labels and predictions."""
    weights: Mapping[str, float] = field(default_factory=lambda: EMPTY)
    """Sample → how much it counts, where they do not all count the same."""


def correct_run(run: StoredRun) -> dict[str, MetricCorrection]:
    """Metric → what the labels of the store say of it; empty when nobody has labelled the run."""
    return correct_scores(run, resolve_labels(load_run_labels(run)))


def correct_scores(
    run: ScoredRun, labels: Sequence[Label], weights: Mapping[str, float] = EMPTY
) -> dict[str, MetricCorrection]:
    """Metric → what these labels say of it; `weights` (sample → how much it counts) of a run that is itself a sample."""
    corrections = {}
    for metric in run.info.metrics if labels else ():
        labelled = _find_labels(run, metric, labels)
        if labelled is not None:
            weighted = replace(labelled, weights=weights)
            corrections[str(metric["name"])] = _correct_metric(weighted)
    return corrections


def correct_difference(before: StoredRun, after: StoredRun) -> dict[str, MetricCorrection]:
    """Metric → the corrected difference of two runs, after minus before, from units that are labelled in both."""
    sides = [(run, resolve_labels(load_run_labels(run))) for run in (before, after)]
    corrections: dict[str, MetricCorrection] = {}
    if not all(labels for _, labels in sides):
        return corrections
    names = {str(metric["name"]) for metric in after.info.metrics}
    for metric in before.info.metrics:
        if metric["name"] in names:
            old, new = (_find_labels(run, metric, labels) for run, labels in sides)
            # claims and chunks of two answers are not the same items: only whole answers are paired
            if (
                old is not None
                and new is not None
                and old.target == new.target
                and not _has_items(old)
            ):
                corrections[str(metric["name"])] = _correct_pairs(old, new)
    return corrections


def _has_items(labelled: _LabelledRun) -> bool:
    return any(unit.item for unit in labelled.units)


def _find_labels(
    run: ScoredRun, metric: Mapping[str, Any], labels: Sequence[Label]
) -> _LabelledRun | None:
    """The target with most labels of those that the metric judges."""
    best: _LabelledRun | None = None
    for target, item in _list_targets(metric):
        given = _index_labels(labels, target, item)
        if not given or (best is not None and len(best.labels) >= len(given)):
            continue
        units = list_units(run, target, item)
        known = {unit.key for unit in units}
        bounds = metric.get("bounds") if target == "score" else (0.0, 1.0)
        best = _LabelledRun(
            target,
            units,
            {key: label for key, label in given.items() if key in known},
            None if bounds is None else (float(bounds[0]), float(bounds[1])),
            target != "score" and metric["family"] in INVERTED,
        )
    return best


def _index_labels(
    labels: Sequence[Label], target: Target, item: str
) -> dict[tuple[str, str], Label]:
    """The labels of a target by sample and item; those of a score are of the whole sample."""
    if target == "score":
        return {
            (label.sample, ""): label
            for label in labels
            if label.target == target and label.item == item
        }
    return {(label.sample, label.item): label for label in labels if label.target == target}


def _list_targets(metric: Mapping[str, Any]) -> Iterator[tuple[Target, str]]:
    yield "score", str(metric["name"])
    if metric["family"] != metric["name"]:
        yield "score", str(metric["family"])
    for target, families in JUDGED_BY.items():
        if metric["family"] in families and target not in NOT_CORRECTED:
            yield target, ""


def _correct_metric(labelled: _LabelledRun) -> MetricCorrection:
    import numpy as np

    units = labelled.units
    indexes, labels, notes = _select_labels(labelled, labelled.labels)
    if len(indexes) < MIN_LABELS:
        return _refuse_few(labelled.target, len(indexes), notes)
    predictions = _list_predictions(units)
    values = np.array([_to_value(label) for label in labels])
    if labelled.inverted:
        predictions, values = 1 - predictions, 1 - values
    shares = np.array([unit.share * labelled.weights.get(unit.sample, 1.0) for unit in units])
    estimate = correct_mean(
        LabelledUnits(
            predictions,
            labelled=np.array(indexes, np.int64),
            labels=values,
            sampling_probabilities=_list_sampling_probabilities(labels, len(units)),
            weights=shares / shares.sum(),
            groups=_number_groups([unit.group for unit in units]),
        ),
        bounds=labelled.bounds,
    )
    return _finish(labelled.target, estimate, notes)


def _list_predictions(units: Sequence[JudgedUnit]) -> NDArray[np.float64]:
    """What the judge expects of each unit; of a judge with probabilities, also the value that its metric counts, and of
    whole answers the chance of the weakest claim. Each gets its own weight."""
    import numpy as np

    expected = np.array([unit.prediction for unit in units])
    if not any(unit.has_probability for unit in units):
        return expected
    counted = [unit.decision if unit.value is None else unit.value for unit in units]
    columns = [expected, np.array(counted)]
    weakest = [unit.weakest for unit in units if unit.weakest is not None]
    if len(weakest) == len(units):
        columns.append(np.array(weakest))
    return np.column_stack(columns)


def _correct_pairs(before: _LabelledRun, after: _LabelledRun) -> MetricCorrection:
    """The mean difference of the units of two runs, from those that are labelled in both."""
    import numpy as np

    new = {unit.key: unit for unit in after.units}
    pairs = [(unit, new[unit.key]) for unit in before.units if unit.key in new]
    both = {
        key: label for key, label in before.labels.items() if key in after.labels and key in new
    }
    # not inverted: `sign`, below, turns the differences
    paired = _LabelledRun(
        before.target, [unit for unit, _ in pairs], both, before.bounds, inverted=False
    )
    indexes, labels, notes = _select_labels(paired, both)
    if len(indexes) < MIN_LABELS:
        return _refuse_few(before.target, len(indexes), notes)
    # the item is empty: only whole answers are paired
    values = [_to_value(after.labels[label.sample, ""]) - _to_value(label) for label in labels]
    sign = -1.0 if before.inverted else 1.0
    width = None if before.bounds is None else before.bounds[1] - before.bounds[0]
    estimate = correct_mean(
        LabelledUnits(
            sign * _subtract_predictions(pairs),
            labelled=np.array(indexes, np.int64),
            labels=sign * np.array(values),
            sampling_probabilities=_list_sampling_probabilities(labels, len(pairs)),
            groups=_number_groups([unit.group for unit, _ in pairs]),
        ),
        bounds=None if width is None else (-width, width),
    )
    return _finish(before.target, estimate, notes)


def _to_value(label: Label) -> float:
    return float(label.value or 0.0)


def _refuse_few(target: Target, count: int, notes: Sequence[str]) -> MetricCorrection:
    few = compose("labels_too_few", n=count, enough=MIN_LABELS)
    return MetricCorrection(target, None, (*notes, few))


def _subtract_predictions(pairs: Sequence[tuple[JudgedUnit, JudgedUnit]]) -> NDArray[np.float64]:
    before, after = (_list_predictions(side) for side in zip(*pairs, strict=True))
    # a judge with probabilities beside one without: what both have is compared
    return (
        after - before
        if after.shape == before.shape
        else _first_column(after) - _first_column(before)
    )


def _first_column(predictions: NDArray[np.float64]) -> NDArray[np.float64]:
    return predictions if predictions.ndim == 1 else predictions[:, 0]


def _finish(
    target: Target, estimate: CorrectedMean | None, notes: Sequence[str]
) -> MetricCorrection:
    warnings = estimate.warnings if estimate is not None else ()
    return MetricCorrection(target, estimate, (*notes, *warnings))


def _select_labels(
    labelled: _LabelledRun, labels: Mapping[tuple[str, str], Label]
) -> tuple[list[int], list[Label], list[str]]:
    """The labelled units that count, their labels, and what to know of the rest.

    Labels without a sampling probability are taken for a plain random draw when no label has one; else they are left out."""
    has_probabilities = any(label.sampling_probability is not None for label in labels.values())
    usable = {
        key: label
        for key, label in labels.items()
        if not has_probabilities or label.sampling_probability is not None
    }
    indexes = [index for index, unit in enumerate(labelled.units) if unit.key in usable]
    notes: list[str] = []
    if labels and not has_probabilities:
        notes.append(compose("labels_assumed_random", n=len(labels)))
    if len(usable) < len(labels):
        notes.append(compose("labels_without_chance", n=len(labels) - len(usable)))
    return indexes, [usable[labelled.units[index].key] for index in indexes], notes


def _list_sampling_probabilities(labels: Sequence[Label], units: int) -> NDArray[np.float64]:
    import numpy as np

    plain = len(labels) / units
    given = [label.sampling_probability for label in labels]
    return np.array([plain if probability is None else probability for probability in given])


def _number_groups(groups: Sequence[str]) -> NDArray[np.int64]:
    import numpy as np

    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], np.int64)
