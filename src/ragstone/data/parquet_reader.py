"""Rows of parquet files, a few at a time: a value that is written once may stand in every row, so that a small file can
unpack to any size."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from ragstone.data.limits import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    ROW_TOO_LONG,
    check_unpacked,
    describe_columns,
)
from ragstone.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch
    from pyarrow.parquet import ColumnChunkMetaData, FileMetaData

BATCH_ROWS = 256
LARGE_CHUNK_BYTES = 1 << 20
"""Size of a column chunk from which its repeated values are not unpacked before their rows are read."""


def read_parquet(source: str, stream: IO[bytes]) -> Iterator[dict[str, Any] | str]:
    """Yield the rows of a seekable stream, or why a row cannot be read."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading parquet", "parquet") from None
    try:
        packed = stream.seek(0, io.SEEK_END)
        facts = pyarrow.parquet.ParquetFile(stream).metadata
        _check_metadata(facts, packed, source)
        _check_dictionaries(stream, facts, packed, source)
        table = pyarrow.parquet.ParquetFile(stream, metadata=facts, read_dictionary=_list_repeated(facts, LARGE_CHUNK_BYTES))  # fmt: skip
        for batch in table.iter_batches(batch_size=_choose_batch(facts)):
            yield from split_batch(batch)
    except pyarrow.ArrowException as bad:
        first = str(bad).splitlines()[0] if str(bad) else type(bad).__name__
        raise DataError(f"{source!r} is not a parquet file that can be read: {first}") from None


def _check_metadata(facts: FileMetaData, packed: int, source: str) -> None:
    """Refuse a table that unpacks to too much by what it says of itself."""
    if facts.num_columns > MAX_COLUMNS:
        raise DataError(f"{source}: {describe_columns(facts.num_columns)}")
    chunks = list(_iter_chunks(facts))
    # values of lists too, and each takes eight bytes even where all are alike
    values = max(facts.num_rows * facts.num_columns, sum(chunk.num_values for chunk in chunks))
    texts = sum(chunk.total_uncompressed_size for chunk in chunks)
    check_unpacked(8 * values + texts, packed, source)


def _check_dictionaries(stream: IO[bytes], facts: FileMetaData, packed: int, source: str) -> None:
    """Refuse texts that are written once and stand in so many rows that they unpack to too much; only their numbers are read."""
    import pyarrow.parquet

    names = _list_repeated(facts, 0)
    if not names:
        return
    table = pyarrow.parquet.ParquetFile(stream, metadata=facts, read_dictionary=names)
    unpacked = 0
    for batch in table.iter_batches(columns=names):
        unpacked += sum(_measure(column) for column in batch.columns)
        check_unpacked(unpacked, packed, source)


def _iter_chunks(facts: FileMetaData) -> Iterator[ColumnChunkMetaData]:
    for group in map(facts.row_group, range(facts.num_row_groups)):
        yield from map(group.column, range(group.num_columns))


def _list_repeated(facts: FileMetaData, over: int) -> list[str]:
    """Columns of texts with a dictionary, and chunks of more bytes than `over`: a value may stand in many rows."""
    return sorted(
        {
            chunk.path_in_schema
            for chunk in _iter_chunks(facts)
            if chunk.total_uncompressed_size > over
            and chunk.has_dictionary_page
            and chunk.physical_type == "BYTE_ARRAY"
        }
    )


def _choose_batch(facts: FileMetaData) -> int:
    """Rows to unpack together: fewer where rows are long."""
    groups = map(facts.row_group, range(facts.num_row_groups))
    longest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return min(BATCH_ROWS, max(1, MAX_ROW_BYTES // max(longest, 1)))


def split_batch(batch: RecordBatch) -> Iterator[dict[str, Any] | str]:
    """The rows of a batch, of which no more than MAX_ROW_BYTES are unpacked at once."""
    if sum(_measure(column) for column in batch.columns) <= MAX_ROW_BYTES:
        yield from batch.to_pylist()
    elif batch.num_rows <= 1:
        yield ROW_TOO_LONG
    else:
        half = batch.num_rows // 2
        yield from split_batch(batch.slice(0, half))
        yield from split_batch(batch.slice(half))


def _measure(array: Array) -> int:
    """The bytes that an array unpacks to."""
    import pyarrow.compute
    from pyarrow import types

    if types.is_dictionary(array.type):
        values = array.dictionary
        if not (types.is_string(values.type) or types.is_binary(values.type)
                or types.is_large_string(values.type) or types.is_large_binary(values.type)):  # fmt: skip
            return 8 * len(array)
        lengths = pyarrow.compute.binary_length(values).take(array.indices)
        return int(pyarrow.compute.sum(lengths).as_py() or 0)
    if types.is_struct(array.type):
        return sum(_measure(part) for part in array.flatten())
    if types.is_list(array.type) or types.is_large_list(array.type):
        return 8 * len(array) + _measure(array.flatten())
    return int(array.nbytes)
