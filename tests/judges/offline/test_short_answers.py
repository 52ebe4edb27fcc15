"""Short answers as answer_correctness scores them: the same thing written otherwise, another thing, and a part of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragstone.errors import Unscored
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.offline.plain import mended, plain
from ragstone.judges.offline.spans import dates, ranges
from ragstone.metrics.answer import answer_correctness
from ragstone.types import Score

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
    ("DÃ¡in", "Dáin Ironfoot"),
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
    ("late 16th century", "1524"),
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
    ("George Barnes made the first recording in 1938.", "George Warren Barnes", 2 / 3),
    ("Cigarette advertisements were banned in 1965.", "1 August 1965", 2 / 3),
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
    assert scored(one, other) == scored(other, one) == 0.0


@pytest.mark.parametrize(("answer", "reference", "wanted"), PARTS)
def test_what_is_partly_right_is_scored_by_its_parts(
    answer: str, reference: str, wanted: float
) -> None:
    assert scored(answer, reference) == pytest.approx(wanted)


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


def test_dates_are_read_in_every_order_and_years_alone() -> None:
    for text in ("14 March 1879", "March 14th, 1879", "1879-03-14", "el 14 de marzo de 1879"):
        (date,) = dates(text)
        assert (date.year, date.month, date.day) == (1879, 3, 14)
    (year,) = dates("in 1879")
    assert (year.year, year.month, year.day) == (1879, None, None)
    assert dates("1,879 men, 18790 women, the 1870s") == ()


def test_ranges_are_numbers_decades_and_centuries_but_not_how_long_something_lasted() -> None:
    assert [(one.low, one.high) for one in ranges("10–12 years")] == [(10, 12)]
    assert [(one.low, one.high) for one in ranges("the late 1960s")] == [(1964.5, 1969)]
    assert [(one.low, one.high) for one in ranges("siglo 18")] == [(1701, 1800)]
    assert ranges("from 1900 to 1946") == ()


def scored(answer: str, reference: str) -> float:
    value = run(answer, reference).value
    assert value is not None
    return value


def run(answer: str, reference: str) -> Score:
    running: Any = answer_correctness(answer, reference)
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
