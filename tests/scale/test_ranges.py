"""A file cut into ranges gives the rows that reading it whole gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data import read
from ragstone.data.ranges import FileRange, plan_ranges, read_range
from ragstone.scale.batches import MIN_BATCH_ROWS, BatchSizer

lines = st.lists(
    st.one_of(
        st.sampled_from(["", "   ", "\t"]),
        st.text(max_size=20).map(lambda text: json.dumps({"question": text, "answer": "a"})),
        st.text(max_size=20).map(
            lambda text: json.dumps({"question": text, "answer": "é"}, ensure_ascii=False)
        ),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(lines=lines, wanted=st.integers(1, 7), feed=st.sampled_from(["\n", "\r\n"]))
def test_ranges_of_jsonl_hold_the_rows_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], wanted: int, feed: str
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "data.jsonl"
    first = json.dumps({"question": "first", "answer": "a"})
    path.write_bytes(feed.join([first, *lines]).encode("utf-8", "surrogatepass"))
    reading = read(str(path), skip_bad_rows=True)
    ranges = plan_ranges(read(str(path)), str(path), lambda: wanted)
    assert ranges is not None
    parts = list(ranges())
    found = [row for part in parts for row in read_range(part)]
    assert found == list(reading._row_source.rows())
    assert [part.rows for part in parts] == [len(list(read_range(part))) for part in parts]


def test_parquet_is_cut_by_row_groups(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"question": f"q{n}", "answer": "a"} for n in range(10)]
    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=4)
    ranges = plan_ranges(read(str(path)), str(path), lambda: 2)
    assert ranges is not None
    parts = list(ranges())
    assert [(part.rows_before, part.rows) for part in parts] == [(0, 4), (4, 4), (8, 2)]
    texts = [text for part in parts for _, text in read_range(part)]
    assert texts == [record.row for record in read(str(path))]


@pytest.mark.parametrize("name", ["data.csv", "data.json", "data.jsonl.gz"])
def test_what_cannot_be_cut_is_not(tmp_path: Path, name: str) -> None:
    import gzip

    path = tmp_path / name
    text = {"data.csv": "question,answer\nq,a\n", "data.json": '[{"question": "q"}]'}.get(
        name, '{"question": "q"}\n'
    )
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert plan_ranges(read(str(path)), str(path), lambda: 2) is None


def test_a_range_names_the_line_of_a_row(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"question": "a"}\n\n{"question": "b"}\n')
    assert list(read_range(FileRange(str(path), 18, 37, 1, 1))) == [(3, '{"question": "b"}')]


def test_batches_get_smaller_towards_the_end_so_that_no_worker_waits_long_for_another():
    sizes = BatchSizer(0, {}, total=400, workers=2)
    rows: list[int] = []
    while sum(rows) < 400:
        rows.append(min(sizes.next_size(), 400 - sum(rows)))
        sizes.position += rows[-1]
        sizes.add_timing(rows[-1], 0.001)  # as quick as can be: batches would only grow
    assert max(rows) > 4 * rows[-1]
    assert rows[-1] <= MIN_BATCH_ROWS
