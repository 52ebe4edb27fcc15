"""Which passage answers a question: the figures behind the chance, and what the audit makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from ragstone.data.documents import Document
from ragstone.testset.answerability import (
    HINT_CHANCE,
    MAX_LEAD,
    MAX_SHOWN_WORDS,
    SURE_CHANCE,
    WEIGHTS,
    FoundAnswer,
    PassageFigures,
    compute_chance,
    cut_passage,
    find_answers,
    measure_passages,
)
from ragstone.testset.audit import decide_doubt, find_doubt
from ragstone.testset.baselines import Search
from ragstone.testset.findings import Fault, Fix, Hint
from ragstone.types import Sample

FILLER = " ".join(
    f"Stone number {n} of the quay was laid by a mason of the town." for n in range(40)
)
DOCUMENTS = [
    Document("tower", f"{FILLER} The tower of Almere is 40 metres high.", "The tower", "en"),
    Document("bridge", "The bridge of Corran was opened in 1931 by Ida Brandt.", "", "en"),
    Document("molino", "El molino de Dunmore muele cebada. Su dueña es Sara Blanco.", "", "es"),
]


class Held(list[Document]):
    def find(self, key: str) -> Document:
        return next(document for document in self if document.id == key)


@pytest.fixture(scope="module")
def search() -> Iterator[Search]:
    with Search(Held(DOCUMENTS)) as made:
        yield made


@pytest.mark.parametrize(
    ("question", "language", "source", "quote"),
    [
        ("How high is the tower of Almere?", "en", "tower", "The tower of Almere is 40 metres high."),
        ("¿Qué muele el molino de Dunmore?", "es", "molino", "El molino de Dunmore muele cebada."),
    ],
)  # fmt: skip
def test_the_passage_that_answers_is_found_with_its_sentence(
    question: str, language: str, source: str, quote: str, search: Search
) -> None:
    found = find_answers(question, language, search)
    assert (found[0].source, found[0].quote) == (source, quote)
    assert [one.chance for one in found] == sorted((one.chance for one in found), reverse=True)


def test_another_name_and_another_matter_lower_the_chance(search: Search) -> None:
    def chance(question: str) -> float:
        found = find_answers(question, "en", search)
        return found[0].chance if found else 0.0

    true = chance("When was the bridge of Corran opened?")
    assert true > chance("When was the bridge of Torvik opened?")
    assert true > chance("Which insurer covers the bridge of Corran?")


def test_nothing_is_found_where_no_document_has_a_word(search: Search) -> None:
    assert find_answers("Zebulon quimby?", "en", search) == []


def test_the_lead_is_over_other_documents_and_full_where_there_is_none(search: Search) -> None:
    question = "When was the bridge of Corran opened?"
    near = search.find_nearest(question, "en", 6)
    alone = measure_passages(question, "en", [near[0]], search)
    assert {figures.lead for figures in alone} == {MAX_LEAD}
    tower = search.find_nearest("How high is the tower of Almere?", "en", 6)[0]
    both = measure_passages(question, "en", [near[0], tower], search)
    leads = {figures.source: figures.lead for figures in both}
    assert leads["bridge"] > 0 > leads["tower"]


def test_a_question_without_names_lacks_none(search: Search) -> None:
    question = "who was the bridge opened by"
    near = search.find_nearest(question, "en", 6)
    assert {figures.names for figures in measure_passages(question, "en", near, search)} == {1.0}


def test_the_chance_is_the_weighted_sum_of_the_figures() -> None:
    nothing = PassageFigures(0, 0, 0, 0, 0, 0, "a")
    everything = PassageFigures(1, 1, 1, 1, 1, 1, "a")
    assert compute_chance(nothing) == pytest.approx(1 / (1 + math.exp(-WEIGHTS["bias"])))
    assert compute_chance(everything) == pytest.approx(1 / (1 + math.exp(-sum(WEIGHTS.values()))))


def test_what_a_model_has_read_counts_with_the_figures() -> None:
    figures = PassageFigures(0.5, 0.5, 0.5, 0.5, 0.5, 0.0, "a")
    assert (
        compute_chance(figures, 0.9) > compute_chance(figures, 0.5) > compute_chance(figures, 0.1)
    )
    assert compute_chance(figures._replace(names=1.0), 0.5) > compute_chance(figures, 0.5)


def test_a_passage_is_shown_whole_unless_it_is_endless() -> None:
    assert cut_passage("The bridge\nof Corran.") == "The bridge\nof Corran."
    assert len(cut_passage("word " * 1000).split()) == MAX_SHOWN_WORDS


def answer(chance: float) -> FoundAnswer:
    return FoundAnswer(chance, "a", "Ida\ndid.", PassageFigures(0, 0, 0, 0, 0, 0, "a"))


@pytest.mark.parametrize(
    ("chance", "wanted"),
    [
        (SURE_CHANCE, Fault("answerable", "x", "Who?", "a: Ida did.", Fix("set", {"reference": "Ida did.", "relevant": {"a": 1}}))),
        (HINT_CHANCE, Hint("x", "Who?", "a: Ida did.")),
        (HINT_CHANCE - 0.01, None),
    ],
)  # fmt: skip
def test_an_abstention_is_a_finding_a_hint_or_fine(
    chance: float, wanted: Fault | Hint | None
) -> None:
    assert decide_doubt(Sample("x", question="Who?"), answer(chance)) == wanted


def test_an_item_whose_maker_searched_the_corpus_is_not_doubted(search: Search) -> None:
    question = "How high is the tower of Almere?"
    assert find_doubt(Sample("x", question=question), search) is not None
    proved = Sample("x", question=question, meta={"proof": {"searched": 6}})
    assert find_doubt(proved, search) is None
