"""A small model writes one question about one passage; code finds its evidence, and refuses what is doubtful."""

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
from ragstone.testset.small_writer import PassageOrder, choose_passage

TOWER = Document(
    "tower",
    "The tower of Almere is 40 metres high. Its bell was cast by Ida Brandt in 1902. It rings at noon.\n\nVisitors may climb the stairs of the tower on Sundays, when the keeper opens the door.",
    "",
    "en",
)


class SmallModel:
    """A small model that writes what it is told to; the embedded judge answers all else."""

    name, small, local, concurrency, batch = "small", True, True, 1, 1

    def __init__(self, *replies: tuple[str, str]) -> None:
        self.replies = list(replies)
        self.asks: list[Ask] = []
        self.embedded = OfflineJudge(allow_unmeasured=True)

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {"judge": "small", "call": len(self.asks)}

    async def answer(self, asks: list[Ask]) -> list[Any]:
        self.asks += asks
        return [await self._reply(ask) for ask in asks]

    async def _reply(self, ask: Ask) -> Any:
        if ask.kind != "write_one":
            return (await self.embedded.answer([ask]))[0]
        question, answer = self.replies.pop(0) if self.replies else ("", "")
        return Reply({"question": question, "answer": answer})

    async def close(self) -> None:
        """Nothing is open."""


def write(tmp_path: Any, *replies: tuple[str, str]) -> tuple[TestSet, SmallModel]:
    model = SmallModel(*replies)
    made = generate([TOWER], 1, kinds="factual", judge=model, store=tmp_path / "s.db")
    return made, model


def test_a_question_is_kept_with_the_sentence_that_answers_it(tmp_path: Any) -> None:
    made, model = write(tmp_path, ("Who cast the bell of the tower of Almere?", "Ida Brandt"))
    (item,) = made.items
    assert item.reference == "Ida Brandt"
    assert "cast by Ida Brandt" in item.evidence[0].quote
    assert TOWER.text[item.evidence[0].start : item.evidence[0].end] == item.evidence[0].quote
    assert item.proof["answered_by"] == "small"
    assert [ask.kind for ask in model.asks] == ["write_one", "support"]


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("Who cast it?", "Ida Brandt", "malformed"),
        ("What is the height of the passage's tower of Almere", "40 metres", "malformed"),
        ("What is the name of the person?", "Ida Brandt", "not_self_contained"),
        ("Who painted the tower of Almere?", "Tomas Reyes", "not_answerable_from_evidence"),
        ("", "", "empty"),
    ],
)
def test_what_is_doubtful_is_refused_without_another_call(
    tmp_path: Any, question: str, answer: str, reason: str
) -> None:
    made, model = write(tmp_path, (question, answer))
    assert not made.items
    assert made.rejected[0].reason == reason
    assert {ask.kind for ask in model.asks} == {"write_one"}


def test_kinds_that_one_passage_cannot_answer_take_the_long_route(tmp_path: Any) -> None:
    model = SmallModel()
    generate([TOWER], 1, kinds="negation", judge=model, store=tmp_path / "s.db")
    assert model.asks[0].kind == "write"


def test_short_paragraphs_are_joined_and_long_ones_left_out() -> None:
    short = "One short line.\n\n" * 20
    start, end = choose_passage(Document("d", short), random.Random(1))
    assert 160 <= end - start <= 900
    assert choose_passage(Document("d", "word " * 1000), random.Random(1)) == (0, 0)


def test_a_question_names_the_program_of_its_manual() -> None:
    text = "The sending tab lets you define new mail servers. " * 4
    page = open_page(Document("d", text, "Sending — KMail 5 documentation", "en"), "en")
    order = PassageOrder(page, (0, len(text)), "conceptual", "en")
    reply = Reply({"question": "What does the sending tab define?", "answer": "new mail servers"})  # fmt: skip
    (item,) = order.read_items(reply, "small")
    assert isinstance(item, Item)
    assert item.question == "In KMail, what does the sending tab define?"
