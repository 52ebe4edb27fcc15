"""Input rows come out untouched, with one more column for each metric."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import add_columns, parquet_writer, read, write_rows, writers
from ragstone.data.sources import open_source
from ragstone.errors import DataError

ROWS: list[tuple[str, dict[str, Any]]] = [
    ('{"question":"a?",  "x": 1.50, "contexts": ["c", "d"]}', {"recall@5": 0.5, "f1": None}),
    ('{"question": "\\ud800", "y": {"k": [1]}, "x": 2, "contexts": []}', {"recall@5": 1.0}),
    ("{}", {"recall@5": 0.0, "f1": 0.25}),
]
COLUMNS = ["recall@5", "f1"]


def write(path: Path) -> int:
    return write_rows(path, lambda: ROWS, COLUMNS)


def test_jsonl_keeps_each_rows_own_text(tmp_path: Path) -> None:
    assert write(tmp_path / "out.jsonl") == 3
    assert (tmp_path / "out.jsonl").read_text().splitlines() == [
        '{"question":"a?",  "x": 1.50, "contexts": ["c", "d"], "recall@5": 0.5, "f1": null}',
        '{"question": "\\ud800", "y": {"k": [1]}, "x": 2, "contexts": [], "recall@5": 1.0, "f1": null}',
        '{"recall@5": 0.0, "f1": 0.25}',
    ]


def test_json_is_a_list(tmp_path: Path) -> None:
    write(tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [row["recall@5"] for row in rows] == [0.5, 1.0, 0.0]
    assert write_rows(tmp_path / "none.json", list, COLUMNS) == 0
    assert json.loads((tmp_path / "none.json").read_text()) == []


def test_csv_has_the_columns_of_all_rows(tmp_path: Path) -> None:
    write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["question", "x", "contexts", "y", "recall@5", "f1"]
    assert rows[0]["contexts"] == '["c", "d"]'
    assert (rows[1]["question"], rows[1]["y"]) == ("\ufffd", '{"k": [1]}')
    assert (rows[2]["question"], rows[2]["f1"]) == ("", "0.25")


def test_parquet_has_typed_columns_and_reads_back(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types["recall@5"] == types["f1"] == types["x"] == "double"
    assert table.column("recall@5").to_pylist() == [0.5, 1.0, 0.0]
    records = read(tmp_path / "out.parquet", skip_bad_rows=True).peek(2)
    assert records[0].sample.contexts is not None
    assert records[0].sample.contexts.texts == ["c", "d"]


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".parquet"])
def test_what_is_written_can_be_evaluated_again(tmp_path: Path, ending: str) -> None:
    files = Path(__file__).parent / "files"
    reading = read(files / "ragas.jsonl")
    path = tmp_path / f"out{ending}"
    write_rows(path, lambda: ((record.row, {"f1": 0.5}) for record in reading), ["f1"])
    again = read(path)
    assert again.format == "ragas columns"
    for before, after in zip(reading, again, strict=True):
        assert after.sample.contexts == before.sample.contexts
        assert after.sample.relevant == before.sample.relevant
        assert after.sample.reference == before.sample.reference
        assert float(after.sample.meta["f1"]) == 0.5


def test_a_column_that_is_taken_keeps_its_value() -> None:
    assert json.loads(add_columns('{"f1": 7}', {"f1": 0.5}, ["f1"])) == {"f1": 7, "f1 (new)": 0.5}
    assert json.loads(add_columns('{"\\u00661": 7}', {"f1": 0.5}, ["f1"]))["f1"] == 7
    assert add_columns('{"a": 1}', {}, []) == '{"a": 1}'


FORMULAS = [
    *("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "'=1", "''=1", '"=1"'),
    *("\ufeff=1", "\u200b@a", "\xa0-a", "＝1", "- a list", "--", "=1,2\n3", "-1.5 x", "'-1.5", "-"),
]
PLAIN = ["a=1", "-1.5", "+3", "-2e-7", "'a'", "'", "", " a", '"a"', "1-2"]


def test_csv_has_no_cell_that_a_spreadsheet_would_execute(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    texts = [*FORMULAS, *PLAIN]
    rows = [(json.dumps({"=head": text, "question": "q", "n": -1.5}), {}) for text in texts]
    write_rows(path, lambda: rows, [])
    with path.open(newline="") as stream:
        cells = list(csv.DictReader(stream))
    assert [row["'=head"] for row in cells] == [*(f"'{text}" for text in FORMULAS), *PLAIN]
    assert {row["n"] for row in cells} == {"-1.5"}
    again = [json.loads(str(text)) for _, text in open_source(str(path)).rows()]
    assert [row["=head"] for row in again] == texts
    write_rows(path, lambda: rows, [], raw=True)
    with path.open(newline="") as stream:
        assert [row["=head"] for row in csv.DictReader(stream)] == texts


def test_a_broken_run_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old")

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        yield ROWS[0]
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_rows(path, rows, COLUMNS)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.jsonl"]


def test_unwritable_targets_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot write '.*out.xls' as '.xls'"):
        write(tmp_path / "out.xls")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        write(tmp_path / "file" / "out.jsonl")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="cannot write"):
        write(tmp_path / "folder.csv")


def test_shards_are_one_table_for_duckdb_and_polars(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    from ragstone.data import write_shards

    # a column that is whole numbers in the first shard and others in the last
    scored = [
        (json.dumps({"id": f"s{n}", "n": n if n < 9 else n + 0.5}), {"m": n / 10, "late": None if n < 9 else 1.0})
        for n in range(10)
    ]  # fmt: skip
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00007.parquet").write_bytes(b"of an earlier, longer export")
    assert write_shards(tmp_path / "out", lambda: scored, ["m", "late"], 4) == 10
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"part-0000{n}.parquet" for n in range(3)]
    table = duckdb.sql(
        f"SELECT COUNT(*), AVG(m), SUM(late), SUM(n) FROM '{tmp_path}/out/*.parquet'"
    )
    assert table.fetchall()[0] == (10, pytest.approx(0.45), 1.0, 45.5)
    assert polars.read_parquet(tmp_path / "out" / "*.parquet")["id"].to_list() == [
        f"s{n}" for n in range(10)
    ]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_column_or_kind_that_shows_late_makes_no_difference(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(json.dumps({"a": n}), {"m": None}) for n in range(1500)]
    rows += [('{"a": 0.5, "late": "x, \\"y\\"\\n"}', {"m": 0.25}), ('{"a": null}', {"m": None})]
    early, late = tmp_path / f"early{ending}", tmp_path / f"late{ending}"
    assert write_rows(late, lambda: rows, ["m"]) == len(rows)
    for module in (writers, parquet_writer):
        monkeypatch.setattr(module, "DETECTION_ROWS", None)  # all rows are looked at first
    write_rows(early, lambda: rows, ["m"])
    assert late.read_bytes() == early.read_bytes()
    read_rows = [json.loads(str(text)) for _, text in open_source(str(late)).rows()]
    (with_late,) = [row for row in read_rows if row["late"]]
    assert with_late["late"] == 'x, "y"\n'
    assert float(with_late["a"]) == 0.5


def test_csv_is_what_the_standard_library_writes(tmp_path: Path) -> None:
    cells = [
        "",
        "a",
        "a,b",
        'a"b',
        "a\nb",
        "a\rb",
        " a ",
        "é",
        "1",
        None,
        1,
        2.5,
        1e-7,
        True,
        [1, "x"],
    ]
    rows = [(json.dumps({"x": value, "y": "z"}), {"m": 0.1}) for value in cells]
    write_rows(tmp_path / "out.csv", lambda: rows, ["m"])
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["x", "y", "m"]
    written = [line[0] for line in lines]
    assert written[:10] == ["", "a", "a,b", 'a"b', "a\nb", "a\rb", " a ", "é", "1", ""]
    assert written[10:] == ["1", "2.5", "1e-07", "true", '[1, "x"]']
    assert {tuple(line[1:]) for line in lines} == {("z", "0.1")}
    write_rows(tmp_path / "one.csv", lambda: [('{"x": ""}', {}), ('{"x": null}', {})], [])
    assert (tmp_path / "one.csv").read_text() == 'x\n""\n""\n'
