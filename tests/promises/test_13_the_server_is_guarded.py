"""The monitor's server answers only those it is meant for, and stays open when somebody tries to shut it.

Foreign host names, origins and cookies, missing and wrong tokens, paths that lead to files; 200 half-open connections at 120 files, connections that wait in every way, slow, dropped and malformed uploads."""

from __future__ import annotations

from server.test_connections import (
    test_200_half_open_connections_do_not_shut_a_server_that_may_open_120_files,
    test_at_the_limit_the_longest_resting_connections_give_way,
    test_connections_that_make_the_server_wait_do_not_shut_it,
    test_headers_that_do_not_come_in_time_end_the_connection,
    test_uploads_that_are_dropped_are_counted_and_leave_no_traceback,
)
from server.test_guard import (
    closed,
    server,
    test_a_foreign_name_pointed_at_us_is_refused_and_counted,
    test_an_address_that_others_reach_needs_a_token,
    test_every_reply_carries_the_headers,
    test_no_path_leads_to_a_file,
    test_pages_of_other_sites_may_neither_read_nor_write,
    test_the_token_must_be_the_token,
    test_what_a_browser_calls_cross_site_is_refused,
    test_without_the_token_nothing_but_the_health_is_told,
)

__all__ = [
    "closed",
    "server",
    "test_200_half_open_connections_do_not_shut_a_server_that_may_open_120_files",
    "test_a_foreign_name_pointed_at_us_is_refused_and_counted",
    "test_an_address_that_others_reach_needs_a_token",
    "test_at_the_limit_the_longest_resting_connections_give_way",
    "test_connections_that_make_the_server_wait_do_not_shut_it",
    "test_every_reply_carries_the_headers",
    "test_headers_that_do_not_come_in_time_end_the_connection",
    "test_no_path_leads_to_a_file",
    "test_pages_of_other_sites_may_neither_read_nor_write",
    "test_the_token_must_be_the_token",
    "test_uploads_that_are_dropped_are_counted_and_leave_no_traceback",
    "test_what_a_browser_calls_cross_site_is_refused",
    "test_without_the_token_nothing_but_the_health_is_told",
]
