"""A cached reply is used only for exactly the question, judge and settings that it answered.

40 mutations of judge, prompt, schema, parameters and values have 40 keys of their own; what cannot change a reply does not change the key."""

from __future__ import annotations

from judges.conftest import serve
from judges.test_identity import (
    test_a_second_run_asks_nothing_and_a_changed_one_asks_again,
    test_an_edited_function_is_asked_anew,
    test_forty_mutations_have_forty_keys_of_their_own,
    test_the_nonce_is_not_part_of_the_key,
    test_what_cannot_change_a_reply_does_not_change_the_key,
)

__all__ = [
    "serve",
    "test_a_second_run_asks_nothing_and_a_changed_one_asks_again",
    "test_an_edited_function_is_asked_anew",
    "test_forty_mutations_have_forty_keys_of_their_own",
    "test_the_nonce_is_not_part_of_the_key",
    "test_what_cannot_change_a_reply_does_not_change_the_key",
]
