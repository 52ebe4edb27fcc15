"""Proofs refuse what cannot be trusted, each fault by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from bench.testsets import Held

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Evidence, Item, Rejection
from ragstone.testset.proofs import Prover

TEXT = "The Ridge Path is open from May to October. The hut of the Ridge Path has twelve bunks. A bunk costs 14 euros a night."
DOCUMENTS = Held(
    [
        Document("ridge", TEXT, "Cairn Trails: the Ridge Path", "en"),
        Document("valley", "The Valley Path is open all year. The hut of the Valley Path has eight bunks.", "Cairn Trails: the Valley Path", "en"),
        Document("zoo", "The zoo keeps forty penguins and a blind otter called Moss.", "Torvik Zoo", "en"),
    ]
)  # fmt: skip


def quoted(quote: str, document: str = "ridge") -> Evidence:
    start = DOCUMENTS.find(document).text.index(quote)
    return Evidence(document, quote, start, start + len(quote))


def item(**changes: Any) -> Item:
    given = Item(
        "i1", "How many bunks does the hut of the Ridge Path have?", "twelve bunks", {"ridge": 1.0},
        (quoted("The hut of the Ridge Path has twelve bunks."),), "factual", "easy", "en", "test",
    )  # fmt: skip
    return replace(given, **changes)


def checked(*items: Item) -> list[Item | Rejection]:
    with CorpusIndex(DOCUMENTS) as index:
        prover = Prover(index)
        return [prover.check_item(one) for one in items]


def reason(one: Item) -> str:
    (found,) = checked(one)
    return found.reason if isinstance(found, Rejection) else "accepted"


def test_a_good_item_passes_and_carries_its_proof() -> None:
    (found,) = checked(item())
    assert isinstance(found, Item)
    assert found.proof["round_trip"] == "reader"
    assert found.proof["cover"] >= 0.6


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"question": "  "}, "empty"),
        ({"reference": ""}, "empty"),
        ({"kind": "riddle"}, "malformed"),
        ({"evidence": ()}, "malformed"),
        ({"kind": "multi_document"}, "malformed"),
        ({"kind": "follow_up"}, "malformed"),
        ({"evidence": (Evidence("ridge", "The hut has ten bunks.", 0, 22),)}, "quote_not_verbatim"),
        ({"evidence": (Evidence("nowhere", "x", 0, 1),)}, "malformed"),
        ({"question": "Does the hut of the Ridge Path have twelve bunks?"}, "leaked"),
        ({"question": "According to the passage above, how many bunks does the Ridge Path hut have?"}, "not_self_contained"),
        ({"question": "How many bunks does it have on the Ridge Path?"}, "not_self_contained"),
        ({"reference": "ninety bunks"}, "not_answerable_from_evidence"),
        ({"question": "How many penguins does the aquarium keep?"}, "not_answerable_from_evidence"),
        ({"question": "How much does a bunk cost a night?"}, "not_answerable_from_evidence"),
    ],
)  # fmt: skip
def test_a_fault_is_named(changes: dict[str, Any], why: str) -> None:
    assert reason(item(**changes)) == why


def test_the_same_question_does_not_pass_twice() -> None:
    first, second = checked(
        item(), item(id="i2", question="How many bunks has the hut of the Ridge Path?")
    )
    assert isinstance(first, Item)
    assert isinstance(second, Rejection)
    assert second.reason == "duplicate"


def test_a_question_that_two_documents_answer_differently_is_ambiguous() -> None:
    twins = Held(
        [
            Document("a", "The reading room has 140 seats.", "", "en"),
            Document("b", "The reading room has 36 seats.", "", "en"),
        ]
    )
    quote = twins[0].text
    one = Item(
        "i", "How many seats does the reading room have?", "140 seats", {"a": 1.0}, (Evidence("a", quote, 0, len(quote)),),
        "factual", "easy", "en", "test",
    )  # fmt: skip
    with CorpusIndex(twins) as index:
        rejection = Prover(index).check_item(one)
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "ambiguous"


def test_a_document_that_tells_the_same_is_relevant_too() -> None:
    twins = Held(
        [
            Document("a", "The reading room of Marlow has 140 seats.", "", "en"),
            Document(
                "b", "In short: the reading room of Marlow has 140 seats and two lamps.", "", "en"
            ),
        ]
    )
    quote = twins[0].text
    one = Item(
        "i", "How many seats does the reading room of Marlow have?", "140 seats", {"a": 1.0},
        (Evidence("a", quote, 0, len(quote)),), "factual", "easy", "en", "test",
    )  # fmt: skip
    with CorpusIndex(twins) as index:
        rejection = Prover(index).check_item(one)
    assert isinstance(rejection, Item)
    assert rejection.relevant == {"a": 1.0, "b": 1.0}


def unanswerable(question: str, kind: str, **proof: Any) -> Item:
    return Item("u", question, None, {}, (), kind, "medium", "en", "test", proof=proof)


def test_a_question_of_no_document_is_out_of_scope() -> None:
    assert (
        reason(unanswerable("What is the boiling point of mercury?", "out_of_scope")) == "accepted"
    )


def test_what_a_document_tells_is_not_out_of_scope() -> None:
    assert (
        reason(unanswerable("How many penguins does the zoo keep?", "out_of_scope"))
        == "answered_by_corpus"
    )


def test_a_near_miss_must_not_be_told_elsewhere() -> None:
    swapped = {"was": "Ridge Path", "for": "Valley Path"}
    told = unanswerable(
        "How many bunks does the hut of the Valley Path have?", "near_miss", swapped=swapped
    )
    assert reason(told) == "answered_by_corpus"
    swapped = {"was": "Ridge Path", "for": "Torvik Zoo"}
    (found,) = checked(
        unanswerable(
            "How many bunks does the hut of the Torvik Zoo have?", "near_miss", swapped=swapped
        )
    )
    assert isinstance(found, Item)
    assert found.proof["closest"]["cover"] < found.proof["closest"]["bar"]


def test_with_a_judge_the_round_trip_is_left_to_it() -> None:
    with CorpusIndex(DOCUMENTS) as index:
        rejection = Prover(index, round_trip=False).check_item(item(reference="a dozen"))
    assert isinstance(rejection, Item)


def test_what_an_earlier_process_let_through_is_remembered() -> None:
    with CorpusIndex(DOCUMENTS) as index:
        prover = Prover(index)
        prover.remember_item(item())
        rejection = prover.check_item(item(id="i2"))
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "duplicate"


def test_the_index_finds_words_in_any_form_and_nothing_of_a_sign() -> None:
    with CorpusIndex(DOCUMENTS) as index:
        assert [one.id for one in index.find_with_all(["penguin"])] == ["zoo"]
        assert index.find_with_all(["1,240"]) == []
        assert index.find_with_any(['"'], most=2) == []
        assert index.count_documents("bunk") == 2
