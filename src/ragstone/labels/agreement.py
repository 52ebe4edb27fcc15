"""Agreement of the people who label: Krippendorff's alpha, Cohen's kappa, and the items they differ on."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ragstone.analysis.stats import Z, t_quantile
from ragstone.labels.label import Label, Target


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two people agree on the items that both labelled."""

    first: str
    second: str
    items: int
    same: float
    """Share of the items with the same label."""
    kappa: float | None
    """Cohen's kappa: agreement beyond chance; None where chance alone gives full agreement."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agree on one target."""

    target: Target
    people: int
    items: int
    """Items that two or more people labelled."""
    alpha: float | None
    """Krippendorff's alpha (ordinal values by their squared distance, words by being equal); None where all labels are
    the same."""
    low: float | None
    high: float | None
    pairs: tuple[PairAgreement, ...]
    disagreements: tuple[tuple[Label, ...], ...]
    """The labels of each item on which people differ, the widest apart first."""


def measure_agreement(labels: Sequence[Label]) -> list[Agreement]:
    """The agreement on each target that two or more people labelled in common."""
    by_target: dict[Target, dict[tuple[str, ...], list[Label]]] = defaultdict(dict)
    for label in labels:
        if label.origin != "adjudicated" and label.value is not None:
            by_target[label.target].setdefault(label.key, []).append(label)
    agreements = []
    for target, items in by_target.items():
        shared = {key: given for key, given in items.items() if len(given) > 1}
        if shared:
            agreements.append(_measure_target(target, shared))
    return agreements


def list_disagreements(labels: Sequence[Label]) -> list[tuple[Label, ...]]:
    """The labels of each item on which people differ and nobody has decided, the widest apart first."""
    items: dict[tuple[str, ...], list[Label]] = {}
    decided = {label.key for label in labels if label.origin == "adjudicated"}
    for label in labels:
        if label.value is not None and label.key not in decided:
            items.setdefault(label.key, []).append(label)
    return _sort_disagreements(items.values())


def resolve_labels(labels: Sequence[Label]) -> list[Label]:
    """One label for each item: the adjudicated one, else the mean of the labels of people; skipped items are left out.

    The sampling probability is the largest that any of them has: they are of the same draw."""
    items: dict[tuple[str, ...], list[Label]] = {}
    for label in labels:
        if label.value is not None:
            items.setdefault(label.key, []).append(label)
    resolved = []
    for given in items.values():
        decided = next((label for label in reversed(given) if label.origin == "adjudicated"), None)
        values = [label.value for label in given if label.value is not None]
        value = decided.value if decided is not None else sum(values) / len(values)
        probabilities = [
            label.sampling_probability for label in given if label.sampling_probability is not None
        ]
        word = decided.word if decided is not None else _find_majority(given)
        probability = max(probabilities, default=None)
        resolved.append(
            replace(given[-1], value=value, word=word, sampling_probability=probability)
        )
    return resolved


def _find_majority(given: Sequence[Label]) -> str:
    ((word, count), *rest) = Counter(label.word for label in given).most_common()
    return "" if rest and rest[0][1] == count else word


def _measure_target(target: Target, items: Mapping[tuple[str, ...], Sequence[Label]]) -> Agreement:
    rows = [tuple(given) for given in items.values()]
    alpha, low, high = _measure_alpha([[_get_value(label) for label in row] for row in rows])
    people = sorted({label.author for row in rows for label in row})
    pairs = [
        pair
        for first, second in combinations(people, 2)
        if (pair := _measure_pair(first, second, rows))
    ]
    return Agreement(
        target,
        len(people),
        len(rows),
        alpha,
        low,
        high,
        tuple(pairs),
        tuple(_sort_disagreements(rows)),
    )


def _sort_disagreements(rows: Iterable[Sequence[Label]]) -> list[tuple[Label, ...]]:
    differing = [tuple(row) for row in rows if len({_get_value(label) for label in row}) > 1]
    return sorted(differing, key=lambda row: -_measure_spread(row))


def _measure_spread(row: Sequence[Label]) -> float:
    values = [label.value for label in row if label.value is not None]
    return max(values) - min(values)


