"""The store of runs and replies: a SQLite file by default, PostgreSQL by URL; several processes may share one."""

from ragstone.store.codec import encode_scores
from ragstone.store.plans import RunFacts
from ragstone.store.runs import (
    RunInfo,
    StoredRow,
    StoredRun,
    describe_metric,
    format_plan,
    set_language,
)
from ragstone.store.scales import load_scales, save_scales
from ragstone.store.store import NewRow, Store, default_place

__all__ = [
    "NewRow",
    "RunFacts",
    "RunInfo",
    "Store",
    "StoredRow",
    "StoredRun",
    "default_place",
    "describe_metric",
    "encode_scores",
    "format_plan",
    "load_scales",
    "save_scales",
    "set_language",
]
