"""Classifiers of pairs of texts (natural language inference) that decide whether passages support a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges.choices import PairClasses, PairLabel, PairOutcome, PairRequest, merge_windows
from ragstone.judges.limits import Budget
from ragstone.judges.local.classifiers import Runtime, check_packages, find_files, load_runtime
from ragstone.judges.local.forms import FORMS, Form
from ragstone.judges.local.labels import read_labels
from ragstone.judges.local.thread import ModelThread, to_failure
from ragstone.judges.local.weights import find_model, fingerprint_files
from ragstone.judges.local.windows import TokenWindow, build_form_windows, build_windows
from ragstone.types import Usage

if TYPE_CHECKING:
    from ragstone.judges.local.grounding import GroundingRuntime


class NliClassifier:
    """A sequence-classification model with two or three classes."""

    concurrency = 1
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        *,
        labels: Any = None,
        batch: int = 16,
        context: int | None = None,
        threads: int | None = None,
        device: str | None = None,
        deadline: float = 600.0,
        budget: Budget | None = None,
        kind: str = "nli",
    ) -> None:
        self.path, self.kind = name, kind
        self.name = f"{kind}:{name}"
        path = find_model(kind, name)
        self.files = None if path is None else find_files(name, path, kind)
        check_packages(name, self.files, kind)
        if (
            kind == "nli" and self.files is not None
        ):  # a hub model's labels are read when it is loaded
            read_labels(self.name, self.files.labels, labels)
        self.given_labels = labels
        self.batch = batch
        self.context = context
        self.threads = threads
        self.device = device
        self.deadline = deadline
        self.budget = budget or Budget()
        self._thread = ModelThread("classifier", self._load)

    def identity(self) -> Mapping[str, Any]:
        """Return a hash of the model's files, or its hub name, and the settings that change its classes."""
        model = self.path if self.files is None else fingerprint_files(self.files.parts)
        return {
            "dialect": self.kind,
            "model": model,
            "labels": self.given_labels,
            "context": self.context,
        }

    async def classify(self, pairs: Sequence[PairRequest]) -> list[PairOutcome]:
        """Classify the pairs; the windows of all of them are run together, those of like length in one batch."""
        prepared = [await self._prepare(pair) for pair in pairs]
        windows = [window for job in prepared if isinstance(job, list) for window in job]
        try:
            rows = await self._run(windows)
        except JudgeFailed as failure:
            return [to_failure(failure) if isinstance(job, list) else job for job in prepared]
        remaining = iter(rows)
        return [
            _merge(job, [next(remaining) for _ in job], pair.claim)
            if isinstance(job, list)
            else job
            for job, pair in zip(prepared, pairs, strict=True)
        ]

    async def close(self) -> None:
        """Release the model."""
        await self._thread.close()

    def _load(self) -> _Classifier:
        if self.kind in FORMS:
            from ragstone.judges.local.grounding import LABELS, GroundingRuntime

            folder = self.path if self.files is None else str(self.files.folder)
            return _Classifier(
                GroundingRuntime(self.kind, folder, self.device, self.threads), LABELS
            )
        runtime = load_runtime(self.path, self.files, self.device, self.threads)
        return _Classifier(runtime, read_labels(self.name, runtime.labels, self.given_labels))

    async def _prepare(self, pair: PairRequest) -> list[TokenWindow] | JudgeFailed | OutOfBudget:
        try:
            await self.budget.admit(0.0)
            return await self._thread.run(self.deadline, _cut, pair, self.context)
        except (JudgeFailed, OutOfBudget) as failure:
            return failure

    async def _run(self, windows: Sequence[TokenWindow]) -> list[_WindowRow]:
        """Return what the model says of each window."""
        order = sorted(range(len(windows)), key=lambda n: len(windows[n].ids))
        rows: dict[int, _WindowRow] = {}
        for start in range(0, len(order), self.batch):
            batch = order[start : start + self.batch]
            seconds = self.deadline * len(batch)
            classes = await self._thread.run(seconds, _classify, [windows[n] for n in batch])
            rows.update(zip(batch, classes, strict=True))
        return [rows[n] for n in range(len(windows))]


class _Classifier(NamedTuple):
    """A loaded model and what its outputs mean."""

    runtime: Runtime | GroundingRuntime
    labels: tuple[PairLabel, ...]

    @property
    def form(self) -> Form | None:
        """How the model is asked; None for a pair of texts."""
        return getattr(self.runtime, "form", None)


class _WindowRow(NamedTuple):
    """What the model says of one window."""

    classes: Mapping[PairLabel, float] | None
    """None where it gives no numbers."""
    chances: tuple[float, ...] = ()
    """Of a token head: the chance that each token of the claim is unsupported."""


def _cut(model: _Classifier, pair: PairRequest, context: int | None) -> list[TokenWindow]:
    limit = min(context or model.runtime.max_tokens, model.runtime.max_tokens)
    tokenizer, form = model.runtime.tokenizer, model.form
    if form is None:
        return build_windows(tokenizer, pair.passages, pair.claim, limit)
    end = model.runtime.end  # type: ignore[union-attr]
    return build_form_windows(
        tokenizer, pair.passages, pair.claim, limit,
        lambda passages, claim: form.write(passages, claim, end),
    )  # fmt: skip


def _classify(model: _Classifier, windows: Sequence[TokenWindow]) -> list[_WindowRow]:
    rows = model.runtime.run(windows)
    if model.form is None or model.form.head != "tokens":
        return [_WindowRow(weigh_classes(row, model.labels)) for row in rows]
    from ragstone.judges.local.grounding import weigh_tokens

    return [_WindowRow(weigh_tokens(row), tuple(row)) for row in rows]


def weigh_classes(
    logits: Sequence[float], labels: Sequence[PairLabel]
) -> Mapping[PairLabel, float] | None:
    """Return the probability of each class (softmax); None when the logits are not finite or not as many."""
    if len(logits) != len(labels) or not all(map(math.isfinite, logits)):
        return None
    highest = max(logits)
    weights = [math.exp(logit - highest) for logit in logits]
    return {label: weight / sum(weights) for label, weight in zip(labels, weights, strict=True)}


def _merge(windows: Sequence[TokenWindow], rows: Sequence[_WindowRow], claim: str) -> PairOutcome:
    usage = Usage(1, sum(len(window.ids) for window in windows))
    classes = [row.classes for row in rows if row.classes is not None]
    if len(classes) < len(rows):
        failure = JudgeFailed("unparseable", "classes_unreadable")
        failure.usage = usage
        return failure
    decided = merge_windows(classes)
    at = classes.index(decided)
    if not rows[at].chances:
        return PairClasses(decided, len(windows), usage)
    from ragstone.judges.local.grounding import find_spans

    unsupported = find_spans(rows[at].chances, windows[at], claim)
    return PairClasses(decided, len(windows), usage, unsupported)
