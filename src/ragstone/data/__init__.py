"""Samples in and rows out: every format that is read, and the input rows with scores beside them."""

from __future__ import annotations

from ragstone.data.formats import FORMATS, Format
from ragstone.data.pairs import pair_predictions
from ragstone.data.dataset import Dataset, Record, read
from ragstone.data.rows import to_sample
from ragstone.data.writers import WRITERS, open_replacement, add_columns, write_rows, write_shards

__all__ = [
    "FORMATS",
    "WRITERS",
    "Format",
    "Dataset",
    "Record",
    "pair_predictions",
    "read",
    "open_replacement",
    "to_sample",
    "add_columns",
    "write_rows",
    "write_shards",
]
