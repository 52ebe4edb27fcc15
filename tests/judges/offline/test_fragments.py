"""Short answers: the same thing in other spelling agrees, another number or name does not."""

from __future__ import annotations

import pytest

from ragstone.judges.offline.fragments import compare_bare
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
