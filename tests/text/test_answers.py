"""Bare answers, and the claims that they make with their questions."""

import pytest

from ragstone.text.answers import (
    is_bare_answer,
    is_polar_exchange,
    join_answer,
    says_yes,
    split_joined,
)


@pytest.mark.parametrize(
    "answer",
    [
        "France", "40", "Yes.", "No", "In Paris, on 5 May 1990", "gold, copper and silver", "Will Smith", "30 días",
        "the United States", "2,737 metres", "Denver Broncos", "por correo", "Charles I, King of England",
    ],
)  # fmt: skip
def test_a_name_a_number_or_a_list_is_a_bare_answer(answer: str) -> None:
    assert is_bare_answer(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The tower is tall.", "Unknown.", "I don't know.", "Nació en Ulm", "Returns are accepted.", "", "Who?",
        "Paris. London.", "Here are the steps:", "one two three four five six seven eight nine ten eleven twelve thirteen",
    ],
)  # fmt: skip
def test_what_states_something_or_nothing_is_no_bare_answer(answer: str) -> None:
    assert not is_bare_answer(answer)


def test_a_question_and_its_bare_answer_are_shown_as_a_pair() -> None:
    claim = join_answer("Where was Einstein\n born?", "Ulm")
    assert claim == "born? → Ulm"
    assert split_joined("Where was he born? → Ulm") == ("Where was he born?", "Ulm")
    assert split_joined("He was born in Ulm.") == ("", "He was born in Ulm.")
    assert join_answer(" ", "Ulm") == "Ulm"


@pytest.mark.parametrize(
    ("question", "answer", "is_yes"),
    [
        ("Is the shop open on Sunday?", "Yes, it is.", True),
        ("Is the shop open on Sunday?", "It isn't.", False),
        ("Can members borrow films?", "No, they can't.", False),
        ("Can members borrow films?", "Of course!", True),
        ("¿Abre la tienda el domingo?", "Claro que sí.", True),
        ("¿Es gratis la entrada?", "No, no lo es.", False),
    ],
)
def test_yes_and_no_in_a_few_words_need_their_question(
    question: str, answer: str, is_yes: bool
) -> None:
    assert is_polar_exchange(question, answer)
    assert says_yes(answer) is is_yes


@pytest.mark.parametrize(
    "answer",
    ["Yes", "Yeah.", "Yep", "Sure!", "Certainly.", "Absolutely!", "Indeed.", "Correct.", "It does.", "No.", "It does not."],
)  # fmt: skip
def test_every_way_to_say_yes_or_no_is_understood(answer: str) -> None:
    assert is_polar_exchange("Does it open?", answer)
    assert says_yes(answer) is ("no" not in answer.lower())


@pytest.mark.parametrize(
    "answer",
    ["Sí", "Claro.", "Por supuesto que sí", "Desde luego.", "Así es.", "Correcto", "Lo es.", "No", "No, no lo es."],
)  # fmt: skip
def test_every_way_to_say_si_or_no_is_understood(answer: str) -> None:
    assert is_polar_exchange("¿Es gratis la entrada?", answer)
    assert says_yes(answer) is ("no" not in answer.lower())


def test_a_long_text_is_no_bare_answer_however_few_its_words() -> None:
    assert is_bare_answer("x" * 200)
    assert not is_bare_answer("x" * 201)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When does it open?", "Yes."),
        ("Is the shop open?", "Yes, it isn't."),
        ("Is the shop open?", "No parking is allowed."),
        ("Is the shop open?", "Yes, on Sunday."),
        ("¿Abre la tienda?", "No abre los lunes."),
    ],
)
def test_other_answers_are_no_mere_yes_or_no(question: str, answer: str) -> None:
    assert not is_polar_exchange(question, answer)
