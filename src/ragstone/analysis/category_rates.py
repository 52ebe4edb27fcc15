"""Shares of the categories that a metric sorts samples into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragstone.analysis.stats import wilson_rates

AMONG: tuple[tuple[str, ...], ...] = (
    ("correct_refusal", "missed_refusal"),
    ("false_refusal", "answered"),
)
"""Labels whose shares are taken out of each other: of the unanswerable questions, of the answerable ones."""


@dataclass(frozen=True, slots=True)
class LabelRate:
    """How many samples fall in a category, out of how many, with the share's 95 % Wilson interval."""

    label: str
    count: int
    total: int
    rate: float | None
    """None when there was nothing to take a share of."""
    low: float | None
    high: float | None


def label_rates(labels: Mapping[str, int]) -> tuple[LabelRate, ...]:
    """The rate of each label of a MetricSummary; refusals out of the unanswerable questions, false ones out of the others."""
    rates = []
    for label, rate in wilson_rates(labels, AMONG).items():
        # as in `wilson_rates`, which takes the share of the same total
        siblings = next((group for group in AMONG if label in group), tuple(labels))
        total = sum(labels.get(name, 0) for name in siblings)
        rates.append(LabelRate(label, labels[label], total, *(rate or (None, None, None))))
    return tuple(rates)
