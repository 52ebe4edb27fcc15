"""Bare answers, and the statements that they make with their questions."""

import pytest

from ragstone.text.answers import is_bare_answer, is_polar_exchange, to_statement


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


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Which country reported the first case?", "France", "France reported the first case."),
        ("Who wrote Don Quixote?", "Miguel de Cervantes", "Miguel de Cervantes wrote Don Quixote."),
        ("What is the capital of France?", "Paris", "Paris is the capital of France."),
        ("What did Einstein discover?", "relativity", "Einstein did discover relativity."),
        ("Where was Einstein born?", "Ulm", "Einstein was born in Ulm."),
        ("In which city was Einstein born?", "Ulm", "Einstein was born in Ulm."),
        ("When was the bridge opened?", "In 1937.", "The bridge was opened in 1937."),
        ("Where is the Eiffel Tower?", "Paris", "The Eiffel Tower is in Paris."),
        ("How many people died?", "40", "40 people died."),
        ("How many people died?", "40 people", "40 people died."),
        ("How many children does she have?", "three", "She does have three children."),
        ("How long is the bridge?", "2,737 m", "The bridge is 2,737 m long."),
        ("How much does the ticket cost?", "8 euros", "The ticket does cost 8 euros."),
        ("How old was Mozart when he died?", "35", "Mozart was 35 old when he died."),
        ("What was he accused of?", "murder", "He was accused of murder."),
        ("Who was the book written by?", "Cervantes", "The book was written by Cervantes."),
        ("Who was elected in 1990?", "Havel", "Havel was elected in 1990."),
        ("What's the return policy?", "30 days", "30 days is the return policy."),
        ("Does the hotel have a pool?", "Yes", "The hotel does have a pool."),
        ("Is the museum free on Sundays?", "No.", "The museum is not free on Sundays."),
        ("Can I bring my dog?", "Yes, on a lead", "I can bring my dog on a lead."),
        ("How to apply?", "by post", "How to apply: by post."),
        ("¿Qué país notificó el primer caso?", "Francia", "Francia notificó el primer caso."),
        ("¿Quién escribió el Quijote?", "Cervantes", "Cervantes escribió el Quijote."),
        ("¿Cuál es la capital de Francia?", "París", "París es la capital de Francia."),
        ("¿Dónde nació Einstein?", "En Ulm", "Nació Einstein en Ulm."),
        ("¿En qué ciudad nació Einstein?", "Ulm", "Nació Einstein en Ulm."),
        ("¿Cuándo se abrió el puente?", "1937", "Se abrió el puente en 1937."),
        ("¿Cuántas personas murieron?", "40", "40 personas murieron."),
        ("¿Cuántas lunas tiene Marte?", "Dos", "Marte tiene Dos lunas."),
        ("¿Se admiten perros en el albergue?", "No", "No se admiten perros en el albergue."),
        ("¿Cuánto cuesta la entrada?", "8 euros", "Cuesta la entrada 8 euros."),
        ("¿Tiene piscina el hotel?", "No", "No tiene piscina el hotel."),
        ("¿Tiene piscina el hotel?", "Sí", "Tiene piscina el hotel."),
        ("¿Por qué se estrelló el avión?", "mal tiempo", "Se estrelló el avión por mal tiempo."),
        ("Which decade was the bridge built?", "the 1990s", "The bridge was built in the 1990s."),
        ("Which country was the car made?", "Spain", "The car was made in Spain."),
        ("Which town was he born?", "Ulm", "He was born in Ulm."),
        ("Which state was she raised?", "Ohio", "She was raised in Ohio."),
        ("Which month was it opened?", "May", "It was opened in May."),
        ("How old was he before he left?", "40", "He was 40 old before he left."),
        ("How tall was the tree while it stood?", "40 m", "The tree was 40 m tall while it stood."),
        ("Where is it based in?", "Porto", "It is based in Porto."),
        ("Why did it close?", "rain", "It did close because of rain."),
        ("Why did it close?", "Because it rained", "It did close Because it rained."),
        ("¿Cuántas cartas les escribió?", "tres", "Tres cartas les escribió."),
        ("¿Cuántas cartas les escribió Ana?", "tres", "Ana les escribió tres cartas."),
        ("¿Cuántas veces lo pidió Ana?", "dos", "Ana lo pidió dos veces."),
        ("¿Por qué cerró?", "Porque llovía", "Cerró Porque llovía."),
        ("¿Cuándo cerró la tienda?", "el lunes", "Cerró la tienda el lunes."),
    ],
)  # fmt: skip
def test_question_and_bare_answer_make_a_statement(
    question: str, answer: str, statement: str
) -> None:
    assert to_statement(question, answer) == statement


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Is the shop open on Sunday?", "Yes, it is.", "The shop is open on Sunday."),
        ("Is the shop open on Sunday?", "It isn't.", "The shop is not open on Sunday."),
        ("Can members borrow films?", "No, they can't.", "Members can not borrow films."),
        ("Can members borrow films?", "Of course!", "Members can borrow films."),
        ("¿Abre la tienda el domingo?", "Claro que sí.", "Abre la tienda el domingo."),
        ("¿Es gratis la entrada?", "No, no lo es.", "No es gratis la entrada."),
    ],
)
def test_yes_and_no_in_a_few_words_are_statements_with_their_question(
    question: str, answer: str, statement: str
) -> None:
    assert is_polar_exchange(question, answer)
    assert to_statement(question, answer) == statement


@pytest.mark.parametrize(
    "answer",
    ["Yes", "Yeah.", "Yep", "Sure!", "Certainly.", "Absolutely!", "Indeed.", "Correct.", "It does.", "No.", "It does not."],
)  # fmt: skip
def test_every_way_to_say_yes_or_no_is_understood(answer: str) -> None:
    negation = "not " if "no" in answer.lower() else ""
    assert is_polar_exchange("Does it open?", answer)
    assert to_statement("Does it open?", answer) == f"It does {negation}open."


@pytest.mark.parametrize(
    "answer",
    ["Sí", "Claro.", "Por supuesto que sí", "Desde luego.", "Así es.", "Correcto", "Lo es.", "No", "No, no lo es."],
)  # fmt: skip
def test_every_way_to_say_si_or_no_is_understood(answer: str) -> None:
    negation = "No es" if "no" in answer.lower() else "Es"
    assert is_polar_exchange("¿Es gratis la entrada?", answer)
    assert to_statement("¿Es gratis la entrada?", answer) == f"{negation} gratis la entrada."


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
