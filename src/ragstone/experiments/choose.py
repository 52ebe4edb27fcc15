"""Which metrics a run computes: those that are named, or those that fit the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragstone.data import Dataset
from ragstone.errors import NothingToScore, RagstoneError, Unscored
from ragstone.locale.messages import Message, compose
from ragstone.metrics import REGISTERED, resolve
from ragstone.metrics.scoring import build_starter
from ragstone.registry import Metric, MetricSpec
from ragstone.text.language import identify_sample_language, is_measured_language
from ragstone.text.windows import cut_sample
from ragstone.types import Sample, Score

PROBED_SAMPLES = 100
"""Samples whose fields decide which metrics fit the data."""

JUDGED_BY_DEFAULT = frozenset(
    {
        "faithfulness", "answer_relevance", "answer_correctness", "context_relevance",
        "context_recall", "citation_accuracy",
    }
)  # fmt: skip
"""Judged metrics of a run that names none: one for each question people ask, no two that say the same."""


MODEL_JUDGED_BY_DEFAULT = frozenset({"goal_reached", "knowledge_kept", "topic_kept"})
"""Those that the embedded judge leaves open too often for a run that does not name them."""


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


def choose_metrics(
    named: Sequence[Metric] | None,
    dataset: Dataset,
    *,
    judge: Any = None,
    language: str | None = None,
) -> list[Metric]:
    """The metrics named, or those whose fields the first samples have."""
    if named is not None:
        return list(named)
    return default_metrics(first_samples(dataset), judge=judge, language=language)


def default_metrics(
    samples: Iterable[Sample], *, judge: Any = None, language: str | None = None
) -> list[Metric]:
    """Every unjudged metric that needs no extra, and the usual judged ones, that can score one of the samples.

    The embedded judge answers only in the languages it was measured in; another judge is taken to know them all."""
    probed = [cut_sample(sample) for sample in samples]
    judgeable, judged_families = probed, JUDGED_BY_DEFAULT | MODEL_JUDGED_BY_DEFAULT
    if isinstance(judge, Mapping) and judge.keys() <= {"model", "calibration"}:
        judge = judge.get("model")
    if judge in (None, "offline"):
        judged_families = JUDGED_BY_DEFAULT
        judgeable = [
            s for s in probed if is_measured_language(identify_sample_language(s, language))
        ]
    metrics = [
        metric
        for metric in REGISTERED.values()
        if (metric.family in judged_families if metric.judged else metric.extra is None)
        # metrics of the user's own modules run only when named: importing a module must not add
        # columns to every report
        and metric.function.__module__.startswith("ragstone.")
        and any(_can_score(metric, sample) for sample in (judgeable if metric.judged else probed))
    ]
    if not metrics:
        raise NothingToScore(_explain_nothing(probed, judgeable))
    return metrics


def _can_score(metric: Metric, sample: Sample) -> bool:
    """Whether the metric scores the sample, or gets as far as its first question to a judge."""
    attempt = build_starter(metric)(sample)
    if isinstance(attempt, Score):
        return attempt.ok
    try:
        next(attempt)
    except StopIteration:
        return True
    except Unscored:
        return False
    attempt.close()
    return True


def _explain_nothing(samples: Sequence[Sample], judgeable: Sequence[Sample]) -> Message:
    """Why no metric fits, in one sentence: what the samples have, and what would help."""
    if not samples:
        return compose("nothing_without_samples")
    first = samples[0]
    if all(sample.error is not None for sample in samples):
        question, error = (first.question or "")[:80], str(first.error)
        return compose("system_always_failed", n=len(samples), question=question, error=error)
    names = ("question", "answer", "contexts", "reference", "relevant")
    present = tuple(n for n in names if any(getattr(s, n) is not None for s in samples))
    if {"question", "answer"} <= set(present) and not judgeable:
        language = identify_sample_language(first, None)
        return compose("nothing_in_language", language=language)
    if not present:
        return compose("nothing_known")
    if present == ("question",):
        return compose("nothing_but_questions")
    missing = tuple(f"`{name}`" for name in names if name not in present)
    return compose("nothing_scorable", field=present, missing=missing)


def first_samples(dataset: Dataset, count: int = PROBED_SAMPLES) -> list[Sample]:
    """The first samples of a dataset, which can still be read from its start afterwards."""
    return [record.sample for record in dataset.peek(count)]
