"""Where rows come from, and what reading them costs."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import read, to_sample
from ragstone.errors import DataError
from ragstone.types import Chunk, Ranked, Sample

ROWS = [{"question": f"{n}?", "answer": "b", "contexts": ["c"]} for n in range(3)]


def jsonl(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_the_row_is_the_line_itself(tmp_path: Path) -> None:
    line = '{"question":"a?",  "answer" : "b\\u00f1", "x": 1.50e3}'
    path = tmp_path / "data.jsonl"
    path.write_text(f"  {line}\r\n")
    (record,) = read(path)
    assert record.row == line


def test_rows_of_a_json_list_keep_their_text_and_line(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text('[\n {"question": "a?", "x": 1.50},\n\n {\n "question": NaN}\n]')
    reading = read(path, skip_bad_rows=True)
    (record,) = reading
    assert record.row == '{"question": "a?", "x": 1.50}'
    assert reading.bad[0].startswith(f"{path}:4: NaN is not JSON")


def test_one_object_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"question": "a?", "contexts": [{"text": "b"}]}, indent=1))
    (record,) = read(path)
    assert record.sample.contexts == (Chunk("", "b"),)


def test_jsonl_in_a_json_file_and_a_list_in_a_jsonl_file(tmp_path: Path) -> None:
    (tmp_path / "lines.json").write_text(jsonl(ROWS))
    (tmp_path / "list.jsonl").write_text(json.dumps(ROWS, indent=2))
    assert read(tmp_path / "lines.json").check() == 3
    assert read(tmp_path / "list.jsonl").check() == 3


def test_gzip_is_unpacked_whatever_it_is_called(tmp_path: Path) -> None:
    for name in ("data.jsonl.gz", "data.jsonl"):
        (tmp_path / name).write_bytes(gzip.compress(jsonl(ROWS).encode()))
        assert read(tmp_path / name).check() == 3


def test_csv_with_semicolons_and_line_breaks_in_cells(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('id;question;answer\n1;"a\nb";c\n2;d;"e;f"\n')
    first, second = read(path)
    assert (first.sample.question, second.sample.answer) == ("a\nb", "e;f")


def test_csv_cells_may_be_large(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("question,answer\na," + "x" * 1_000_000 + "\n")
    (record,) = read(path)
    assert len(record.sample.answer or "") == 1_000_000


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{**row, "score": None if n else 0.5} for n, row in enumerate(ROWS)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "data.parquet")
    reading = read(tmp_path / "data.parquet")
    records = list(reading)
    assert [record.sample.question for record in records] == ["0?", "1?", "2?"]
    assert records[0].sample.contexts == (Chunk("", "c"),)
    assert records[0].sample.meta == {"score": 0.5}


def test_standard_input_can_be_read_twice() -> None:
    code = (
        "from ragstone.data import read; r = read('-'); "
        "print(r.source, r.check(), sum(1 for _ in r), r.format)"
    )
    for text in (jsonl(ROWS), json.dumps(ROWS), "question,answer\na,b\nc,d\ne,f\n"):
        done = subprocess.run(
            [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
        )
        assert done.stdout == "- 3 3 ragstone columns\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_can_be_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_text(jsonl(ROWS)))
    thread.start()
    reading = read(pipe)
    thread.join()
    assert (reading.check(), reading.check()) == (3, 3)


def test_samples_and_dicts_in_memory() -> None:
    sample = Sample(
        "q",
        "a?",
        "b",
        Ranked((Chunk("d", "text", 0.5), Chunk("e"), Chunk("", "t"))),
        "r",
        {"d": 2, "x": -1},
        "es",
        "g",
        {"type": "impossible"},
    )
    reading = read([sample, {"question": "c?"}])
    first, second = reading
    assert reading.source == "2 samples"
    assert first.sample == sample
    assert to_sample(first.row, reading.shape, 1) == sample
    assert second.sample.id == "2"


def test_samples_that_all_failed_are_still_samples() -> None:
    failed = [Sample("a", error="timeout"), Sample("b", error="timeout")]
    assert [record.sample for record in read(failed)] == failed
    assert [record.sample for record in read(iter(failed))] == failed


def test_half_a_surrogate_pair_in_memory() -> None:
    reading = read([{"question": "a\ud800", "answer": "ñ"}])
    (record,) = reading
    record.row.encode()
    assert record.sample.question == "a\ufffd"
    assert to_sample(record.row, reading.shape, 1) == record.sample


def test_an_iterator_can_be_read_twice_and_is_cut_at_the_limit() -> None:
    def endless() -> Iterator[dict[str, Any]]:
        number = 0
        while True:
            number += 1
            yield {"question": f"{number}?\u2028"}

    reading = read(endless(), limit=3)
    assert [record.sample.question for record in reading] == ["1?\u2028", "2?\u2028", "3?\u2028"]
    assert reading.check() == 3


def test_a_data_frame_with_empty_cells() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "id": [1, None],
            "question": ["a?", "b?"],
            "contexts": [["c"], []],
            "when": [pandas.Timestamp("2025-01-01"), pandas.NaT],
        }
    )
    reading = read(frame)
    first, second = reading
    assert (reading.source, first.sample.id, second.sample.id) == ("2 rows", "1", "2")
    assert second.sample.contexts == ()
    assert first.sample.meta["when"].startswith("2025-01-01")


def test_a_dataset_by_its_looks() -> None:
    class Dataset:
        column_names = ("question",)

        def __len__(self) -> int:
            return 2

        def __iter__(self) -> Iterator[dict[str, str]]:
            return iter([{"question": "a?"}, {"question": "b?"}])

    assert read(Dataset()).check() == 2


def test_the_limit_counts_good_rows(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("oops\n" + jsonl(ROWS))
    assert len(list(read(path, limit=2, skip_bad_rows=True))) == 2
    assert list(read(path, limit=0)) == []
    with pytest.raises(DataError, match="the limit is -1"):
        read(path, limit=-1)


def test_peeking_passes_over_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("oops\n" + jsonl(ROWS))
    reading = read(path)
    assert [record.sample.question for record in reading.peek(2)] == ["0?", "1?"]
    assert reading.bad_count == 0


def test_a_record_says_whether_its_row_gave_an_id() -> None:
    rows = [{"id": "a", "question": "a?"}, {"question": "b?"}, {"id": "", "question": "c?"}]
    assert [(record.sample.id, record.has_id) for record in read(rows)] == [
        ("a", True),
        ("2", False),
        ("3", False),
    ]


def test_an_id_may_not_be_the_position_of_an_earlier_row_without_one() -> None:
    reading = read([{"question": "a?"}, {"id": "1", "question": "b?"}], skip_bad_rows=True)
    assert [record.sample.id for record in reading] == ["1"]
    assert "the id '1' was given to an earlier row" in reading.bad[0]


def test_an_empty_group_is_no_group() -> None:
    (record,) = read([{"question": "a?", "group": ""}])
    assert record.sample.group is None


def test_meta_keeps_small_extras_only() -> None:
    (record,) = read(
        [{"question": "a?", "note": "x", "long": "y" * 5000, "deep": [[1]], "latency_ms": 500}]
    )
    assert record.sample.meta == {"note": "x", "latency": 0.5}


def test_contexts_as_frameworks_write_them() -> None:
    contexts = [
        {"page_content": "a", "metadata": {"source": "s"}},
        {"node": {"id_": "n", "text": "b"}, "score": 0.5},
        {"id": 3, "content": "c", "meta": {}},
        "",
    ]
    (record,) = read([{"question": "a?", "contexts": contexts}])
    assert record.sample.contexts == (
        Chunk("s", "a"),
        Chunk("n", "b", 0.5),
        Chunk("3", "c"),
        Chunk("#4", ""),
    )


def test_relevant_as_ids_grades_or_objects() -> None:
    for given, wanted in (
        (["a", 2], {"a": 1, "2": 1}),
        ({"a": 0.5, "b": -1}, {"a": 0.5, "b": -1}),
        ([{"id": "a", "grade": 2}, {"doc_id": "b"}], {"a": 2, "b": 1}),
        ([], {}),
        (None, None),
    ):
        (record,) = read([{"question": "a?", "relevant": given}])
        assert record.sample.relevant == wanted


MEASURE = """
import json, sys, resource
from ragstone.data import read
count = sum(1 for _ in read(sys.argv[1]))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for count in (2_000, 60_000):
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as stream:
            for number in range(count):
                row = {"id": f"q{number}", "question": "a?", "contexts": ["text " * 60] * 5}
                stream.write(json.dumps(row) + "\n")
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True
        )
        read_count, peak = map(int, done.stdout.split())
        assert read_count == count
        peaks.append(peak)
    assert peaks[1] < 1.2 * peaks[0]


