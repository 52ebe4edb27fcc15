"""Names in a place that the source gives to another name."""

import pytest

from ragstone.judges.offline.reading import read
from ragstone.judges.offline.slots import find_other_name

OTHERS = [
    ("France reported the first case.", "Germany reported the first case in January. France followed later.", "Germany"),
    ("Bob Smith won the race.", "Ann Lee won the race in 1990. Bob Smith came second.", "Ann Lee"),
    ("Apple released the phone.", "In 2007, Nokia released the phone. Apple watched.", "Nokia"),
    ("Einstein was born in Munich.", "Einstein was born in Ulm. He grew up in Munich.", "Ulm"),
    ("Lyon is the capital of France.", "The capital of France is Paris. Lyon is large.", "Paris"),
    ("Bell built the tower.", "The tower was built by Eiffel. Bell was in Boston.", "Eiffel"),
    ("Francia notificó el primer caso.", "Alemania notificó el primer caso. Francia lo hizo en febrero.", "Alemania"),
    ("Ana ganó la carrera.", "Luis ganó la carrera en 1990. Ana quedó segunda.", "Luis"),
    ("Tesla was founded by Ann Lee.", "Tesla was founded in 2003 by Bob Smith. Ann Lee joined later.", "Bob Smith"),
    ("La ganó en casa Ana.", "La ganó en casa Luis en 1990. Ana quedó segunda.", "Luis"),
    ("Einstein nació en Múnich.", "Einstein nació en Ulm. Vivió en Múnich.", "Ulm"),
]  # fmt: skip
SAME = [
    ("Germany reported the first case.", "Germany reported the first case in January. France followed later."),
    ("Ann Lee won the race in 1990.", "Ann Lee was a runner. She won the race in 1990."),
    ("Apple reported a loss.", "The firm reported a loss. Apple is big."),
    ("France reported the first case.", "Germany reported a first case. France reported its first case too."),
    ("Paris is the capital of France.", "The capital of France is Paris. Lyon is large."),
    ("Luis ganó la carrera.", "Luis ganó la carrera en 1990. Ana quedó segunda."),
    ("Ana ganó la carrera.", "Ana corrió en 1990. La atleta ganó la carrera."),
]  # fmt: skip


def spoken(text: str) -> str:
    return "es" if any(word in text for word in ("gan", "naci", "notific")) else "en"


@pytest.mark.parametrize(("claim", "source", "other"), OTHERS)
def test_what_is_said_of_another_name_is_found(claim: str, source: str, other: str) -> None:
    language = spoken(claim)
    conflict = find_other_name(read(claim, language), [read(source, language)])
    assert conflict is not None
    assert conflict.theirs == other


@pytest.mark.parametrize(("claim", "source"), SAME)
def test_the_same_name_or_one_that_may_be_meant_is_no_other(claim: str, source: str) -> None:
    language = spoken(claim)
    assert find_other_name(read(claim, language), [read(source, language)]) is None
