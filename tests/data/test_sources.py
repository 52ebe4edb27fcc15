"""Row sources: what a file of cells is cut by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import read
from ragstone.data.sources import open_source
from ragstone.errors import DataError


@pytest.mark.parametrize("name", ["rows.tsv", "rows.csv", "rows.txt"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_shows_what_parts_the_cells(tmp_path: Path, name: str, mark: str) -> None:
    path = tmp_path / name
    path.write_text(mark.join(["id", "question", "answer"]) + "\n" + mark.join("abc"), "utf-8")
    ((_, row),) = open_source(str(path)).rows()
    assert isinstance(row, str)
    assert json.loads(row) == {"id": "a", "question": "b", "answer": "c"}


COLUMNS = {
    "question": ["When?", "Who?"],
    "answer": ["At nine.", "Ann."],
    "contexts": [["Nine."], ["Ann."]],
}


def make_frame(kind: str) -> Any:
    """The same rows as a frame of another library."""
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        rows = "('When?', 'At nine.', ['Nine.']), ('Who?', 'Ann.', ['Ann.'])"
        return duckdb.sql(f"SELECT * FROM (VALUES {rows}) AS t(question, answer, contexts)")
    if kind == "datasets":
        datasets = pytest.importorskip(
            "datasets", reason="datasets is not installed (make test-all)"
        )
        return datasets.DatasetDict({"test": datasets.Dataset.from_dict(COLUMNS)})
    polars = pytest.importorskip("polars", reason="polars is not installed (make test-all)")
    frame = polars.DataFrame(COLUMNS)
    return frame.lazy() if kind == "lazy polars" else frame


@pytest.mark.parametrize("kind", ["polars", "lazy polars", "duckdb", "datasets"])
def test_frames_of_other_libraries_are_read(kind: str) -> None:
    samples = [record.sample for record in read(make_frame(kind))]
    assert [sample.question for sample in samples] == ["When?", "Who?"]
    assert [[chunk.text for chunk in sample.contexts or ()] for sample in samples] == [
        ["Nine."],
        ["Ann."],
    ]


def test_a_dataset_of_several_splits_asks_which() -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed (make test-all)")
    split = datasets.Dataset.from_dict(COLUMNS)
    with pytest.raises(DataError, match=r"'train', 'test'.*data\['train'\]"):
        read(datasets.DatasetDict({"train": split, "test": split}))
