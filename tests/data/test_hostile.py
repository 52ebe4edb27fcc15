"""Input that is broken or meant to break: a typed error or a defined result, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.data import FORMATS, read, to_sample
from ragstone.errors import BadRows, DataError, RagstoneError, UnknownFormat

GOOD = b'{"question": "a?", "answer": "b"}\n'
Make = Callable[[bytes], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(data: bytes, name: str = "data.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def complaint(path: Path) -> str:
    """The one complaint about the second line of a file."""
    with pytest.raises(BadRows) as refused:
        read(path).check()
    (only,) = refused.value.rows
    place, _, why = only.partition(": ")
    assert place.endswith(f"{path.name}:2")
    return why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"question": NaN}', "NaN is not JSON; write null"),
        (b'{"question": "a", "x": -Infinity}', "-Infinity is not JSON"),
        (b'{"question": "a", "x": 1e999}', "the number 1e999 is too large"),
        (b'{"question": "a", "x": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b'{"question": "a", "question": "b"}', "the key 'question' stands twice"),
        (b'{"question": "a", "meta": {"k": 1, "k": 2}}', "the key 'k' stands twice"),
        (b'{"question": "a', "not JSON at column"),
        (b'{"question": "a"} {"question": "b"}', "text after the object"),
        (b'{"question": "a\x00b"}', "not JSON at column"),
        (b'{"question": "ma\xf1ana"}', "not UTF-8 at byte 17 (0xf1); re-encode the file: iconv"),
        (b'["question"]', "the row is not an object"),
        (b"17", "the row is not an object"),
        (b'{"question": null}', "has none of the columns question, answer, contexts"),
        (b'{"question": "a", "x": ' + b"[" * 300 + b"]" * 300 + b"}", "nested more than 100"),
        (b"[" * 100_000, "nested more than 100"),
        (b'{"question": ["a"]}', '"question" is a list; give a text'),
        (b'{"question": true}', '"question" is true; give a text'),
        (
            b'{"question": "a", "contexts": "b"}',
            '"contexts" is a string; give a list of texts or of {"id", "text"}',
        ),
        (b'{"question": "a", "contexts": [1]}', '"contexts"[0] is the number 1; give a list'),
        (b'{"question": "a", "contexts": [{}]}', '"contexts"[0] has neither a text nor an id'),
        (b'{"question": "a", "contexts": [{"text": 5}]}', 'the text of "contexts"[0] is the'),
        (
            b'{"question": "a", "contexts": ["b"], "context_ids": ["1", "2"]}',
            '"contexts" has 1 items and "context_ids" has 2; give one id for each text',
        ),
        (b'{"question": "a", "context_ids": [""]}', "has an empty id at [0]"),
        (b'{"question": "a", "relevant": "d1"}', '"relevant" is a string; give a list of ids'),
        (b'{"question": "a", "relevant": {"d": "x"}}', "the grade of 'd'"),
        (
            b'{"question": "a", "relevant": {"d": 1' + b"0" * 400 + b"}}",
            "the grade of 'd' in \"relevant\" is the number 1",
        ),
        (b'{"question": "a", "relevant": [null]}', "has no id at [0]"),
        (b'{"question": "a", "relevant": [1.5]}', '"relevant[0]" is the number 1.5'),
        (b'{"id": true, "question": "a"}', '"id" is true; give a text or a whole number'),
        (b'{"id": {}, "question": "a"}', '"id" is an object'),
    ],
)
def test_a_bad_row_has_its_line_the_fault_and_the_remedy(make: Make, line: bytes, why: str) -> None:
    path = make(GOOD + line + b"\n" + GOOD)
    assert complaint(path).startswith(why) or why in complaint(path)
    reading = read(path, skip_bad_rows=True)
    assert [record.sample.id for record in reading] == ["1", "2"]
    assert (reading.bad_count, len(reading.bad)) == (1, 1)


def test_twenty_bad_rows_are_listed_and_more_are_announced(make: Make) -> None:
    path = make(GOOD + b'{"question": 1 1}\n' * 25)
    with pytest.raises(BadRows) as refused:
        read(path).check()
    assert len(refused.value.rows) == 20
    assert refused.value.more
    reading = read(path, skip_bad_rows=True)
    assert reading.check() == 1
    assert (reading.bad_count, len(reading.bad)) == (25, 20)


def test_good_rows_come_before_the_complaint(make: Make) -> None:
    rows = iter(read(make(GOOD + b"{]\n" + GOOD)))
    assert next(rows).sample.question == "a?"
    with pytest.raises(BadRows):
        next(rows)


def test_duplicate_ids_are_bad_rows_whatever_their_type(make: Make) -> None:
    path = make(b'{"id": 7, "question": "a"}\n{"id": "7", "question": "b"}\n')
    assert complaint(path).startswith("the id '7' was given to an earlier row")


def test_an_id_may_not_repeat_the_number_of_a_row_without_one(make: Make) -> None:
    path = make(b'{"question": "a"}\n{"id": "1", "question": "b"}\n')
    assert "the id '1'" in complaint(path)
    path = make(b'{"id": "2", "question": "a"}\n{"question": "b"}\n')
    assert "the id '2'" in complaint(path)


def test_rows_without_id_are_numbered_among_the_good_ones(make: Make) -> None:
    reading = read(make(GOOD + b"oops\n" + GOOD), skip_bad_rows=True)
    for position, record in enumerate(reading, 1):
        assert record.sample.id == str(position)
        assert to_sample(record.row, reading.shape, position) == record.sample


def test_a_byte_order_mark_and_blank_lines_are_no_rows(make: Make) -> None:
    assert read(make(b"\xef\xbb\xbf" + GOOD + b"\n  \r\n\r\n" + GOOD)).check() == 2


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_named_or_refused(make: Make, codec: str) -> None:
    with pytest.raises(DataError) as refused:
        read(make(GOOD.decode().encode(codec)))
    if codec == "utf-16":
        assert "is UTF-16; re-encode it: iconv" in str(refused.value)


def test_u2028_does_not_end_a_line(make: Make) -> None:
    text = "a\u2028b\u0085c\x1cd"
    (record,) = read(make(json.dumps({"question": text}, ensure_ascii=False).encode()))
    assert record.sample.question == text


def test_ten_megabytes_in_a_line(make: Make) -> None:
    (record,) = read(make(b'{"question": "' + b"x" * 10_000_000 + b'"}'))
    assert len(record.sample.question or "") == 10_000_000


@pytest.mark.parametrize("escape", ["\\ud800", "\\uDFFF", "\\u0000"])
def test_what_cannot_be_stored_becomes_u_fffd(make: Make, escape: str) -> None:
    line = f'{{"id": "i{escape}", "question": "a{escape}b", "x{escape}": "{escape}", "relevant": ["{escape}"]}}'
    reading = read(make(line.encode()))
    (record,) = reading
    assert record.row == line
    assert record.sample.question == "a\ufffdb"
    assert record.sample.id == "i\ufffd"
    assert record.sample.meta == {"x\ufffd": "\ufffd"}
    repr(record.sample).encode()
    assert to_sample(record.row, reading.shape, 1) == record.sample
    database = sqlite3.connect(":memory:")
    assert database.execute("select ?, length(?)", (record.row, record.sample.id)).fetchone() == (
        line,
        2,
    )
    database.close()


def test_whole_surrogate_pairs_are_one_character(make: Make) -> None:
    (record,) = read(make(b'{"question": "\\ud83d\\ude00"}'))
    assert record.sample.question == "\U0001f600"


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "data.jsonl", "is empty"),
        (b" \n\n", "data.jsonl", "is empty"),
        (b"[]", "data.json", "has no rows"),
        (b"question,answer\n", "data.csv", "has no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "picture", "is binary"),
        (b"\x1f\x8b\x08\x00broken", "data.jsonl.gz", "is a damaged gzip file"),
        (b"PAR1 but not really", "data.parquet", "is not a parquet file"),
        (b'[{"question": "a?"},', "data.json", "not JSON at column"),
        (b'[{"question": "a?"} {"question": "b"}]', "data.json", "expected ','"),
        (b"[" * 100_000, "data.json", "nested too deeply"),
        (b'[{"question": "\xf1"}]', "data.json", "data.json:1: not UTF-8 at byte 16"),
        (b"question,question\na,b\n", "data.csv", "the column 'question' stands twice"),
        (b"pregunta\xf1\na\n", "data.csv", "not UTF-8"),
    ],
)
def test_files_without_rows_are_one_sentence(
    tmp_path: Path, data: bytes, name: str, why: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=r".") as refused:
        read(path).check()
    assert why in str(refused.value)


def test_a_missing_file_suggests_its_neighbour(make: Make, tmp_path: Path) -> None:
    make(GOOD)
    with pytest.raises(DataError, match=r"no file '.*dta.jsonl'; did you mean 'data.jsonl'\?"):
        read(tmp_path / "dta.jsonl")
    with pytest.raises(DataError, match="no file"):
        read("nowhere/at/all.jsonl")
    with pytest.raises(DataError, match="is not the name of a file"):
        read("a\x00b")
    with pytest.raises(DataError, match="cannot read"):
        read("x" * 5000)


def test_a_folder_without_queries_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"is a folder without queries.jsonl"):
        read(tmp_path)


def test_no_permission_is_one_sentence(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(GOOD)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything: let the system's answer be simulated

        def refuse(*_: Any, **__: Any) -> Any:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="no permission to read"):
        read(path)


def test_bad_cells_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(
        b"question,answer,contexts\n"
        b"a?,b,\"['one' 'two']\"\n"
        b"a?,b,one\n"
        b"a?,b,[nope\n"
        b"a?,b\n"
        b"a?,\xf1,[]\n"
        b'a?,b,"[\'one\', ""it\'s two""]"\n'
    )
    reading = read(path, skip_bad_rows=True)
    (record,) = reading
    assert record.sample.contexts is not None
    assert record.sample.contexts.texts == ["one", "it's two"]
    assert [row.split(":", 1)[1].split(":")[0] for row in reading.bad] == list("23456")
    assert "no commas between its items" in reading.bad[0]
    assert '"contexts" is a string' in reading.bad[1]
    assert "2 cells under 3 columns" in reading.bad[3]
    assert "not UTF-8 at byte 4" in reading.bad[4]


def test_objects_that_are_no_samples() -> None:
    with pytest.raises(BadRows, match="a int was given; give a Sample or a dict"):
        read([1])
    with pytest.raises(DataError, match="one dict was given; give a list"):
        read({"question": "a?"})
    with pytest.raises(DataError, match="cannot be read"):
        read(17)
    with pytest.raises(BadRows, match="a object stands in it"):
        read([{"question": "a?", "x": object()}])
    with pytest.raises(BadRows, match="infinite"):
        read([{"question": "a?", "x": float("inf")}])


def test_a_self_containing_dict_is_a_bad_row() -> None:
    row: dict[str, Any] = {"question": "a?"}
    row["self"] = row
    with pytest.raises(BadRows, match="nested too deeply"):
        read([row])


def survives(path: Path) -> None:
    """Reading ends in samples that can be stored and mapped again, or in one of our errors."""
    for skip in (False, True):
        try:
            reading = read(path, skip_bad_rows=skip)
            for position, record in enumerate(reading, 1):
                record.row.encode()
                repr(record.sample).encode()
                assert "\x00" not in record.sample.id
                assert to_sample(record.row, reading.shape, position) == record.sample
        except RagstoneError as refused:
            str(refused).encode()


FUZZ = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NAMES = st.sampled_from(
    ["data.jsonl", "data.json", "data.csv", "data", "data.parquet", "data.tsv", "data.jsonl.gz"]
)


@FUZZ
@given(data=st.binary(max_size=300), name=NAMES)
def test_any_bytes(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    survives(path)


@FUZZ
@given(
    name=st.sampled_from(sorted((Path(__file__).parent / "files").glob("*.*"))),
    at=st.floats(0, 1),
    cut=st.integers(0, 5),
    put=st.one_of(
        st.binary(max_size=4),
        st.sampled_from(
            [b"\\ud800", b"\\u0000", b"NaN", b"1e999", b"null", b"[", b"{", b'"', b"\n", b"\xff"]
        ),
    ),
    packed=st.booleans(),
)
def test_real_files_with_a_piece_changed(
    tmp_path: Path, name: Path, at: float, cut: int, put: bytes, packed: bool
) -> None:
    data = name.read_bytes()
    place = int(at * len(data))
    data = data[:place] + put + data[place + cut :]
    path = tmp_path / name.name
    path.write_bytes(gzip.compress(data) if packed else data)
    survives(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
COLUMNS = st.sampled_from(
    sorted({column for known in FORMATS.values() for column in known.columns} | {"latency"})
)


@FUZZ
@given(
    rows=st.lists(st.dictionaries(COLUMNS, JSON, max_size=6), max_size=3), in_memory=st.booleans()
)
def test_any_values_in_known_columns(
    tmp_path: Path, rows: list[dict[str, Any]], in_memory: bool
) -> None:
    if in_memory:
        try:
            reading = read(rows, skip_bad_rows=True)
            for position, record in enumerate(reading, 1):
                repr(record.sample).encode()
                assert to_sample(record.row, reading.shape, position) == record.sample
        except RagstoneError as refused:
            str(refused).encode()
        return
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    survives(path)


@FUZZ
@given(cells=st.lists(st.text(max_size=12), min_size=4, max_size=4))
def test_any_cells(tmp_path: Path, cells: list[str]) -> None:
    import csv

    path = tmp_path / "data.csv"
    text = io.StringIO()
    csv.writer(text).writerows([["question", "answer", "contexts", "relevant"], cells])
    path.write_bytes(text.getvalue().encode(errors="surrogatepass"))
    survives(path)


def test_unknown_format_is_a_data_error() -> None:
    assert issubclass(UnknownFormat, DataError)
