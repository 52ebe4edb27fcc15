"""Judges measured on what people labelled: each judges the same items, the reply cache and budgets as in any run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.asks import Asking
from ragstone.data import read
from ragstone.engine.sync import run_sync
from ragstone.errors import DataError
from ragstone.experiments.run import evaluate
from ragstone.judges.factory import make_judge
from ragstone.judges.scale import JudgeScale, fingerprint_judge, measure_scale
from ragstone.labels import Label, Target, load_run_labels, read_labels, resolve_labels
from ragstone.labels.estimates import MeasuredItem
from ragstone.labels.measure import (
    JudgeMeasure,
    JudgeMeasurement,
    compare_judges,
    find_unsure,
    measure_judge,
)
from ragstone.labels.reader import COLUMNS, TARGET_NAMES
from ragstone.labels.units import JUDGED_BY, JudgedUnit, list_units
from ragstone.metrics.claims import Claim, check_every_claim, list_sources
from ragstone.registry import Metric, resolve
from ragstone.store import Store, StoredRun
from ragstone.types import Ranked, Sample, Score, Usage, share

LABEL_COLUMNS = {*TARGET_NAMES, *(column for names in COLUMNS.values() for column in names)}
"""Columns of a file that hold labels: samples are not sliced by them."""
MAX_SLICE_CHARS = 40
"""Characters of a value of meta that can be a slice."""
GOOD_LABEL, BAD_LABEL = 0.75, 0.25
"""Labels at or beyond which an item is a good or a bad control of a scale."""


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Samples with one label for each item of one target."""

    name: str
    target: Target
    samples: Mapping[str, Sample]
    labels: tuple[Label, ...]
    run: StoredRun | None = None
    """The run that was labelled, whose own judge is measured too."""


def open_labelled_run(run: StoredRun, target: Target | None) -> LabelledSet:
    """The labelled samples of a run; without a target, the one with most labels."""
    labels = resolve_labels(load_run_labels(run))
    chosen = _choose_target(labels, target, run.info.name)
    wanted = [label for label in labels if label.target == chosen]
    ids = {label.sample for label in wanted}
    samples = {row.id: row.sample for row in run.rows() if row.id in ids}
    return LabelledSet(run.info.name, chosen, samples, tuple(wanted), run)


def open_labelled_file(path: str, target: Target | None, data: str | None = None) -> LabelledSet:
    """The labels of a file, on the samples of `data`, or of the same file when its rows hold them too."""
    labels = resolve_labels(read_labels(path).labels)
    chosen = _choose_target(labels, target, path)
    wanted = [label for label in labels if label.target == chosen]
    ids = {label.sample for label in wanted}
    samples = {
        record.sample.id: record.sample for record in read(data or path) if record.sample.id in ids
    }
    known = tuple(label for label in wanted if label.sample in samples)
    if not known:
        raise DataError(f"no label of {path!r} is of a sample in {data or path!r}; the ids differ")
    return LabelledSet(path, chosen, samples, known)


def measure_judges(
    labelled: LabelledSet,
    judges: Sequence[Any],
    *,
    store: Store,
    concurrency: int | None = None,
    with_scales: bool = False,
) -> JudgeMeasurement:
    """Have each judge (whatever `make_judge` takes) judge the labelled items, and measure all of them on those.

    Without judges the one of the labelled run is measured. `with_scales` also finds where good and bad values part."""
    measured: list[JudgeMeasure] = []
    judged: list[tuple[str, list[MeasuredItem]]] = []
    scales: list[JudgeScale] = []
    for judge in judges or [None]:
        name, units, usage, seconds, identity = _judge_items(labelled, judge, store, concurrency)
        items = list(_match_items(labelled, units))
        failed = len(labelled.labels) - len(items)
        measured.append(measure_judge(name, items, failed=failed, usage=usage, seconds=seconds))
        judged.append((name, items))
        if with_scales and identity:
            scales += _build_scales(labelled, name, identity, items, failed)
    return JudgeMeasurement(
        name=labelled.name, target=labelled.target, labels=len(labelled.labels),
        drawn=_has_sampling_probabilities(labelled.labels), judges=tuple(measured),
        pairs=tuple(compare_judges(judged)), samples=labelled.samples, scales=tuple(scales),
    )  # fmt: skip


def check_labelled_claims(
    contexts: Ranked,
    meta: Mapping[str, Any],
    language: str | None = None,
    question: str | None = None,
) -> Asking[Score]:
    """Verdicts on the claims that people labelled, as they were labelled: no judge splits the answer anew."""
    # where in the answer they stand is not known: sentence and span are placeholders
    claims = [Claim(text, 0, (0, 0)) for text in meta["claims"]]
    sources = list_sources(contexts)
    checked = yield from check_every_claim(claims, sources, language, question)
    return share([claim.to_finding(sources) for claim in checked], "supported")


CLAIM_METRIC = Metric(
    name="faithfulness",
    function=check_labelled_claims,
    family="faithfulness",
    takes=("contexts", "meta", "language", "question"),
    needs=("contexts", "meta"),
    judged=True,
)


