"""A small model words the question of a chosen sentence; what is doubtful is refused, most of it without another call."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone import prompts
from ragstone.asks import Ask, Reply
from ragstone.data.documents import Document
from ragstone.errors import JudgeFailed
from ragstone.testset.items import REASONS
from ragstone.testset.offline.page import open_page
from ragstone.testset.sets import TestSet, generate
from ragstone.testset.small_questions import (
    agrees_with_target,
    find_question_fault,
    finish_question,
    name_home,
)
from ragstone.testset.small_targets import Target, list_targets

SENTENCE = "The great bell of the Almere tower was cast in a foundry in 1902."
TOWER = Document("tower", f"It rings at noon every day of the year. {SENTENCE}", "", "en")
GOOD = "In which year was the great bell of the Almere tower cast?"
BRIEF = ["write_one", "answer_one", "check_one"]


class SmallModel:
    """A small model that writes, answers and says yes as it is told to."""

    name, small, local, concurrency, batch = "small", True, True, 1, 1

    def __init__(self, *questions: str, answer: str = "1902", right: float = 0.95) -> None:
        self.questions = list(questions)
        self.answer_given = answer
        self.right = right
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
            return Reply({"yes": self.right >= 0.5, "probability": self.right})
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
    assert [ask.kind for ask in model.asks[-3:]] == BRIEF


def test_all_calls_about_a_passage_begin_alike(tmp_path: Any) -> None:
    model = SmallModel(*[GOOD] * 9)
    write(tmp_path, TOWER, model)
    assert len({(ask.values["title"], ask.values["passage"]) for ask in model.asks}) == 1
    for language in ("en", "es"):
        names = ("write_one", "answer_one", "choose_right")
        shared = {tuple(prompts.load(name, language).text.split("\n---\n")[:2]) for name in names}
        assert len(shared) == 1


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("In which year was it cast?", "malformed"),
        ("What is the height of the Almere tower", "malformed"),
        ("Was the great bell of the Almere tower cast long ago?", "malformed"),
        ("What is the height of the bell?", "not_self_contained"),
        ("When was the great bell cast in the Almere tower: the bell?", "malformed"),
        (
            "When was the great bell of the Almere tower that rings at noon every day of the year cast in a foundry?",
            "malformed",
        ),
        ("When was the great bell of the Almere tower cast in a foundry in 1902?", "leaked"),
        (
            "When was the great bell of the Almere tower painted by local children?",
            "not_answerable_from_evidence",
        ),
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


def open_target(text: str, title: str = "", language: str = "en") -> Target:
    page = open_page(Document("d", text, title, language), language)
    (target,) = [target for group in list_targets(page) for target in group]
    return target


@pytest.mark.parametrize(
    ("title", "line", "question"),
    [
        ("Sending — KMail 5 documentation", "How many mail servers does the Sending tab hold?", "In KMail, how many mail servers does the Sending tab hold?"),
        ("Sending — KMail 5 documentation", "How many mail servers does KMail hold?", "How many mail servers does KMail hold?"),
        ("Quillo: outgoing messages", "How many servers does Quillo have?", "How many servers does Quillo have?"),
        ("Outgoing messages", "How many servers can you store?", "According to “Outgoing messages”, how many servers can I store?"),
        ("Outgoing messages", "How many servers for outgoing messages are there?", "How many servers for outgoing messages are there?"),
    ],
)  # fmt: skip
def test_a_question_gets_the_name_of_its_home_where_it_lacks_it(
    title: str, line: str, question: str
) -> None:
    target = open_target("The sending tab of the settings of KMail holds 12 mail servers for outgoing messages.", title)  # fmt: skip
    assert name_home(target.passage.page, finish_question(line, target)) == question


@pytest.mark.parametrize(
    ("sentence", "language", "line", "question"),
    [
        ("Food is banned in the great hall because it attracts mice.", "en", "Why is food banned in the great hall because it attracts mice?", "Why is food banned in the great hall?"),
        ("Si el valor se ajusta a cero, se usa el valor predeterminado.", "es", "Qué pasa si el valor se ajusta a cero, se usa el valor predeterminado?", "¿Qué pasa si el valor se ajusta a cero?"),
    ],
)  # fmt: skip
def test_an_answer_behind_its_question_is_cut_off(
    sentence: str, language: str, line: str, question: str
) -> None:
    assert finish_question(line, open_target(sentence, language=language)) == question


@pytest.mark.parametrize(
    ("sentence", "language", "kind", "begins"),
    [
        ("Visits are possible from 15:00 to 19:00 on weekdays.", "en", "factual", "When"),
        ("A ride with the bicycle costs 10 cents a minute.", "en", "factual", "How much"),
        ("Children under 14 years pay 3 euros for the whole day.", "en", "factual", "How much"),
        ("Probation at the firm lasts four months for all staff.", "en", "factual", "How long"),
        ("La cafetera debe descalcificarse cada dos meses en casa.", "es", "factual", "Cada cuánto"),
        ("Cada persona nueva tiene un mentor durante los tres primeros meses.", "es", "factual", "Cuánto tiempo"),
        ("La biblioteca tiene unas 300 butacas en la sala grande.", "es", "factual", "Cuántas butacas"),
        ("Vehicles check in 45 minutes before departure at the lower quay.", "en", "factual", "When"),
        ("To renew a loan, press the green key of the desk.", "en", "how_to", "How do I"),
        ("Un ejemplar de depósito es un libro que no sale de casa.", "es", "conceptual", "Qué es un ejemplar de depósito"),
        ("If the sailing is cancelled, tickets stay valid for six months.", "en", "conceptual", "What happens if"),
    ],
)  # fmt: skip
def test_a_sentence_tells_how_its_question_begins(
    sentence: str, language: str, kind: str, begins: str
) -> None:
    target = open_target(sentence, language=language)
    assert (target.kind, target.begins, target.reference) == (kind, begins, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The balances under 5 euros are not paid out here.",
        "Both were cast in the old foundry of the town in 1902.",
        "This was cast in the old foundry of the town in 1902.",
        "The view from the tower over the town is very fine.",
        "The oldest piece of the house is the tower clock of 1472.",
    ],
)
def test_a_sentence_that_tells_nothing_alone_is_no_target(sentence: str) -> None:
    page = open_page(Document("d", sentence, "", "en"), "en")
    assert not [target for group in list_targets(page) for target in group]


@pytest.mark.parametrize(
    ("answer", "agrees"), [("1902", True), ("in a foundry in 1902", True), ("1902 or 1903", False), ("the bell", False), ("", False)]
)  # fmt: skip
def test_an_answer_agrees_by_its_numbers_and_words(answer: str, agrees: bool) -> None:
    assert agrees_with_target(answer, GOOD, open_target(SENTENCE)) is agrees


def test_an_answer_of_the_other_half_of_a_sentence_does_not_agree() -> None:
    target = open_target("The yearly fee of the choir is 80 euros; students of all ages pay nothing.")  # fmt: skip
    assert agrees_with_target("80 euros", "How much is the yearly fee of the choir?", target)
    assert not agrees_with_target("80 euros", "How much do students of all ages pay?", target)
    target = open_target("Old paper goes into the blue bin, which is emptied every second Wednesday.")  # fmt: skip
    assert not agrees_with_target(
        "every second Wednesday", "When does old paper go into the blue bin?", target
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "Technically, the overhead of each task is 200 microseconds in this house.",
        "In other words, we have two different ways of playing local music here.",
        "The steps are performed using Windows 2000 Server and nothing else at all.",
    ],
)
def test_a_sentence_that_goes_on_with_another_or_names_a_version_is_no_target(sentence: str) -> None:  # fmt: skip
    page = open_page(Document("d", sentence, "Outgoing messages", "en"), "en")
    assert [target for group in list_targets(page) for target in group] == []


def test_a_noun_that_only_the_passage_tells_apart_is_refused() -> None:
    target = open_target("The consumer sends the task again after 10 seconds to the queue.", "Signals of Huey")  # fmt: skip
    fault = find_question_fault("When does Huey send the task?", target)
    assert fault is not None
    assert fault[1] == "which task?"
    assert find_question_fault("When does Huey send the signals again?", target) != fault
