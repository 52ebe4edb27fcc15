"""Samples in and rows out: every format that is read, and the input rows with scores beside them."""

from __future__ import annotations

from ragstone.data.formats import FORMATS, Format
from ragstone.data.pair import pair
from ragstone.data.read import Reading, Record, read
from ragstone.data.rows import sample_of
from ragstone.data.write import WRITERS, replacing, with_columns, write_rows, write_shards

__all__ = [
    "FORMATS",
    "WRITERS",
    "Format",
    "Reading",
    "Record",
    "pair",
    "read",
    "replacing",
    "sample_of",
    "with_columns",
    "write_rows",
    "write_shards",
]