def _get_value(label: Label) -> float | str:
    """What two labels are compared by: verdicts and preferences as words, else the number."""
    return label.word if label.word else float(label.value or 0.0)


def _measure_distance(first: float | str, second: float | str) -> float:
    if isinstance(first, str) or isinstance(second, str):
        return float(first != second)
    return (first - second) ** 2


def _measure_alpha(rows: Sequence[Sequence[float | str]]) -> tuple[float | None, ...]:
    """Krippendorff's alpha and its 95 % interval, by leaving each item out in turn."""
    counts: Counter[float | str] = Counter(value for row in rows for value in row)
    total = sum(counts.values())
    within = [
        sum(_measure_distance(a, b) for a, b in combinations(row, 2)) * 2 / (len(row) - 1)
        for row in rows
    ]
    values = list(counts)
    expected = sum(
        counts[a] * counts[b] * _measure_distance(a, b) * 2 for a, b in combinations(values, 2)
    )
    if not expected:
        return None, None, None
    alpha = 1 - (total - 1) * sum(within) / expected
    if len(rows) < 3:
        return alpha, None, None
    left_out = []
    for row, row_distance in zip(rows, within, strict=True):
        rest = counts - Counter(row)
        # `expected` without the values of this row: the pairs with the others, then those among themselves
        apart = expected - 2 * sum(
            rest[value] * _measure_distance(value, other) for other in row for value in rest
        )
        apart -= 2 * sum(_measure_distance(a, b) for a, b in combinations(row, 2))
        if apart > 0:
            left_out.append(1 - (total - len(row) - 1) * (sum(within) - row_distance) / apart)
    if len(left_out) < 3:
        return alpha, None, None
    n, mean = len(left_out), sum(left_out) / len(left_out)
    error = math.sqrt((n - 1) / n * sum((value - mean) ** 2 for value in left_out))
    reach = t_quantile(0.975, n - 1) * error
    return alpha, max(-1.0, alpha - reach), min(1.0, alpha + reach)


def _measure_pair(first: str, second: str, rows: Sequence[Sequence[Label]]) -> PairAgreement | None:
    table: Counter[tuple[float | str, float | str]] = Counter()
    for row in rows:
        given = {label.author: _get_value(label) for label in row}
        if first in given and second in given:
            table[given[first], given[second]] += 1
    total = sum(table.values())
    if not total:
        return None
    kappa, low, high = measure_kappa(table)
    same = sum(n for (a, b), n in table.items() if a == b) / total
    return PairAgreement(first, second, total, same, kappa, low, high)


def measure_kappa(
    table: Mapping[tuple[float | str, float | str], int],
) -> tuple[float | None, float | None, float | None]:
    """Cohen's kappa of a table of two raters, with the 95 % interval of Fleiss, Cohen and Everitt (1969)."""
    total = sum(table.values())
    rows: Counter[float | str] = Counter()
    columns: Counter[float | str] = Counter()
    for (row, column), n in table.items():
        rows[row] += n
        columns[column] += n
    share = {cell: n / total for cell, n in table.items()}
    r = {value: n / total for value, n in rows.items()}
    c = {value: n / total for value, n in columns.items()}
    observed = sum(p for (a, b), p in share.items() if a == b)
    expected = sum(r.get(value, 0.0) * p for value, p in c.items())
    if expected >= 1:
        return None, None, None
    kappa = (observed - expected) / (1 - expected)
    agree = sum(
        p * (1 - (r.get(a, 0) + c.get(a, 0)) * (1 - kappa)) ** 2
        for (a, b), p in share.items()
        if a == b
    )
    differ = (1 - kappa) ** 2 * sum(
        p * (c.get(a, 0) + r.get(b, 0)) ** 2 for (a, b), p in share.items() if a != b
    )
    spread = agree + differ - (kappa - expected * (1 - kappa)) ** 2
    error = math.sqrt(max(0.0, spread) / total) / (1 - expected)
    return kappa, max(-1.0, kappa - Z * error), min(1.0, kappa + Z * error)
