"""Short answers: the same thing in other spelling agrees, another number or name does not."""

from __future__ import annotations

import pytest

from ragstone.judges.offline.fragments import bind_answer, compare_bare
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.verdicts import SUPPORT_BAR

SAME = [
    ("Richard Nixon", "President Richard Nixon"),
    ("Abidali Neemuchwala", "Abid Ali Neemuchwala"),
    ("14 March 1879", "March 14, 1879"),
]
OTHER = [
    ("September 27, 2018", "September 27, 2017"),
    ("18 January 1850", "18 January 1788"),
    ("Portuguese", "Japanese"),
    ("Leia Organa", "Mara Jade"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_answer_in_other_words_agrees(one: str, other: str) -> None:
    assert _agreed(one, other)
    assert _agreed(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_answer_does_not(one: str, other: str) -> None:
    assert not _agreed(one, other)
    assert not _agreed(other, one)


def test_a_sentence_agrees_with_the_short_answer_it_holds() -> None:
    assert _agreed("The Redskins are based out of Landover, Maryland.", "Landover, Maryland")


def _agreed(claim: str, source: str) -> bool:
    match = compare_bare(read(claim), [read(source)])
    assert match is not None
    return match.chance >= SUPPORT_BAR


BRIDGE = (
    "The bridge opened in 1937 after four years of work. It is 2,737 metres long. The new tower nearby was "
    "finished in 1962 and has 50 floors. El Greco never saw it."
)


@pytest.mark.parametrize(
    ("claim", "answer", "is_bound"),
    [
        ("The bridge opened in 1937.", "1937", True),
        ("The bridge opened in 1962.", "1962", False),
        ("The tower was finished in 1962.", "1962", True),
        ("The tower was finished in 1937.", "1937", False),
        ("The tower has 50 floors.", "50", True),
        ("The tower has 2,737 floors.", "2,737", False),
        ("The tower has 70 floors.", "70", False),
    ],
)
def test_an_answer_is_bound_to_the_sentence_that_has_its_question(
    claim: str, answer: str, is_bound: bool
) -> None:
    chance = bind_answer(read(answer, "en"), read(claim, "en"), [read(BRIDGE, "en")])
    assert chance is not None
    assert (chance >= 0.5) is is_bound


def test_yes_and_no_are_not_looked_up() -> None:
    claim = read("The bridge does not have towers.", "en")
    assert bind_answer(read("No", "en"), claim, [read(BRIDGE, "en")]) is None


def test_an_answer_whose_question_no_source_has_is_looked_up_alone() -> None:
    claim = read("Zorbek did marry El Greco.", "en")
    assert bind_answer(read("El Greco", "en"), claim, [read(BRIDGE, "en")]) == 1.0
