"""Where Runs and replies live: a SQLite file by default, PostgreSQL by URL; several processes may share one."""

from ragstone.store.codec import encode_scores
from ragstone.store.plans import RunFacts
from ragstone.store.runs import RunInfo, StoredRow, StoredRun, describe, with_language
from ragstone.store.store import NewRow, Store, usual_place

__all__ = [
    "NewRow",
    "RunFacts",
    "RunInfo",
    "Store",
    "StoredRow",
    "StoredRun",
    "describe",
    "encode_scores",
    "usual_place",
    "with_language",
]
