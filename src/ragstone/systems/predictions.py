"""A system that replays the answers of a file, matched by id, else by question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.data import read
from ragstone.errors import DataError
from ragstone.systems.protocol import MEASURES, SystemFault, SystemReply
from ragstone.text.words import fold_text
from ragstone.types import EMPTY, Sample


class PredictionsSystem:
    """Answers from a file in any format that `read` accepts."""

    concurrency = 64
    warmup = 0  # a lookup has nothing to load
    takes_history = True  # predictions are matched by the question as it is
    parameters: Mapping[str, Any] = EMPTY

    def __init__(self, path: str | Path, *, format: str | None = None) -> None:
        self.source = str(path)
        self.name = f"predictions:{Path(path).name}"
        dataset = read(path, format=format)
        self._by_id: dict[str, Sample] = {}
        self._by_question: dict[str, Sample | None] = {}
        for record in dataset:
            if record.has_id:  # rows without one get their number, which must not match
                self._by_id[record.sample.id] = record.sample
            if record.sample.question is not None:
                key = fold_text(record.sample.question)
                # a question that occurs twice can only be matched by id
                self._by_question[key] = None if key in self._by_question else record.sample
        if not self._by_id and not self._by_question:
            raise DataError(
                f"the predictions in {self.source!r} have neither ids nor questions; add one"
            )
        content = Path(path).read_bytes() if Path(path).is_file() else b""
        self._content_hash = hashlib.sha256(content).hexdigest()

    def identity(self) -> Mapping[str, Any]:
        """Identify the system by the content of its file."""
        return {"predictions": self._content_hash}

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """The id, by which predictions are matched."""
        return {"id": sample.id}

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Return the prediction for this sample."""
        prediction = self._by_id.get(sample.id)
        if prediction is None:
            prediction = self._by_question.get(fold_text(question))
        if prediction is None:
            raise SystemFault("no_prediction", sample=sample.id, source=str(self.source))
        if prediction.error is not None:
            raise SystemFault(prediction.error)
        if prediction.answer is None and prediction.contexts is None:
            raise SystemFault("empty_prediction", sample=sample.id, source=str(self.source))
        measures = {name: _to_number(prediction.meta.get(name)) for name in MEASURES}
        return SystemReply(
            prediction.answer, prediction.contexts, **measures, steps=prediction.steps
        )

    async def close(self) -> None:
        """Nothing to close: the file is read at the start."""


def _to_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
