"""Text under test cannot give the judge orders: what it says of itself proves nothing.

300 attacks in two languages against a judge that obeys, on the JSON and the plain route, and clean texts beside them that must not be flagged."""

from __future__ import annotations

from judges.conftest import serve
from judges.test_attacks import (
    test_a_question_cannot_reach_the_claims,
    test_a_source_cannot_win_its_own_case,
    test_clean_texts_are_not_flagged,
    test_clean_texts_are_not_flagged_by_the_plain_question,
    test_material_cannot_close_its_fence,
    test_nothing_is_supported_without_proof,
    test_nothing_is_supported_without_proof_by_the_plain_question,
    test_there_are_300_attacks_in_two_languages,
)

__all__ = [
    "serve",
    "test_a_question_cannot_reach_the_claims",
    "test_a_source_cannot_win_its_own_case",
    "test_clean_texts_are_not_flagged",
    "test_clean_texts_are_not_flagged_by_the_plain_question",
    "test_material_cannot_close_its_fence",
    "test_nothing_is_supported_without_proof",
    "test_nothing_is_supported_without_proof_by_the_plain_question",
    "test_there_are_300_attacks_in_two_languages",
]
