"""What the monitor has acknowledged is on the disk.

30 kills -9 under load (2 in `make test`), shutdown under way, overload and a store that goes away, on SQLite and PostgreSQL."""

from __future__ import annotations

from places import (
    place,
    postgres_url,
)
from server.test_durable import (
    test_a_kill_loses_nothing_that_was_acknowledged_and_doubles_nothing,
    test_asked_to_stop_it_answers_what_is_under_way_and_writes_it,
    test_too_much_is_turned_away_and_then_taken_again,
    test_while_the_store_is_away_it_says_so_and_goes_on_when_it_is_back,
)

__all__ = [
    "place",
    "postgres_url",
    "test_a_kill_loses_nothing_that_was_acknowledged_and_doubles_nothing",
    "test_asked_to_stop_it_answers_what_is_under_way_and_writes_it",
    "test_too_much_is_turned_away_and_then_taken_again",
    "test_while_the_store_is_away_it_says_so_and_goes_on_when_it_is_back",
]
