"""Input and output data: reading samples in every known format, writing the input rows with their scores."""

from __future__ import annotations

from ragstone.data.dataset import Dataset, Record, read
from ragstone.data.formats import FORMATS, Format
from ragstone.data.pairs import pair_predictions
from ragstone.data.rows import to_sample
from ragstone.data.writers import WRITERS, add_columns, open_replacement, write_rows, write_shards

__all__ = [
    "FORMATS",
    "WRITERS",
    "Dataset",
    "Format",
    "Record",
    "add_columns",
    "open_replacement",
    "pair_predictions",
    "read",
    "to_sample",
    "write_rows",
    "write_shards",
]
