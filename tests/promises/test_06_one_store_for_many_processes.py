"""Several processes may share one store, on SQLite and on PostgreSQL; no write is lost.

8 processes × 1,000 rows at once (3 in `make test`), and two servers with half of their events in common."""

from __future__ import annotations

from places import (
    place,
    postgres_url,
)
from server.test_mishaps import test_two_servers_on_one_store_keep_everything_once
from store.test_store import test_several_processes_write_to_one_store_and_nothing_is_lost

__all__ = [
    "place",
    "postgres_url",
    "test_several_processes_write_to_one_store_and_nothing_is_lost",
    "test_two_servers_on_one_store_keep_everything_once",
]
