"""Input and output data: reading samples in every known format, writing the input rows with their scores."""

from __future__ import annotations

from ragstone.data.dataset import Dataset as Dataset
from ragstone.data.dataset import Record as Record
from ragstone.data.dataset import read as read
from ragstone.data.formats import FORMATS as FORMATS
from ragstone.data.formats import Format as Format
from ragstone.data.pairs import pair_predictions as pair_predictions
from ragstone.data.parquet_writer import write_shards as write_shards
from ragstone.data.rows import to_sample as to_sample
from ragstone.data.sources import RejectedRow as RejectedRow
from ragstone.data.writers import WRITERS as WRITERS
from ragstone.data.writers import add_columns as add_columns
from ragstone.data.writers import open_replacement as open_replacement
from ragstone.data.writers import to_csv_line as to_csv_line
from ragstone.data.writers import write_rows as write_rows