def _judge_items(
    labelled: LabelledSet, judge: Any, store: Store, concurrency: int | None
) -> tuple[str, list[JudgedUnit], Usage, float | None, str]:
    """The name of a judge, what it says of the items, what that took, and the judge's fingerprint.

    None stands for the judge of the labelled run, which is not asked again, and for the offline one without a run."""
    if judge is None and labelled.run is not None:
        info = labelled.run.info
        units = list_units(labelled.run, labelled.target)
        return info.judge or "–", units, info.usage, None, info.facts.judge_identity or ""
    made = make_judge("offline" if judge is None else judge)
    samples = list(_prepare_samples(labelled))
    metric = CLAIM_METRIC if labelled.target == "claim" else resolve(JUDGED_BY[labelled.target][0])
    started = time.perf_counter()
    run = evaluate(
        samples, [metric], judge=made, store=store, name=f"measured on {labelled.name}",
        concurrency=concurrency,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    units = list_units(run.stored, labelled.target)
    identity = fingerprint_judge(made)
    run_sync(made.close)
    # it only served the measurement; its replies stay in the store
    run.delete()
    return run.info.judge or str(judge), units, run.info.usage, seconds, identity


def _prepare_samples(labelled: LabelledSet) -> Iterator[Sample]:
    """The samples to judge; for claims, with those that were labelled in `meta`, where CLAIM_METRIC reads them."""
    claims: dict[str, list[str]] = {}
    for label in labelled.labels:
        claims.setdefault(label.sample, []).append(label.item)
    for sample in labelled.samples.values():
        if labelled.target == "claim":
            yield replace(sample, meta={**sample.meta, "claims": claims[sample.id]})
        else:
            yield sample


def _match_items(labelled: LabelledSet, units: Sequence[JudgedUnit]) -> Iterator[MeasuredItem]:
    by_key = {unit.key: unit for unit in units}
    are_drawn = _has_sampling_probabilities(labelled.labels)
    for label in labelled.labels:
        unit = by_key.get((label.sample, label.item))
        if unit is None or label.value is None:
            continue
        sample = labelled.samples[label.sample]
        yield MeasuredItem(
            sample=label.sample,
            item=label.item,
            label=label.value,
            prediction=unit.prediction,
            decision=unit.decision,
            weight=1 / ((are_drawn and label.sampling_probability) or 1.0),
            group=unit.group,
            slices=tuple(_list_slices(sample)),
            has_probability=unit.has_probability,
            finding=unit.finding,
            value=unit.value,
        )


def _has_sampling_probabilities(labels: Sequence[Label]) -> bool:
    return bool(labels) and all(label.sampling_probability is not None for label in labels)


def _list_slices(sample: Sample) -> Iterator[tuple[str, str]]:
    if sample.language is not None:
        yield "language", sample.language
    for name, value in sample.meta.items():
        if str(name).lower() in LABEL_COLUMNS:
            continue
        if isinstance(value, str | bool) and len(str(value)) <= MAX_SLICE_CHARS:
            yield str(name), str(value)


def _choose_target(labels: Sequence[Label], target: Target | None, where: str) -> Target:
    counts: dict[Target, int] = {}
    for label in labels:
        if label.target in JUDGED_BY:
            counts[label.target] = counts.get(label.target, 0) + 1
    if target is not None and target not in counts:
        raise DataError(
            f"{where!r} has no label on {target}; there are: {', '.join(counts) or 'none'}"
        )
    if not counts:
        raise DataError(
            f"{where!r} has no label that a judge could be measured by; label it: ragstone label RUN"
        )
    return max(counts, key=counts.__getitem__) if target is None else target


def _build_scales(
    labelled: LabelledSet, name: str, identity: str, items: Sequence[MeasuredItem], failed: int
) -> Iterator[JudgeScale]:
    """The scale of each language: where good and bad values of the metric part, by what people say."""
    metric = JUDGED_BY[labelled.target][0]
    by_language: dict[str, list[MeasuredItem]] = {}
    for item in items:
        language = labelled.samples[item.sample].language or "en"
        by_language.setdefault(language.split("-")[0].lower(), []).append(item)
    for language, part in by_language.items():
        scored = _list_values(labelled.target, part)
        good = [value for label, value in scored if label >= GOOD_LABEL]
        bad = [value for label, value in scored if label <= BAD_LABEL]
        scale = measure_scale(
            good, bad, judge=identity, name=name, language=language, metric=metric,
            reply_rate=len(items) / (len(items) + failed), source="labels",
            measured=time.strftime("%Y-%m-%d", time.gmtime()),
        )  # fmt: skip
        if scale is not None:
            has_claim_probabilities = labelled.target == "claim" and all(
                item.has_probability for item in part
            )
            unsure = find_unsure(part) if has_claim_probabilities else None
            yield scale if unsure is None else replace(scale, unsure=unsure[0])


def _list_values(target: Target, items: Sequence[MeasuredItem]) -> list[tuple[float, float]]:
    """What people say of each answer, and the metric's value of it.

    Of claims and chunks the value is that of the labelled ones; an answer with one unsupported claim is not good."""
    if target not in ("claim", "chunk"):
        return [(item.label, item.value) for item in items if item.value is not None]
    samples: dict[str, list[MeasuredItem]] = {}
    for item in items:
        samples.setdefault(item.sample, []).append(item)
    join = min if target == "claim" else statistics.fmean
    return [
        (join([item.label for item in part]), statistics.fmean(item.decision for item in part))
        for part in samples.values()
    ]
