"""What the tests of clusters have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Counter[str]]:
    """How often the judge was asked each question, over all processes."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("RAGSTONE_TEST_CALLS", str(folder))

    def counted() -> Counter[str]:
        found: Counter[str] = Counter()
        for path in folder.iterdir():
            found.update(line.split()[1] for line in path.read_text().splitlines())
            path.unlink()
        return found

    return counted
