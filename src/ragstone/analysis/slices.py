"""Where failures gather: samples sliced by language, document, question type or any field of meta."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.analysis.significance import ALPHA, adjust_p_values
from ragstone.analysis.stats import wilson_interval
from ragstone.types import Sample

MAX_VALUES = 200
"""A field with more different values than this is no way to slice."""
MIN_SLICE_SAMPLES = 5
"""Samples a slice needs to be worth a test."""
MAX_VALUE_CHARS = 80
"""Characters of a value; longer ones are texts, not categories."""
MEASURED_FIELDS = frozenset({"latency", "first_token", "tokens", "cost"})


@dataclass(frozen=True, slots=True)
class Slice:
    """Samples that share a value of a field, and how they fare against the rest."""

    field: str
    value: str
    samples: int
    failures: int
    rate: float
    low: float
    high: float
    rest_rate: float
    """The share of failures among all other samples that have the field."""
    p: float
    adjusted: float
    """p corrected for every slice that was tested."""
    worse: bool
    """Whether it fails significantly more often than the rest."""
    classes: dict[str, int]


class SliceCounter:
    """Counts failures by every value of every field."""

    def __init__(self, by: Sequence[str] | None = None) -> None:
        self._by = by
        self._counts: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
        self._dropped: set[str] = set()

    def add(self, sample: Sample, failure: str | None) -> None:
        """Count one sample under each of its values; `failure` is its class, None when it is fine."""
        for name, value in self._iter_values(sample):
            if name in self._dropped:
                continue
            values = self._counts[name]
            if value not in values:
                if len(values) >= MAX_VALUES:
                    self._dropped.add(name)
                    # an id or a text: counting on would take memory for every sample
                    del self._counts[name]
                    continue
                values[value] = Counter()
            values[value][failure or ""] += 1

    @property
    def dropped(self) -> tuple[str, ...]:
        """Fields with too many values."""
        return tuple(sorted(self._dropped))

    def build_slices(self) -> tuple[Slice, ...]:
        """Each slice against the rest by Fisher's exact test, corrected by Holm; the worst first."""
        candidates = []
        for name, values in self._counts.items():
            total = sum(sum(counts.values()) for counts in values.values())
            failed = sum(_count_failures(counts) for counts in values.values())
            for value, counts in values.items():
                samples, failures = sum(counts.values()), _count_failures(counts)
                if (
                    len(values) > 1
                    and samples >= MIN_SLICE_SAMPLES
                    and total - samples >= MIN_SLICE_SAMPLES
                ):
                    candidates.append((name, value, samples, failures, total, failed, counts))
        ps = [
            fisher_test(f, n - f, failed - f, total - n - failed + f)
            for _, _, n, f, total, failed, _ in candidates
        ]
        slices = []
        for (name, value, samples, failures, total, failed, counts), p, corrected in zip(
            candidates, ps, adjust_p_values(ps, "holm"), strict=True
        ):
            rate, rest = failures / samples, (failed - failures) / (total - samples)
            low, high = wilson_interval(failures, samples)
            classes = {kind: n for kind, n in counts.most_common() if kind}
            worse = corrected <= ALPHA and rate > rest
            slices.append(
                Slice(
                    name,
                    value,
                    samples,
                    failures,
                    rate,
                    low,
                    high,
                    rest,
                    p,
                    corrected,
                    worse,
                    classes,
                )
            )
        return tuple(sorted(slices, key=lambda part: (not part.worse, part.rest_rate - part.rate)))

    def _iter_values(self, sample: Sample) -> Iterator[tuple[str, str]]:
        fields: dict[str, object] = {
            "language": sample.language,
            "group": sample.group,
            **sample.meta,
        }
        for name, value in fields.items():
            if self._by is not None and name not in self._by:
                continue
            # numbers that hardly repeat, unless the user asks for them
            if self._by is None and name in MEASURED_FIELDS:
                continue
            if isinstance(value, str | bool | int) and len(str(value)) <= MAX_VALUE_CHARS:
                yield name, str(value)


def fisher_test(a: int, b: int, c: int, d: int) -> float:
    """Fisher's exact test, two-sided: how often a table with these margins is no likelier than this one."""
    row, column, total = a + b, a + c, a + b + c + d
    low, high = max(0, row + column - total), min(row, column)

    def log_probability(k: int) -> float:
        return (
            _log_binomial(column, k)
            + _log_binomial(total - column, row - k)
            - _log_binomial(total, row)
        )

    here = (
        log_probability(a) + 1e-7
    )  # tables that are equally likely on paper differ in the last digits
    return min(
        1.0,
        math.fsum(math.exp(p) for k in range(low, high + 1) if (p := log_probability(k)) <= here),
    )


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _count_failures(counts: Counter[str]) -> int:
    return sum(n for kind, n in counts.items() if kind)
