"""Input that is small on disk and endless inside, and rows that no one can use: refused with a sentence, in bounded time and memory."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import ragstone
from ragstone.data import limits, sources
from ragstone.data.documents import read_documents
from ragstone.data.html import html_to_text
from ragstone.errors import BadRows, DataError
from ragstone.testset.sources import open_corpus

ROW = b'{"id": "%d", "question": "q", "answer": "a"}\n'


@pytest.mark.parametrize(
    "pack", [lambda body: gzip.compress(body, 1), pytest.param(bytes, marks=pytest.mark.slow)]
)
def test_a_line_over_the_limit_is_one_bad_row_and_is_not_held_in_memory(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    long = b'{"id": "2", "answer": "' + b"a " * (limits.MAX_ROW_BYTES // 2 + 2_000_000) + b'"}\n'
    file = tmp_path / "rows.jsonl"
    file.write_bytes(pack(ROW % 1 + long + ROW % 3))
    tracemalloc.start()
    dataset = ragstone.read(file, skip_bad_rows=True)
    ids = [record.sample.id for record in dataset]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ids == ["1", "3"]
    assert dataset.bad == [f"{file}:2: {limits.ROW_TOO_LONG}"]
    assert peak < 2.5 * limits.MAX_ROW_BYTES


def test_a_csv_row_over_the_limit_ends_the_file_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    lines = (b"a" * 999_999 + b"\n") * (limits.MAX_ROW_BYTES // 1_000_000 + 1)
    file.write_bytes(b'id,question,answer\n1,q,a\n2,q,"' + lines + b'"\n3,q,a\n')
    with pytest.raises(
        BadRows, match=r"rows.csv:3: the row is longer than 64 MB.*nothing after it"
    ):
        list(ragstone.read(file))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
def test_a_million_columns_are_refused_before_anything_is_made_of_them(
    tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"rows.{ending}"
    names = [f"c{n}" for n in range(limits.MAX_COLUMNS + 1)]
    if ending == "csv":
        file.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    elif ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({name: [1] for name in names}), file)
    else:
        row = json.dumps(dict.fromkeys(names, 1))
        file.write_text(f"[{row}]" if ending == "json" else row + "\n")
    with pytest.raises(DataError, match="10,001 columns, more than 10,000"):
        list(ragstone.read(file))


def test_an_error_names_some_of_many_columns(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({f"c{n}": 1 for n in range(5000)}) + "\n")
    with pytest.raises(DataError, match="and 4,960 more") as error:
        ragstone.read(file)
    assert len(str(error.value)) < 3000


def test_a_gzip_file_that_grows_out_of_proportion_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (limits, sources):
        monkeypatch.setattr(module, "MAX_STREAM_BYTES", 1 << 20)
    good, bomb = tmp_path / "good.jsonl.gz", tmp_path / "bomb.jsonl.gz"
    good.write_bytes(gzip.compress(b"".join(ROW % n for n in range(24_000))))
    bomb.write_bytes(gzip.compress(ROW % 1 + b"\n" * (20 << 20)))
    assert sum(1 for _ in ragstone.read(good)) == 24_000
    with pytest.raises(DataError, match=r"bomb.jsonl.gz' unpacks to more than 100 times its size"):
        list(ragstone.read(bomb))


def test_a_packed_json_document_is_refused_before_it_is_whole_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (limits, sources):
        monkeypatch.setattr(module, "MAX_STREAM_BYTES", 1 << 20)
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b'[{"question": "q", "answer": "' + b"a" * (20 << 20) + b'"}]'))
    with pytest.raises(DataError, match="unpacks to more than 100 times"):
        list(ragstone.read(bomb))


def test_junk_after_a_gzip_member_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl.gz"
    file.write_bytes(gzip.compress(ROW % 1) + b"junk")
    with pytest.raises(DataError, match="damaged gzip file"):
        list(ragstone.read(file))


def test_a_parquet_file_that_grows_out_of_proportion_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    monkeypatch.setattr(limits, "MAX_STREAM_BYTES", 1 << 20)
    bomb, rows, items = (tmp_path / f"{name}.parquet" for name in ("bomb", "rows", "items"))
    parquet.write_table(pyarrow.table({"answer": ["a" * (30 << 20)]}), bomb, compression="zstd")
    parquet.write_table(pyarrow.table({"answer": pyarrow.nulls(10**7)}), rows)
    ends = pyarrow.array([0, 3 << 20], pyarrow.int32())
    listed = pyarrow.ListArray.from_arrays(ends, pyarrow.nulls(3 << 20, pyarrow.string()))
    parquet.write_table(pyarrow.table({"contexts": listed}), items)
    for file in (bomb, rows, items):
        with pytest.raises(DataError, match="unpacks to more than 100 times"):
            list(ragstone.read(file))


@pytest.mark.parametrize("keeps_schema", [True, False])
def test_a_value_written_once_and_read_in_every_row_is_refused_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps_schema: bool
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    from ragstone.data import parquet_reader

    monkeypatch.setattr(limits, "MAX_STREAM_BYTES", 16 << 20)
    monkeypatch.setattr(parquet_reader, "MAX_ROW_BYTES", 4 << 20)
    text = pyarrow.array(["a" * (2 << 20)] * 6).dictionary_encode()
    listed = pyarrow.array([["b" * (2 << 20)] * count for count in (1, 3, 1)])
    few, many, lists = (tmp_path / name for name in ("few.parquet", "many.parquet", "l.parquet"))
    options = {"compression": "zstd", "store_schema": keeps_schema, "dictionary_pagesize_limit": 9 << 20}  # fmt: skip
    parquet.write_table(pyarrow.table({"question": text, "answer": ["a"] * 6}), few, **options)
    parquet.write_table(
        pyarrow.table({"question": text.take([0] * 100), "answer": ["a"] * 100}), many, **options
    )
    parquet.write_table(
        pyarrow.table({"question": ["q"] * 3, "contexts": listed}), lists, **options
    )
    assert many.stat().st_size < 10_000
    assert len(list(ragstone.read(few))) == 6
    with pytest.raises(BadRows, match="row 2: the row is longer"):
        list(ragstone.read(lists))
    rows = sources.open_source(str(many)).rows()
    with pytest.raises(DataError, match="unpacks to more than 100 times"):
        next(rows)  # none is read before


def test_a_document_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docx = pytest.importorskip("docx", reason="python-docx is not installed")
    monkeypatch.setattr(limits, "MAX_ARCHIVE_BYTES", 1 << 20)
    good, bomb = tmp_path / "good.docx", tmp_path / "bomb.docx"
    document = docx.Document()
    document.add_paragraph("Returns are free.")
    document.save(str(good))
    bomb.write_bytes(good.read_bytes())
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/more.xml", " " * (2 << 20))
    assert read_documents(good)[0].text == "Returns are free."
    with pytest.raises(DataError, match=r"bomb.docx unpacks to 2 MB, more than 1"):
        read_documents(bomb)


def test_a_packed_log_that_grows_out_of_proportion_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_STREAM_BYTES", 1 << 20)
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", json.dumps({"id": 1, "input": "q" * (5 << 20)}))
    with pytest.raises(DataError, match="unpacks to more than 100 times"):
        list(ragstone.read(file))


def test_a_document_line_over_the_limit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    file.write_bytes(b'{"id": "1", "text": "' + b"a" * limits.MAX_ROW_BYTES + b'"}\n')
    for read in (read_documents, open_corpus):
        with pytest.raises(DataError, match=r"documents.jsonl:1: the row is longer than 64 MB"):
            read(file)


HOSTILE = {
    "tag": "<a ", "comment": "<!--", "closed comment": "<!--x>", "section": "<![CDATA[", "section x": "<![x>", "value": '<a href="',
    "end": "</", "instruction": "<?", "item": "<li><p> ", "paragraph": "<p> ", "cell": "<tr><td>a<b>", "sign": "<", "script": "<script>",
}  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_length_of_a_hostile_page_and_not_with_its_square(part: str) -> None:
    def measure(size: int) -> float:
        page = "<li>" + part * (size // len(part))
        start = time.process_time()
        html_to_text(page)
        return time.process_time() - start

    measure(1000)
    # 16 times the length: what is quadratic takes 256 times as long
    assert measure(64_000) < 80 * max(0.001, min(measure(4000), measure(4000)))


def test_what_a_page_leaves_open_is_text() -> None:
    assert html_to_text("<p>a &lt; b, 3 < 5 and <!-- no end")[0] == "a < b, 3 < 5 and <!-- no end"
    assert html_to_text("<!-- hidden --><p>shown<![if x]> too")[0] == "shown too"
