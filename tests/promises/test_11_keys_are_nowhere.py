"""A key is sent to its own host and written nowhere.

Keys from config, environment, URL and login are searched for byte by byte in store, exports, reports, logs, errors and terminal after a run."""

from __future__ import annotations

from judges.conftest import serve
from judges.test_secrets import (
    test_a_key_from_the_environment_goes_to_its_own_host_only,
    test_no_byte_of_a_key_is_written_anywhere,
    test_things_that_look_like_keys_are_struck_out_too,
    test_what_is_secret_in_a_url_is_kept_apart,
)
from store.test_store import test_a_run_whose_plan_names_a_secret_is_exported_without_it

__all__ = [
    "serve",
    "test_a_key_from_the_environment_goes_to_its_own_host_only",
    "test_a_run_whose_plan_names_a_secret_is_exported_without_it",
    "test_no_byte_of_a_key_is_written_anywhere",
    "test_things_that_look_like_keys_are_struck_out_too",
    "test_what_is_secret_in_a_url_is_kept_apart",
]
