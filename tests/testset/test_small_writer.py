"""A small model words the question of a chosen sentence; what is doubtful is refused, most of it without another call."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ragstone import prompts
from ragstone.asks import Ask, Reply
from ragstone.data.documents import Document
from ragstone.errors import JudgeFailed
from ragstone.testset.items import REASONS
from ragstone.testset.offline.page import open_page
from ragstone.testset.sets import TestSet, generate
from ragstone.testset.small_questions import agrees_with_target
from ragstone.testset.small_targets import choose_targets

SENTENCE = "The great bell of the Almere tower was cast in a foundry in 1902."
TOWER = Document("tower", f"It rings at noon every day of the year. {SENTENCE}", "", "en")
GOOD = "In which year was the great bell of the Almere tower cast?"
BRIEF = ["write_one", "check_one", "check_one", "answer_one"]


class SmallModel:
    """A small model that writes, answers and says yes as it is told to."""

    name, small, local, concurrency, batch = "small", True, True, 1, 1

    def __init__(
        self, *questions: str, answer: str = "1902", clear: float = 0.95, right: float = 0.95
    ) -> None:
        self.questions = list(questions)
        self.answer_given = answer
        self.chances = {"clear": clear, "right": right}
        self.asks: list[Ask] = []

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {"judge": "small", "call": len(self.asks)}

    async def answer(self, asks: list[Ask]) -> list[Any]:
        self.asks += asks
        return [self._reply(ask) for ask in asks]

    def _reply(self, ask: Ask) -> Any:
        if ask.kind == "write_one":
            return Reply({"question": self.questions.pop(0) if self.questions else ""})
        if ask.kind == "check_one":
            chance = self.chances[ask.values["check"]]
            return Reply({"yes": chance >= 0.5, "probability": chance})
        if ask.kind == "answer_one":
            return Reply({"answer": self.answer_given})
        return JudgeFailed("refusal", "judge_declined")

    async def close(self) -> None:
        """Nothing is open."""


def write(tmp_path: Any, document: Document, model: SmallModel) -> TestSet:
    return generate([document], 1, kinds="factual", judge=model, store=tmp_path / "s.db", seed=2)


def test_a_question_is_kept_with_the_sentence_that_answers_it(tmp_path: Any) -> None:
    model = SmallModel(GOOD)
    made = write(tmp_path, TOWER, model)
    (item,) = made.items
    assert item.reference == SENTENCE == item.evidence[0].quote
    assert TOWER.text[item.evidence[0].start : item.evidence[0].end] == SENTENCE
    assert item.proof["answered_by"] == "small"
    assert item.proof["answer"] == "1902"
    assert [ask.kind for ask in model.asks[-4:]] == BRIEF


def test_all_calls_about_a_passage_begin_alike(tmp_path: Any) -> None:
    model = SmallModel(*[GOOD] * 9)
    write(tmp_path, TOWER, model)
    assert len({(ask.values["title"], ask.values["passage"]) for ask in model.asks}) == 1
    for language in ("en", "es"):
        names = ("write_one", "answer_one", "choose_right", "choose_clear")
        shared = {tuple(prompts.load(name, language).text.split("\n---\n")[:2]) for name in names}
        assert len(shared) == 1


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("In which year was it cast?", "malformed"),
        ("What is the height of the Almere tower", "malformed"),
        ("Was the great bell of the Almere tower cast long ago?", "malformed"),
        ("What is the name of the person?", "not_self_contained"),
        ("What was cast for the Almere tower in 1902?", "leaked"),
        ("When was the bell of Marlow Library cast?", "malformed"),
        ("", "empty"),
    ],
)
def test_what_is_doubtful_is_refused_without_another_call(
    tmp_path: Any, question: str, reason: str
) -> None:
    model = SmallModel(*[question] * 20)
    made = write(tmp_path, TOWER, model)
    assert not made.items
    assert made.rejected[0].reason == reason
    assert {ask.kind for ask in model.asks} == {"write_one"}


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ({"clear": 0.3}, "not_self_contained"),
        ({"right": 0.3}, "not_answerable_from_evidence"),
        ({"answer": "1931"}, "not_answerable_from_evidence"),
        ({"answer": "not told"}, "not_answerable_from_evidence"),
        ({"answer": ""}, "not_answerable_from_evidence"),
    ],
)
def test_what_the_model_cannot_prove_is_refused(
    tmp_path: Any, faults: dict[str, Any], reason: str
) -> None:
    made = write(tmp_path, TOWER, SmallModel(*[GOOD] * 9, **faults))
    assert not made.items
    assert reason in made.reasons


def test_a_model_that_only_fails_gives_counted_rejections(tmp_path: Any) -> None:
    class DeadModel(SmallModel):
        def _reply(self, ask: Ask) -> Any:
            return JudgeFailed("refusal", "judge_declined")

    made = write(tmp_path, TOWER, DeadModel())
    assert not made.items
    assert set(made.reasons) == {"judge_failed"} <= set(REASONS)


def test_a_model_that_cannot_be_reached_stops_the_generation(tmp_path: Any) -> None:
    class GoneModel(SmallModel):
        def _reply(self, ask: Ask) -> Any:
            return JudgeFailed("transport", "judge_declined")

    model = GoneModel()
    towers = [Document(f"tower {n}", TOWER.text, "", "en") for n in range(5)]
    made = generate(towers, 5, kinds="factual", judge=model, store=tmp_path / "s.db")
    assert "cannot be reached" in made.stopped
    assert len(model.asks) == 3


def test_a_document_without_a_sentence_that_stands_alone_costs_no_call(tmp_path: Any) -> None:
    text = "It rings at noon every day of the year. See the picture below for what that means."
    model = SmallModel("What?")
    made = write(tmp_path, Document("d", text, "", "en"), model)
    assert not made.items
    assert not model.asks
    assert {rejection.reason for rejection in made.rejected} == {"empty"}


def test_kinds_that_one_sentence_cannot_answer_take_the_long_route(tmp_path: Any) -> None:
    model = SmallModel()
    generate([TOWER], 1, kinds="negation", judge=model, store=tmp_path / "s.db")
    assert model.asks[0].kind == "write"


def test_a_question_that_does_not_name_the_program_of_its_manual_is_refused(tmp_path: Any) -> None:
    text = "The sending tab of the settings holds 12 mail servers for outgoing messages."
    manual = Document("d", text, "Sending — KMail 5 documentation", "en")
    made = write(tmp_path, manual, SmallModel("How many mail servers does the Sending tab hold?"))
    assert made.rejected[0].detail == "it does not name KMail"


@pytest.mark.parametrize(
    ("sentence", "language", "answers"),
    [
        ("Visits are possible from 15:00 to 19:00 on weekdays.", "en", {"from 15:00 to 19:00", "weekdays"}),
        ("Planned cuts are announced five days ahead by letter.", "en", set()),
        ("Las parcelas se adjudican por sorteo cada tres años.", "es", set()),
        ("A ride with the bicycle costs 10 cents a minute.", "en", {"10 cents a minute"}),
        ("The balances under 5 euros are not paid out here.", "en", set()),
        ("La entrada individual cuesta 4,50 euros en verano.", "es", {"4,50 euros"}),
    ],
)  # fmt: skip
def test_facts_are_whole_and_bound_nothing_else(
    sentence: str, language: str, answers: set[str]
) -> None:
    page = open_page(Document("d", sentence, "", language), language)
    found = [choose_targets(page, ["factual"], random.Random(n)) for n in range(20)]
    assert {target.answer for targets in found for target in targets} == answers


@pytest.mark.parametrize(
    ("answer", "agrees"), [("1902", True), ("in 1902", True), ("1902 or 1903", False), ("not told", False)]
)  # fmt: skip
def test_an_answer_agrees_by_its_numbers(answer: str, agrees: bool) -> None:
    (target,) = choose_targets(open_page(TOWER, "en"), ["factual"], random.Random(1))
    assert agrees_with_target(answer, GOOD, target) is agrees
