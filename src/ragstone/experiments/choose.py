"""Which metrics a run computes: those that are named, or those that fit the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragstone.data import Dataset
from ragstone.errors import RagstoneError
from ragstone.metrics import REGISTERED, resolve
from ragstone.metrics.scoring import build_starter
from ragstone.registry import Metric, MetricSpec
from ragstone.types import Sample, Score

PROBED_SAMPLES = 100
"""Samples whose fields decide which metrics fit the data."""


def resolve_specs(specs: Sequence[MetricSpec]) -> list[Metric]:
    """The metrics that a user names, each once."""
    metrics = [resolve(spec) for spec in ([specs] if isinstance(specs, str) else specs)]
    if not metrics:
        raise RagstoneError("no metric is named; `ragstone metrics` lists them")
    names = [metric.name for metric in metrics]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RagstoneError(f"{', '.join(twice)} is named twice; name each metric once")
    return metrics


def choose_metrics(named: Sequence[Metric] | None, dataset: Dataset) -> list[Metric]:
    """The metrics named, or those without a judge whose fields the first samples have."""
    return default_metrics(first_samples(dataset)) if named is None else list(named)


def default_metrics(samples: Iterable[Sample]) -> list[Metric]:
    """Every metric that asks no judge, needs no extra, and has its fields in one of the samples."""
    probed = list(samples)
    metrics = [
        metric
        for metric in REGISTERED.values()
        if not metric.judged
        and metric.extra is None
        # metrics of the user's own modules run only when named: importing a module must not add
        # columns to every report
        and metric.function.__module__.startswith("ragstone.")
        and any(isinstance(score := build_starter(metric)(sample), Score) and score.ok for sample in probed)
    ]  # fmt: skip
    if not metrics:
        raise RagstoneError(
            "the first samples have the fields of no metric; name metrics with -m, or map your "
            "columns with --field (`ragstone metrics` says what each needs)"
        )
    return metrics


def first_samples(dataset: Dataset, count: int = PROBED_SAMPLES) -> list[Sample]:
    """The first samples of a reading, which can still be read from its start afterwards."""
    return [record.sample for record in dataset.peek(count)]
