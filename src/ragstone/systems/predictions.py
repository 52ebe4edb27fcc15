"""A file of answers given earlier, as a system: matched by id, else by question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.data import read
from ragstone.data.rows import compile_shape
from ragstone.data.strict import reparse
from ragstone.errors import DataError
from ragstone.systems.protocol import SystemFault, SystemReply
from ragstone.text.words import fold_text
from ragstone.types import EMPTY, Sample


class Predictions:
    """Answers from a file that `ragstone eval` could read too."""

    concurrency = 64
    parameters: Mapping[str, Any] = EMPTY

    def __init__(self, path: str | Path, *, format: str | None = None) -> None:
        self.source = str(path)
        self.name = f"predictions:{Path(path).name}"
        reading = read(path, format=format)
        given = compile_shape(reading.shape)
        self._by_id: dict[str, Sample] = {}
        self._by_question: dict[str, Sample | None] = {}
        for record in reading:
            if given(reparse(record.row), 1)[1]:
                self._by_id[record.sample.id] = record.sample
            if record.sample.question is not None:
                key = fold_text(record.sample.question)
                # a question that stands twice tells its answers apart by id only
                self._by_question[key] = None if key in self._by_question else record.sample
        if not self._by_id and not self._by_question:
            raise DataError(
                f"the predictions in {self.source!r} have neither ids nor questions; add one"
            )
        content = Path(path).read_bytes() if Path(path).is_file() else b""
        self._hash = hashlib.sha256(content).hexdigest()

    def identity(self) -> Mapping[str, Any]:
        """The content of the file."""
        return {"predictions": self._hash}

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """The id, by which predictions are found."""
        return {"id": sample.id}

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """The prediction for this sample."""
        found = self._by_id.get(sample.id)
        if found is None:
            found = self._by_question.get(fold_text(question))
        if found is None:
            raise SystemFault(f"no prediction for {sample.id!r} in {self.source}")
        if found.error is not None:
            raise SystemFault(found.error)
        if found.answer is None and found.contexts is None:
            raise SystemFault(f"an empty prediction for {sample.id!r} in {self.source}")
        numbers = {name: _number(found.meta.get(name)) for name in ("latency", "tokens", "cost")}
        return SystemReply(found.answer, found.contexts, **numbers)

    async def close(self) -> None:
        """Everything was read at the start."""


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
