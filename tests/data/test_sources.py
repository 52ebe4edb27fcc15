"""Row sources: what a file of cells is cut by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.data.sources import open_source


@pytest.mark.parametrize("name", ["rows.tsv", "rows.csv", "rows.txt"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_shows_what_parts_the_cells(tmp_path: Path, name: str, mark: str) -> None:
    path = tmp_path / name
    path.write_text(mark.join(["id", "question", "answer"]) + "\n" + mark.join("abc"), "utf-8")
    ((_, row),) = open_source(str(path)).rows()
    assert isinstance(row, str)
    assert json.loads(row) == {"id": "a", "question": "b", "answer": "c"}
