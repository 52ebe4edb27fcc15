"""A small model writes the question of one sentence; what is doubtful is refused without another call."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ragstone.asks import Ask, Reply
from ragstone.data.documents import Document
from ragstone.judges.offline import OfflineJudge
from ragstone.testset.items import Item
from ragstone.testset.offline.page import open_page
from ragstone.testset.sets import TestSet, generate
from ragstone.testset.small_writer import SentenceOrder, choose_sentence

SENTENCE = "The great bell of the Almere tower was cast by Ida Brandt in 1902."
TOWER = Document("tower", f"It rings at noon every day of the year. {SENTENCE}", "", "en")


class SmallModel:
    """A small model that writes what it is told to; the embedded judge answers all else."""

    name, small, local, concurrency, batch = "small", True, True, 1, 1

    def __init__(self, *questions: str) -> None:
        self.questions = list(questions)
        self.asks: list[Ask] = []
        self.embedded = OfflineJudge(allow_unmeasured=True)

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {"judge": "small", "call": len(self.asks)}

    async def answer(self, asks: list[Ask]) -> list[Any]:
        self.asks += asks
        return [await self._reply(ask) for ask in asks]

    async def _reply(self, ask: Ask) -> Any:
        if ask.kind == "write_one":
            return Reply({"question": self.questions.pop(0) if self.questions else ""})
        return (await self.embedded.answer([ask]))[0]

    async def close(self) -> None:
        """Nothing is open."""


def write(tmp_path: Any, document: Document, question: str) -> tuple[TestSet, SmallModel]:
    model = SmallModel(question)
    made = generate([document], 1, kinds="factual", judge=model, store=tmp_path / "s.db")
    return made, model


def test_a_question_is_kept_with_the_sentence_that_answers_it(tmp_path: Any) -> None:
    made, model = write(tmp_path, TOWER, "Who cast the great bell of the Almere tower?")
    (item,) = made.items
    assert item.reference == SENTENCE == item.evidence[0].quote
    assert TOWER.text[item.evidence[0].start : item.evidence[0].end] == SENTENCE
    assert item.proof["answered_by"] == "small"
    assert [ask.kind for ask in model.asks] == ["write_one", "useful"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Who cast it?", "malformed"),
        ("What is the height of the Almere tower", "malformed"),
        ("What is the name of the person?", "not_self_contained"),
        ("Was the great bell of the Almere tower cast by Ida Brandt in 1902?", "leaked"),
        ("Which painter did the walls of the Almere castle?", "not_answerable_from_evidence"),
        ("Who cast the bell of Marlow Library?", "malformed"),
        ("", "empty"),
    ],
)
def test_what_is_doubtful_is_refused_without_another_call(
    tmp_path: Any, question: str, reason: str
) -> None:
    made, model = write(tmp_path, TOWER, question)
    assert not made.items
    assert made.rejected[0].reason == reason
    assert {ask.kind for ask in model.asks} == {"write_one"}


def test_a_document_without_a_sentence_that_stands_alone_costs_no_call(tmp_path: Any) -> None:
    text = "It rings at noon every day of the year. See the picture below for what that means."
    made, model = write(tmp_path, Document("d", text, "", "en"), "What?")
    assert not made.items
    assert not model.asks
    assert {rejection.reason for rejection in made.rejected} == {"empty"}


def test_kinds_that_one_sentence_cannot_answer_take_the_long_route(tmp_path: Any) -> None:
    model = SmallModel()
    generate([TOWER], 1, kinds="negation", judge=model, store=tmp_path / "s.db")
    assert model.asks[0].kind == "write"


def test_a_sentence_with_a_pointer_is_not_chosen() -> None:
    page = open_page(TOWER, "en")
    chosen = {choose_sentence(page, random.Random(seed)) for seed in range(9)}
    assert {TOWER.text[slice(*span)] for span in chosen if span} == {SENTENCE}


def test_a_question_names_the_program_of_its_manual() -> None:
    text = "The sending tab defines the mail servers for all of the outgoing messages."
    page = open_page(Document("d", text, "Sending — KMail 5 documentation", "en"), "en")
    order = SentenceOrder(page, (0, len(text)), "conceptual")
    (item,) = order.read_items(Reply({"question": "What does the sending tab define?"}), "small")
    assert isinstance(item, Item)
    assert item.question == "In KMail, what does the sending tab define?"
