"""What the command line tests share: a call of a command, and small data files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragstone.cli import run


@dataclass(frozen=True)
class Result:
    """What one call printed and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capfd, monkeypatch, tmp_path):
    """Call the command line in an empty folder with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        code = run(list(arguments))
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return call


@pytest.fixture
def write(tmp_path):
    """Write a file of rows (.jsonl), of JSON (.json) or of text into the folder."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif name.endswith(".jsonl"):
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in content)
            path.write_text("".join(lines), encoding="utf-8")
        else:
            path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return path

    return write


@pytest.fixture
def rows(write):
    """data.jsonl: ten samples, eight with the right answer and document."""
    return write(
        "data.jsonl",
        [
            {
                "id": f"q{n}",
                "question": f"What is {n}?",
                "answer": "yes" if n % 5 else "no",
                "reference": "yes",
                "contexts": [{"id": f"d{n if n % 5 else 0}", "text": f"About {n}."}],
                "relevant": {f"d{n}": 1},
            }
            for n in range(1, 11)
        ],
    )
