"""Short answers as answer_correctness scores them: the same thing written otherwise, another thing, and a part of it."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from ragstone.errors import Unscored
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.offline.plain import mended, plain
from ragstone.metrics.answer import answer_correctness
from ragstone.types import Score

QUESTION = "Which one is it?"
NUMBER = re.compile(r"\d|V|X")
SAME = [
    ("J. K. Rowling", "Joanne Rowling"),
    ("H. G. Wells", "Herbert George Wells"),
    ("Edison, Thomas A.", "Thomas Alva Edison"),
    ("Dr. Martin L. King", "Martin Luther King Jr."),
    ("Bill Clinton", "William Jefferson Clinton"),
    ("Will Smith", "will smith"),
    ("What We Do in the Shadows", "what we do in the shadows"),
    ("La vida es sueño", "La vida es sueño"),
    ("Queen Elizabeth the Second", "Elizabeth II"),
    ("Abid Ali", "Abidali"),
    ("Gaddafi", "Qaddafi"),
    ("Sao Paulo", "São Paulo"),
    ("DÃ¡in", "Dáin"),
    ("Nixon", "President Richard Nixon"),
    ("Mt. Everest", "Mount Everest"),
    ("Warner Bros.", "Warner Brothers Pictures"),
    ("NBA Finals", "National Basketball Association Finals"),
    ("UK", "United Kingdom"),
    ("USA", "the United States"),
    ("World War II", "World War 2"),
    ("the ninth season", "season 9"),
    ("1879-03-14", "14 March 1879"),
    ("14 de marzo de 1879", "March 14, 1879"),
    ("November 1995", "1995"),
    ("11 years", "10–12 years"),
    ("60 mph", "60 miles per hour"),
    ("$5 million", "5 million dollars"),
    ("70%", "seventy percent"),
    ("French", "France"),
    ("sharecroppers", "Sharecropping"),
    ("copper", "copper (Cu)"),
    ("Simon & Garfunkel", "Simon and Garfunkel"),
    ("OTAN", "Organización del Tratado del Atlántico Norte"),
    ("el rey Felipe VI", "Felipe 6"),
    ("tercera temporada", "temporada 3"),
    ("Gabriel García Márquez", "Garcia Marquez"),
    ("unos 20 km", "20 kilómetros"),
    ("enero de 2017", "12 de enero de 2017"),
    ("No", "Typically, no"),
]
OTHER = [
    ("Emmitt Smith", "Timmy Smith"),
    ("Sarah Connor", "John Connor"),
    ("Michael Jackson", "Michael Jordan"),
    ("Mosaic covenant", "the Noahic Covenant"),
    ("Chief judge", "District Judge"),
    ("Bank of England", "Bank of America"),
    ("South Carolina", "North Carolina"),
    ("Miami, Florida", "Tampa, Florida"),
    ("Spanish", "Portuguese"),
    ("the left ventricle", "the right ventricle"),
    ("before 1900", "after 1900"),
    ("not Paris", "Paris"),
    ("Yes", "No"),
    ("1990", "1984"),
    ("1908", "from 1900 to 1946"),
    ("season 10", "season 9"),
    ("Henry VIII", "Henry VII"),
    ("13 years", "10 to 12 years"),
    ("5 km", "5 miles"),
    ("1.5 million", "1.5 billion"),
    ("1.5 million", "15 million"),
    ("11 km", "10–12 miles"),
    ("January 16, 2017", "January 12, 2017"),
    ("3 de mayo de 1808", "2 de mayo de 1808"),
    ("siglo XIX", "siglo XVIII"),
    ("Ana Pérez", "Juan Pérez"),
    ("río Ebro", "río Tajo"),
    ("el pacto mosaico", "el pacto de Noé"),
]
PARTS = [
    ("gold", "gold, copper and silver", 0.5),
    ("gold, copper and silver", "gold", 1.0),
    ("oro y cobre", "oro, cobre y plata", 0.8),
    ("Simon", "Simon and Garfunkel", 2 / 3),
    ("red, white and blue", "blue, white and red", 1.0),
    ("George Barnes made the first recording in 1938.", "George Warren Barnes", 0.43),
    ("Cigarette advertisements were banned in 1965.", "1 August 1965", 0.25),
    ("The capital of France is Paris.", "Paris", 1.0),
    ("The capital of France is not Paris.", "Paris", 0.0),
    ("La capital de Francia es París.", "París", 1.0),
    ("La capital de Francia es Lyon.", "París", 0.0),
    ("Who is Will Smith?", "Will Smith", 0.0),
    ("The wage was established in the United States in 1938.", "1938", 1.0),
    ("The tower stands in Paris. The tower is 330 m tall.", "Paris", 1.0),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_writing_is_right_whichever_of_the_two_is_the_reference(
    one: str, other: str
) -> None:
    assert scored(one, other) == scored(other, one) == 1.0


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_name_number_or_date_is_wrong(one: str, other: str) -> None:
    """A word in common, such as a surname, is worth little; a number or a contrary is worth nothing."""
    wrong = max(scored(one, other), scored(other, one))
    assert wrong <= (0.0 if NUMBER.search(one) else 0.4)


@pytest.mark.parametrize(("answer", "reference", "wanted"), PARTS)
def test_what_is_partly_right_is_scored_by_its_parts(
    answer: str, reference: str, wanted: float
) -> None:
    assert scored(answer, reference) == pytest.approx(wanted, abs=0.01)


WITH_QUESTION = [
    ("Which country reported the first case?", "France", [
        ("France", 1.0), ("It was France.", 1.0), ("France reported the first case, in January.", 1.0),
        ("Germany", 0.0), ("Germany reported the first case. France followed in February.", 0.0),
    ]),
    ("¿Qué país notificó el primer caso?", "Francia", [
        ("Francia", 1.0), ("Fue Francia.", 1.0), ("Francia notificó el primer caso en enero.", 1.0),
        ("Alemania", 0.0), ("Alemania notificó el primer caso. Francia la siguió en febrero.", 0.0),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "reference", "answers"), WITH_QUESTION)
def test_a_bare_reference_is_read_as_the_answer_to_the_question(
    question: str, reference: str, answers: list[tuple[str, float]]
) -> None:
    for answer, wanted in answers:
        assert scored(answer, reference, question) == wanted, answer


@pytest.mark.parametrize(
    "odd", ["fırst", "auguſt 3", "İ", "٣ ٤", "1" * 400, "1.2.3.4", "I. V. X.", "Ⅳ", "東京", "((a)"]
)
def test_odd_letters_are_compared_like_any_other(odd: str) -> None:
    assert scored(odd, odd) == 1.0
    assert scored(odd, "Lake Titicaca") == 0.0


def test_the_items_of_a_list_are_findings_with_their_own_words() -> None:
    found = run("gold, copper and tin", "gold and copper")
    assert [(one.text, one.verdict) for one in found.findings] == [
        ("gold", "correct"),
        ("copper", "correct"),
        ("tin", "addition"),
    ]


def test_a_sentence_that_lists_things_is_a_claim_for_each() -> None:
    found = run("The box holds apples, pears and plums.", "The box holds apples, pears and plums.")
    assert [one.verdict for one in found.findings] == ["correct"] * 3


def test_text_that_was_read_in_the_wrong_encoding_is_mended_and_other_text_is_not_touched() -> None:
    for right in ("Dáin – “ñandú” 10–12 €", "naïve Ångström", "São Paulo"):
        assert mended(right) == right
        assert mended(right.encode().decode("latin-1")) == right
    assert mended("10â€“12") == "10–12"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Louis XIV", "Louis 14"),
        ("siglo XVIII", "siglo 18"),
        ("John I. Smith", "John I. Smith"),
        ("P-A-D-A-W-A-N", "Padawan"),
        ("the fifteenth", "the 15"),
        ("IIX", "IIX"),
    ],
)
def test_numerals_and_number_words_become_numbers(written: str, read: str) -> None:
    assert plain(written) == read


def scored(answer: str, reference: str, question: str = QUESTION) -> float:
    value = run(answer, reference, question).value
    assert value is not None
    return value


def run(answer: str, reference: str, question: str = QUESTION) -> Score:
    running: Any = answer_correctness(question, answer, reference)
    judge = OfflineJudge(allow_unmeasured=True)
    try:
        asked = next(running)
        while True:
            asked = running.send(tuple(asyncio.run(judge.answer(asked))))
    except StopIteration as done:
        found: Score = done.value
        return found
    except Unscored as error:
        raise AssertionError(f"{answer!r} was not scored: {error}") from error
