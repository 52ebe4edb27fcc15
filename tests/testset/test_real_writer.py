"""A real small model writes a test set: whatever it writes ends as an item or as a counted rejection, paid once."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.documents import Document
from ragstone.testset.items import REASONS
from ragstone.testset.sets import TestSet, generate, name_rejected_file
from small_model import find_judge_weights, served

DOCUMENTS = [
    Document("tower", "The tower of Almere is 40 metres high. Its bell was cast by Ida Brandt in 1902."),
    Document("bridge", "The bridge of Corran was opened in 1931. Its keeper is Tomas Reyes."),
]  # fmt: skip


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """SmolLM2, once for all tests here."""
    yield from served()


def settings(url: str, most: int = 4) -> dict[str, Any]:
    """The model as a judge: room for one question, and few calls, so that the test ends."""
    return {
        "model": "openai:smollm2", "base_url": url, "small": True, "temperature": 0,
        "max_tokens": 200, "concurrency": 1, "deadline": 900.0, "timeout": 900.0, "max_calls": most,
    }  # fmt: skip


def written(url: str, folder: Path, *, resume: bool = False, most: int = 4) -> TestSet:
    out, store, judge = folder / "set.jsonl", folder / "s.db", settings(url, most)
    return generate(DOCUMENTS, 1, kinds="factual", judge=judge, out=out, store=store, resume=resume)


KILLED = """
import sys, json
from ragstone.data.documents import Document
from ragstone.testset.items import REASONS
from ragstone.testset.sets import generate
documents = [Document(key, text) for key, text in json.loads({documents!r})]
generate(documents, 1, kinds="factual", judge=json.loads({judge!r}), out={out!r}, store={store!r})
"""


def killed(url: str, folder: Path) -> None:
    """A process that is killed as soon as one reply is in the store."""
    code = KILLED.format(
        documents=json.dumps([[document.id, document.text] for document in DOCUMENTS]),
        judge=json.dumps(settings(url)), out=str(folder / "set.jsonl"), store=str(folder / "s.db"),
    )  # fmt: skip
    child = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline and child.poll() is None and not kept(folder):
        time.sleep(0.2)
    child.kill()
    child.wait()


def kept(folder: Path) -> int:
    """Replies in the store."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 's.db'}?mode=ro", uri=True)) as store:
            return int(store.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


@pytest.mark.slow
@pytest.mark.timeout(1800)  # one thread beside other work: minutes, not seconds
def test_a_real_model_is_killed_goes_on_and_is_paid_once(url: str, tmp_path: Path) -> None:
    killed(url, tmp_path)
    before = kept(tmp_path)
    made = written(url, tmp_path, resume=True)
    assert made.items or made.rejected
    assert set(made.reasons) <= set(REASONS)
    for item in made.items:
        for one in item.evidence:
            text = next(d.text for d in DOCUMENTS if d.id == one.document)
            assert text[one.start : one.end] == one.quote
    place = name_rejected_file(tmp_path / "set.jsonl")
    rows = [json.loads(line) for line in place.open(encoding="utf-8")] if made.rejected else []
    assert len(rows) == len(made.rejected)
    assert all(row["reason"] and row["detail"] for row in rows)
    assert kept(tmp_path) >= before
    # what was paid stays paid: only replies that could not be used are asked for again
    unusable = sum(one.reason == "judge_failed" for one in made.rejected)
    # (each of those twice), so a budget for no more than that is enough to end at the same place
    again = written(url, tmp_path, most=max(1, 2 * unusable))
    # a real model may reply otherwise to what is asked again; all else is as it was
    settled = [one.to_row() for one in made.rejected if one.reason != "judge_failed"]
    rows_again = [one.to_row() for one in again.rejected]
    assert all(row in rows_again for row in settled)
    items_again = [item.to_row() for item in again.items]
    assert all(item.to_row() in items_again for item in made.items)
    assert len(rows_again) + len(items_again) >= len(settled) + len(made.items)


@pytest.mark.slow
@pytest.mark.timeout(7200)  # a model of 1.5B on one thread beside other work
def test_a_model_worth_asking_makes_a_set_that_is_proved(tmp_path: Path) -> None:
    judge = {"model": f"gguf:{find_judge_weights()}", "timeout": 3600.0, "deadline": 7200.0, "max_calls": 8}  # fmt: skip
    made = generate(DOCUMENTS, 2, kinds="factual", judge=judge, store=tmp_path / "s.db")
    assert len(made.items) + len(made.rejected) > 0
    assert set(made.reasons) <= set(REASONS)
    texts = {document.id: document.text for document in DOCUMENTS}
    for item in made.items:
        assert item.how.startswith("gguf:")
        assert all(piece.quote in texts[piece.document] for piece in item.evidence)
