"""Where Runs and replies live: one SQLite file that several processes may share."""

from ragstone.store.runs import RunInfo, StoredRow, StoredRun, describe, with_language
from ragstone.store.sqlite import NewRow, Store, default_path

__all__ = [
    "NewRow",
    "RunInfo",
    "Store",
    "StoredRow",
    "StoredRun",
    "default_path",
    "describe",
    "with_language",
]
