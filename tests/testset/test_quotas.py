"""How many of which kind: shares by weight, what is given up goes to the others."""

from __future__ import annotations

from collections import Counter

import pytest

from ragstone.testset.items import KINDS
from ragstone.testset.quotas import (
    JUDGED_WEIGHTS,
    RULE_KINDS,
    Tally,
    UnknownKind,
    resolve_weights,
    split_by_weight,
)


def test_shares_add_up_and_follow_the_weights() -> None:
    assert split_by_weight(10, {"factual": 3, "multi_document": 1}) == {
        "factual": 8,
        "multi_document": 2,
    }
    for count in (1, 7, 100, 333):
        split = split_by_weight(count, JUDGED_WEIGHTS)
        assert sum(split.values()) == count
        total = sum(JUDGED_WEIGHTS.values())
        assert all(
            abs(split[kind] - count * JUDGED_WEIGHTS[kind] / total) < 1 for kind in JUDGED_WEIGHTS
        )


def test_weights_are_typed_or_given() -> None:
    assert resolve_weights("factual=3,multi-document") == {"factual": 3.0, "multi_document": 1.0}
    assert resolve_weights({"unanswerable": 2}) == {"out_of_scope": 1.0, "near_miss": 1.0}
    assert resolve_weights({"factual": 1, "detail": 0}) == {"factual": 1}
    assert set(resolve_weights(None)) <= set(KINDS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("factuel=1", "did you mean 'factual'"),
        ("factual=x", "'x' is not a weight"),
        ({"factual": -1}, "give 0 or more"),
        ({"factual": True}, "give a number"),
        ({"factual": float("nan")}, "give 0 or more"),
        ("", "no kind has a weight"),
    ],
)
def test_a_bad_mix_is_said(given: object, says: str) -> None:
    with pytest.raises(UnknownKind, match=says):
        resolve_weights(given)  # type: ignore[arg-type]


def test_the_kind_that_lags_comes_first() -> None:
    tally = Tally({"factual": 1, "detail": 1}, 8)
    tally.add_step({"factual": 2}, Counter(factual=2), 100)
    assert list(tally.list_wanted()) == ["detail", "factual"]
    assert tally.missing == 6


def test_a_kind_that_no_document_yields_is_given_up_and_the_rest_filled() -> None:
    tally = Tally({"factual": 1, "negation": 1}, 10)
    for _ in range(3):
        tally.add_step({"negation": 1}, Counter(), 3)
    assert tally.given_up == {"negation": 3}
    assert tally.list_wanted() == {"factual": 10}


def test_a_kind_that_came_late_is_not_given_up() -> None:
    tally = Tally({"factual": 1, "negation": 1}, 10)
    for made in (Counter(), Counter(), Counter(negation=1), Counter(), Counter()):
        tally.add_step({"negation": 1}, made, 3)
    assert not tally.given_up


def test_answerable_kinds_are_not_replaced_by_unanswerable_ones() -> None:
    tally = Tally({"factual": 2, "negation": 1, "out_of_scope": 1}, 8)
    tally.give_up("negation", 3)
    assert tally.target == {"factual": 6, "negation": 0, "out_of_scope": 2}
    tally.give_up("factual", 3)
    assert tally.target["out_of_scope"] == 2


def test_questions_without_an_answer_keep_to_their_share_of_what_is_made() -> None:
    tally = Tally({"factual": 4, "out_of_scope": 1}, 100)
    assert set(tally.list_wanted()) == {"factual", "out_of_scope"}
    tally.add_step({"out_of_scope": 1}, Counter(out_of_scope=1), 100)
    assert set(tally.list_wanted()) == {"factual"}
    tally.add_step({"factual": 5}, Counter(factual=5), 100)
    assert set(tally.list_wanted()) == {"factual", "out_of_scope"}
    assert tally.list_all_wanted() == {"factual": 75, "out_of_scope": 19}


def test_without_a_judge_the_mix_holds_only_what_rules_make() -> None:
    assert set(resolve_weights(None, judged=False)) <= RULE_KINDS
    assert resolve_weights({"unanswerable": 2}, judged=False) == {"near_miss": 2.0}
    with pytest.raises(UnknownKind, match="only a judge can write 'paraphrase' questions"):
        resolve_weights("factual=1,paraphrase=1", judged=False)


def test_a_kind_does_not_fill_more_than_its_share_when_others_are_given_up() -> None:
    tally = Tally({"factual": 1, "conceptual": 1, "detail": 1, "how_to": 1}, 100, max_share=0.4)
    tally.give_up("detail", 3)
    tally.give_up("how_to", 3)
    assert tally.target == {"factual": 40, "conceptual": 40, "detail": 0, "how_to": 0}