def test_reading_costs_little_more_than_parsing(tmp_path: Path) -> None:
    import time

    path = tmp_path / "data.jsonl"
    row = {
        "question": "q " * 40,
        "answer": "a " * 75,
        "contexts": [{"id": f"d{n}", "text": "word " * 45} for n in range(5)],
        "reference": "r " * 50,
        "relevant": {"d1": 1},
    }
    path.write_text(jsonl([row] * 3000))
    lines = path.read_text().splitlines()

    def seconds(work: Any) -> float:
        best = float("inf")
        for _ in range(5):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
        return best

    parsing = seconds(lambda: [json.loads(line) for line in lines])
    reading = seconds(lambda: sum(1 for _ in read(path)))
    assert reading < 9 * parsing


def test_io_errors_while_reading_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(jsonl(ROWS))
    reading = read(path)
    path.unlink()
    with pytest.raises(DataError, match="no file"):
        reading.check()

    class Broken(io.RawIOBase):
        """A file that fails however it is read: by lines, by blocks, or whole."""

        def readable(self) -> bool:
            return True

        def readinto(self, _: object) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("builtins.open", lambda *_, **__: io.BufferedReader(Broken()))
    with pytest.raises(DataError, match=r"cannot read .*: Input/output error"):
        reading.check()


def test_rows_that_were_checked_are_read_once(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(
        '{"question": "q", "answer": "a"}\nnot json\n{"question": "q", "answer": "b"}\n'
    )
    dataset = read(path, skip_bad_rows=True)
    assert dataset.check(keep=10_000) == 2
    path.unlink()
    assert [record.sample.answer for record in dataset] == ["a", "b"]
    assert dataset.bad_count == 1
    with pytest.raises(DataError, match="no file"):  # kept for one iteration, which lets go of them
        list(dataset)
