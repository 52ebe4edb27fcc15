"""A quote counts only where it stands in the source, word for word; code checks it, not the judge.

Quotes copied with other case, spaces, quotation marks and Unicode forms are found; parts of words, paraphrases and made-up quotes are not; time grows with the length of the text."""

from __future__ import annotations

from text.test_evidence import (
    test_a_later_whole_word_is_found_after_a_part_of_a_word,
    test_a_part_between_spaces_is_always_found_or_has_no_word,
    test_a_quote_is_found_where_it_stands,
    test_a_quote_that_does_not_stand_there_is_refused,
    test_time_grows_with_the_length_of_a_repetitive_text_and_not_with_its_square,
)

__all__ = [
    "test_a_later_whole_word_is_found_after_a_part_of_a_word",
    "test_a_part_between_spaces_is_always_found_or_has_no_word",
    "test_a_quote_is_found_where_it_stands",
    "test_a_quote_that_does_not_stand_there_is_refused",
    "test_time_grows_with_the_length_of_a_repetitive_text_and_not_with_its_square",
]
