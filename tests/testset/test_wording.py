"""A small model words questions that ask for a heading; where it may not, the question of the rules stays."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.asks import Ask, Reply
from ragstone.data.documents import Document
from ragstone.errors import JudgeFailed
from ragstone.testset.offline.page import open_page
from ragstone.testset.sets import TestSet, generate
from ragstone.testset.wording import explain_unfit, find_heading, finish_question

TEXT = "# Rules of the Marlow Library\n\n## Late returns\n\nBooks that come back late cost 20 cents a day. After six weeks the library sends a bill.\n"
LIBRARY = Document("rules.md", TEXT, "Rules of the Marlow Library", "en")
PLAIN = "What does “Rules of the Marlow Library” say under the heading “Late returns”?"
GOOD = "What happens if you return books late?"


class SmallModel:
    """A small model that writes what it is told to, or fails."""

    name, small, local, concurrency, batch = "small", True, True, 1, 1

    def __init__(self, *replies: str | JudgeFailed) -> None:
        self.replies = list(replies)
        self.asks: list[Ask] = []

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {"judge": "small", "call": len(self.asks)}

    async def answer(self, asks: list[Ask]) -> list[Any]:
        self.asks += asks
        reply = self.replies.pop(0) if self.replies else JudgeFailed("refusal", "judge_declined")
        return [reply if isinstance(reply, JudgeFailed) else Reply({"question": reply})]

    async def close(self) -> None:
        """Nothing is open."""


def word(tmp_path: Any, model: SmallModel, documents: list[Document] | None = None) -> TestSet:
    return generate(documents or [LIBRARY], 1, kinds="conceptual", judge=model, store=tmp_path / "s.db")  # fmt: skip


def test_the_question_of_the_model_stands_for_that_of_the_rules(tmp_path: Any) -> None:
    model = SmallModel(GOOD)
    made = word(tmp_path, model)
    assert "1 question in the words of the judge" in str(made)
    (item,) = made.items
    assert item.question == "According to “Rules of the Marlow Library”, what happens if I return books late?"  # fmt: skip
    assert item.reference == TEXT.rpartition("\n\n")[2].strip()
    assert (item.proof["plain"], item.proof["worded_by"], item.how) == (PLAIN, "small", "small")
    (ask,) = model.asks
    assert ask.values == {"heading": "Late returns", "passage": item.reference}


@pytest.mark.parametrize(
    "question",
    [
        "What happens if books are lost?",
        "What does the section say about late returns?",
        "How many cents a day does a late return of books cost after six weeks?",
        "What happens to late returns of paintings?",
        "What happens if it is returned late?",
        "late returns",
        "",
    ],
)
def test_a_question_that_asks_for_something_else_or_a_part_is_not_taken(tmp_path: Any, question: str) -> None:  # fmt: skip
    (item,) = word(tmp_path, SmallModel(question)).items
    assert (item.question, item.how) == (PLAIN, "record:heading")


def test_a_model_that_fails_once_costs_no_item_and_one_that_is_gone_ends_it(tmp_path: Any) -> None:
    made = word(tmp_path, SmallModel(JudgeFailed("refusal", "judge_declined")))
    assert [item.question for item in made.items] == [PLAIN]
    assert not made.stopped
    pages = [Document(f"{n}.md", TEXT.replace("Marlow", name).replace("a bill", f"a bill to {name}"), f"Rules of the {name} Library", "en") for n, name in enumerate(("Arden", "Brock", "Corve", "Dunmore", "Elm"))]  # fmt: skip
    gone = SmallModel(*[JudgeFailed("transport", "connection refused")] * 9)
    made = generate(pages, 5, kinds="conceptual", judge=gone, store=tmp_path / "t.db")
    assert len(made.items) == 5
    assert "cannot be reached" in made.stopped
    assert len(gone.asks) == 3


def test_what_only_a_writer_can_make_goes_to_the_model_as_an_order(tmp_path: Any) -> None:
    model = SmallModel()
    generate([LIBRARY], 1, kinds="false_premise", judge=model, store=tmp_path / "s.db")
    assert {ask.kind for ask in model.asks} == {"write"}


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        (PLAIN, "Late returns"),
        ("¿Qué se indica en el apartado «Plazos» de «Normas de la casa»?", "Plazos"),
    ],
)
def test_the_heading_is_found_in_the_question(question: str, heading: str) -> None:
    assert find_heading(question) == heading


def test_spanish_questions_are_finished_and_looked_at_too(tmp_path: Any) -> None:
    text = "# Normas de la Biblioteca Marlow\n\n## Retrasos\n\nLos libros que se entregan con retraso cuestan veinte céntimos al día en la casa.\n"
    page = open_page(Document("n.md", text, "Normas de la Biblioteca Marlow", "es"), "es")
    assert finish_question("qué pasa con los retrasos?", page) == "¿Qué pasa con los retrasos?"
    made = generate([page.document], 1, kinds="conceptual", judge=SmallModel("¿Qué normas hay para los retrasos?"), store=tmp_path / "s.db")  # fmt: skip
    assert made.items[0].how == "small"
    assert explain_unfit("¿Qué dice el apartado sobre los retrasos?", "Retrasos", made.items[0], page) == "asks about a text"  # fmt: skip
