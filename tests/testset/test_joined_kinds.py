"""Kinds that join documents or ask for a sort of answer: how the second document is found, and what proves the item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragstone.asks import Order, Reply
from ragstone.data.documents import Document
from ragstone.testset.entities import find_shared_name, list_names
from ragstone.testset.items import Evidence, Item, Rejection, make_item_id
from ragstone.testset.judge_writer import DocumentPart, JudgeWriter, WriteOrder

TOWER = "The bell of the tower was cast by Ida Brandt in 1902, and it weighs 400 kg."
BRANDT = "Her workshop in Corran was sold when Ida Brandt moved to Torvik in 1911."


def search_passages(text: str, count: int, but: frozenset[str]) -> Sequence[tuple[str, str]]:
    """The passages that hold the text, as the search would find them."""
    return [("brandt", BRANDT)] if text in BRANDT and "brandt" not in but else []


def test_a_second_document_is_found_by_a_name_that_both_write() -> None:
    assert list_names(TOWER)[0] == "Ida Brandt"
    assert find_shared_name(TOWER, "tower", search_passages) == ("Ida Brandt", "brandt", BRANDT)
    assert find_shared_name("The mill grinds barley all day.", "mill", search_passages) is None


def build_row(**changes: Any) -> dict[str, Any]:
    row = {
        "id": "q1", "question": "Where did the caster of the tower's bell move?", "answer": "To Torvik.", "difficulty": "hard",
        "evidence": [{"source": "k1", "quote": "cast by Ida Brandt"}, {"source": "k2", "quote": "moved to Torvik"}],
    }  # fmt: skip
    return {**row, **changes}


def read_item(kind: str, **changes: Any) -> Item | Rejection:
    shown = (DocumentPart("tower", TOWER, 0), DocumentPart("brandt", BRANDT, 0))
    order = WriteOrder(shown, (Order(kind),), "en")
    (item,) = order.read_items(Reply({"items": [build_row(**changes)]}), "openai:m")
    return item


ONE = [{"source": "k1", "quote": "it weighs 400 kg"}]


@pytest.mark.parametrize(
    ("kind", "changes", "fault"),
    [
        ("bridge", {}, ""),
        ("bridge", {"evidence": ONE}, "one document only"),
        ("conflict", {"evidence": ONE}, "one document only"),
        ("numeric", {"question": "How heavy is the bell?", "answer": "400 kg", "evidence": ONE}, ""),
        ("numeric", {"question": "How heavy is the bell?", "answer": "heavy", "evidence": ONE}, "no amount"),
        ("temporal", {"question": "Who moved in 1911?", "answer": "Ida Brandt"}, ""),
        ("temporal", {"question": "Who moved?", "answer": "Ida Brandt"}, "names a time"),
        ("cross_language", {"question": "¿Cuánto pesa la campana de la torre?", "answer": "400 kg", "evidence": ONE}, ""),
        ("cross_language", {"question": "How heavy is the bell of the tower?", "answer": "400 kg", "evidence": ONE}, "language of its source"),
    ],
)  # fmt: skip
def test_what_was_written_must_be_of_the_kind_that_was_ordered(
    kind: str, changes: dict[str, Any], fault: str
) -> None:
    item = read_item(kind, **changes)
    if fault:
        assert isinstance(item, Rejection)
        assert fault in item.detail
    else:
        assert isinstance(item, Item)
        assert item.language == ("es" if kind == "cross_language" else "en")


def told(answer: str, quote: str = "") -> dict[str, Any]:
    return {"told": bool(answer), "answer": answer, "quote": quote}


def decide(kind: str, *rows: dict[str, Any]) -> Item | Rejection:
    pieces = (Evidence("tower", TOWER, 0, len(TOWER)), Evidence("brandt", BRANDT, 0, len(BRANDT)))
    item = Item(
        make_item_id("q", pieces), "Where did the caster of the bell move?", "Torvik", {"tower": 1.0, "brandt": 1.0},
        pieces, kind, "hard", "en", "openai:m",
    )  # fmt: skip
    documents = {"tower": Document("tower", TOWER), "brandt": Document("brandt", BRANDT)}
    writer = JudgeWriter(None, "openai:m", None, None, search_passages, documents.__getitem__)  # type: ignore[arg-type]
    return writer._decide_item(item, iter(rows), [])


def test_a_bridge_is_refused_when_one_document_alone_answers_it() -> None:
    whole, none = told("Torvik"), told("")
    assert isinstance(decide("bridge", whole, none, none, none), Item)
    refused = decide("bridge", whole, none, none, told("Torvik"))
    assert isinstance(refused, Rejection)
    assert "one document alone" in refused.detail


def test_a_conflict_needs_two_documents_that_answer_differently() -> None:
    whole, none = told("Torvik"), told("")
    assert isinstance(decide("conflict", whole, none, told("Torvik"), told("Corran")), Item)
    for alone in ((told("Torvik"), told("Torvik")), (told("Torvik"), none)):
        assert isinstance(decide("conflict", whole, none, *alone), Rejection)
