"""Questions without an LLM: what a sentence is asked for, and what a corpus yields."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from bench.testsets import LONG, Held, Yield, corpora, made

from ragstone.data.corpora import documents
from ragstone.data.documents import Document, read_documents
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import KINDS, MEANINGS, UNANSWERABLE, Item, Rejection
from ragstone.testset.likeness import SAME, alike
from ragstone.testset.offline import OfflineMaker
from ragstone.testset.offline.maker import _MAKERS
from ragstone.testset.offline.walk import facts_of
from ragstone.testset.proofs import Prover


def asked(text: str, language: str = "en", title: str = "") -> dict[str, str]:
    found = list(facts_of(Document("d", text, title, language), language))
    return {
        fact.question: fact.answer  # the first one counts, as it does for the maker
        for fact in reversed(found)
    }


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("The yearly subscription costs 48 euros.", "How much does the yearly subscription cost?", "48 euros"),
        ("The reading room has 140 seats.", "How many seats does the reading room have?", "140 seats"),
        ("Adults may borrow 20 items at a time.", "How many items may adults borrow at a time?", "20 items"),
        ("France took control of Algeria in 1830.", "When did France take control of Algeria?", "1830"),
        ("In 1186, Temüjin was elected khan of the Mongols.", "When was Temüjin elected khan of the Mongols?", "1186"),
        ("The path is open from 15 May to 31 October.", "When is the path open?", "from 15 May to 31 October"),
        ("You have 45 days to send an item back.", "How many days do I have to send an item back?", "45 days"),
        ("The delivery fee is not refunded.", "Is the delivery fee refunded?", "The delivery fee is not refunded."),
        ("If a station is full, tap the screen for more time.", "What happens if a station is full?", "tap the screen for more time"),
        ("The National Science Foundation (NSF) gave the money.", "What does NSF stand for?", "National Science Foundation"),
        ("PVC is forbidden because the smoke is poisonous.", "Why is PVC forbidden?", "because the smoke is poisonous"),
        ("DECnet is a suite of network protocols.", "What is DECnet?", "a suite of network protocols"),
        ("The workshop mends tents, rucksacks and stoves.", "What does the workshop mend?", "tents, rucksacks and stoves"),
        ("The Middle Rhine flows through the Rhine Gorge.", "What does the Middle Rhine flow through?", "the Rhine Gorge"),
        ("The Hauteville family achieved princely rank by proclaiming a duke.", "How did the Hauteville family achieve princely rank?", "by proclaiming a duke"),
        ("The Hauteville family achieved princely rank by proclaiming a duke.", "Which family achieved princely rank by proclaiming a duke?", "The Hauteville family"),
        ("Immunodeficiency occurs when the body is less active.", "When does immunodeficiency occur?", "Immunodeficiency occurs when the body is less active"),
        ("The property of being prime is called primality.", "What is the property of being prime called?", "primality"),
        ("They fund large building projects such as canals, roads and bridges.", "What are some examples of large building projects?", "canals, roads and bridges"),
        ("There are 12 lockers beside the main door.", "How many lockers are there beside the main door?", "12 lockers"),
        ("Marie Curie was a physicist. Her first laboratory was opened in 1898.", "When was Marie Curie's first laboratory opened?", "1898"),
        ("Cytotoxic drugs inhibit the immune response of the whole body.", "What inhibits the immune response of the whole body?", "Cytotoxic drugs"),
        ("In Hinduism the spiritual teacher is known as a guru.", "In Hinduism, what is the spiritual teacher known as?", "a guru"),
    ],
)  # fmt: skip
def test_an_english_sentence_is_asked_for_what_it_tells(
    sentence: str, question: str, answer: str
) -> None:
    assert asked(sentence)[question] == answer


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("El abono anual cuesta 36 euros.", "¿Cuánto cuesta el abono anual?", "36 euros"),
        ("La sala de lectura tiene 96 puestos.", "¿Cuántos puestos tiene la sala de lectura?", "96 puestos"),
        ("La biblioteca tiene 12 salas pequeñas.", "¿Cuántas salas pequeñas tiene la biblioteca?", "12 salas pequeñas"),
        ("Francia tomó el control de Argelia en 1830.", "¿En qué año tomó Francia el control de Argelia?", "1830"),
        ("El servicio funciona de 5:30 a 1:00.", "¿En qué horario funciona el servicio?", "de 5:30 a 1:00"),
        ("El autobús vuelve de Fuentefría a las 18:15.", "¿A qué hora vuelve el autobús de Fuentefría?", "a las 18:15"),
        ("Los muebles no se envían a las islas.", "¿Se envían los muebles a las islas?", "Los muebles no se envían a las islas."),
        ("Si se va la luz, mire antes el cuadro de su casa.", "¿Qué pasa si se va la luz?", "mire antes el cuadro de su casa"),
        ("La sede central está en la plaza del Mercado.", "¿Dónde está la sede central?", "en la plaza del Mercado"),
        ("Hay cinco cabinas para trabajar en grupo.", "¿Cuántas cabinas hay para trabajar en grupo?", "cinco cabinas"),
        ("Cada paquete está etiquetado con una dirección de destino.", "¿Con qué está etiquetado cada paquete?", "una dirección de destino"),
        ("La propiedad de ser primo se llama primalidad.", "¿Cómo se llama la propiedad de ser primo?", "primalidad"),
        ("El alcalde se elige mediante sufragio universal directo.", "¿Cómo se elige el alcalde?", "mediante sufragio universal directo"),
        ("El viaje termina cuando el anclaje pita dos veces.", "¿Cuándo termina el viaje?", "El viaje termina cuando el anclaje pita dos veces"),
        ("Annam, Birmania y Champa reconocieron la hegemonía mongola.", "¿Qué reconocieron Annam, Birmania y Champa?", "la hegemonía mongola"),
        ("Los farmacéuticos consultores suelen trabajar en residencias de ancianos.", "¿Quiénes suelen trabajar en residencias de ancianos?", "Los farmacéuticos consultores"),
        ("El tamaño medio de la familia era de 3,62.", "¿De cuánto era el tamaño medio de la familia?", "3,62"),
        ("Había 158 349 hogares en la ciudad.", "¿Cuántos hogares había en la ciudad?", "158 349 hogares"),
        ("Kenia ha ratificado el convenio sobre la inspección del trabajo.", "¿Qué ha ratificado Kenia?", "el convenio sobre la inspección del trabajo"),
        ("La familia Drengot obtuvo el principado de Capua.", "¿Qué familia obtuvo el principado de Capua?", "La familia Drengot"),
    ],
)  # fmt: skip
def test_a_spanish_sentence_is_asked_for_what_it_tells(
    sentence: str, question: str, answer: str
) -> None:
    found = asked(sentence, "es")
    assert found.get(question) == answer, found


def test_a_pronoun_is_told_by_the_sentence_before() -> None:
    found = asked("The Ridge Path is marked in yellow. It climbs 1,240 metres in all.")
    assert found["How many metres does the Ridge Path climb in all?"] == "1,240 metres"


def test_a_clause_inside_the_subject_does_not_swallow_the_verb_of_the_sentence() -> None:
    found = asked("The surface condenser that provides a vacuum was built in Leeds.")
    assert not [question for question in found if "vacuum was built" in question]


def test_he_is_the_person_the_sentences_before_speak_of() -> None:
    found = asked("Nikola Tesla moved to New York. The city was loud. He died in 1943.")
    assert found["When did Nikola Tesla die?"] == "1943"


def test_a_sentence_that_points_elsewhere_is_left_alone() -> None:
    assert asked("This was the largest of these in 1990.") == {}
    assert asked("They won the cup in 1946.") == {}


def held(*documents: Document) -> Held:
    return Held(documents)


SHOP = Document(
    "shop", "The yearly pass costs 48 euros. The shop opens in March. The pass is not refunded.", "Linden Bikes: prices", "en"
)  # fmt: skip
LIBRARY = Document(
    "library",
    "A yearly card costs 12 euros. The reading room has 140 seats.",
    "Marlow Library: cards",
    "en",
)


def items_of(documents: Held, place: int, kind: str) -> list[Item]:
    with CorpusIndex(documents) as index:
        maker = OfflineMaker(index)
        return list(maker.candidates(documents[place], {kind: 1}, random.Random(1)))


def test_a_question_says_whose_document_it_is_about() -> None:
    questions = [item.question for item in items_of(held(SHOP, LIBRARY), 0, "factual")]
    assert "How much does the yearly pass cost at Linden Bikes?" in questions


def test_every_item_has_its_quote_at_its_offsets() -> None:
    for kind in set(KINDS) - UNANSWERABLE:
        for item in items_of(held(SHOP, LIBRARY), 0, kind):
            for one in item.evidence:
                text = next(d.text for d in (SHOP, LIBRARY) if d.id == one.document)
                assert text[one.start : one.end] == one.quote


def test_a_near_miss_says_what_was_swapped() -> None:
    found = items_of(held(SHOP, LIBRARY), 0, "near_miss")
    assert found
    for item in found:
        swapped = item.proof["swapped"]
        assert swapped["for"] in item.question
        assert swapped["was"] in item.proof["asked"]
        assert item.reference is None
        assert not item.relevant
        assert not item.evidence


def test_a_false_premise_is_corrected_by_its_reference() -> None:
    item = next(
        i for i in items_of(held(SHOP, LIBRARY), 0, "false_premise") if "cost" in i.question
    )
    assert item.question.startswith("Why does the yearly pass cost")
    assert "48" not in item.question
    assert item.reference == "The yearly pass costs 48 euros."


def test_a_question_over_two_documents_names_both() -> None:
    (item, *_) = items_of(held(SHOP, LIBRARY), 0, "multi_document")
    assert set(item.relevant) == {"shop", "library"}
    assert len(item.evidence) == 2


def test_the_same_seed_gives_the_same_items() -> None:
    for kind in KINDS:
        first, second = (
            items_of(held(SHOP, LIBRARY), 0, kind),
            items_of(held(SHOP, LIBRARY), 0, kind),
        )
        assert first == second


def test_one_short_paragraph_is_enough() -> None:
    alone = held(Document("one", "The mill of Torvik was built in 1861 by Ida Torvik.", "", "en"))
    found = made(alone)
    assert {item.question for item in found.items} >= {
        "When was the mill of Torvik built by Ida Torvik?"
    }


def test_a_language_without_rules_gives_nothing() -> None:
    french = Document(
        "f",
        "La bibliothèque est ouverte tous les jours sauf le lundi et les jours fériés.",
        "",
        "fr",
    )
    with CorpusIndex(held(french)) as index:
        assert not list(OfflineMaker(index).candidates(french, {"factual": 5}, random.Random(1)))


def test_every_kind_has_a_meaning_and_a_maker() -> None:
    assert set(_MAKERS) == set(KINDS) == set(MEANINGS)


def test_an_item_comes_back_from_its_row() -> None:
    for kind in ("factual", "near_miss", "multi_document"):
        for item in items_of(held(SHOP, LIBRARY), 0, kind):
            assert Item.from_row(item.row()) == item


CLOZE = {"count": 0.06, "xquad": 0.33}
"""Share of sentences with a gap that each corpus may need to reach five items a document."""
NAMES = [
    "counties en",
    "counties es",
    pytest.param("xquad en", marks=pytest.mark.slow),
    pytest.param("xquad es", marks=pytest.mark.slow),
]


@cache
def yielded(name: str) -> tuple[Held, Yield]:
    documents = dict(corpora()).get(name)
    if documents is None:
        pytest.skip(f"{name} is not beside the checkout (shared/data/qa)")
    return documents, made(documents)


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_yields_items_without_twins(name: str) -> None:
    documents, out = yielded(name)
    long = [one.id for one in documents if len(one.text.split()) >= LONG]
    assert not [key for key in long if out.each[key] < 5]
    assert sum(item.how == "cloze" for item in out.items) < CLOZE[name[:5]] * len(out.items)
    plain = [item.question for item in out.items if item.kind != "follow_up"]
    assert not list(alike(plain, SAME))
    kinds = Counter(item.kind for item in out.items)
    assert kinds["factual"] > 20
    assert kinds["near_miss"] > 10
    assert kinds["false_premise"] > 5


@pytest.mark.parametrize("name", NAMES)
def test_what_was_let_through_would_be_let_through_again(name: str) -> None:
    documents, out = yielded(name)
    with CorpusIndex(documents) as index:
        prover = Prover(index)
        for item in random.Random(2).sample(out.items, 60):
            checked = prover.check(item)
            assert not isinstance(checked, Rejection) or checked.reason == "duplicate"
            for one in item.evidence:
                assert documents.find(one.document).text[one.start : one.end] == one.quote


@pytest.mark.parametrize("name", NAMES)
def test_the_embedded_judge_confirms_the_round_trip(name: str) -> None:
    from bench.testsets import round_trip

    documents, out = yielded(name)
    near, _ = round_trip(random.Random(1).sample(out.items, 80), documents)
    assert near >= 0.95


def test_a_question_over_two_documents_never_asks_one_thing_twice() -> None:
    counties = Held(read_documents(documents()))  # two of its documents give the same bus times
    maker = OfflineMaker(CorpusIndex(counties))
    parts = [
        [(part["question"], part["reference"]) for part in item.proof["parts"]]
        for document in counties
        for item in maker.candidates(document, {"multi_document": 6}, random.Random(1))
    ]
    assert len(parts) > 50
    assert not [both for both in parts if both[0] == both[1]]


def test_a_near_miss_names_an_organisation_of_its_own_language() -> None:
    counties = Held(read_documents(documents()))
    maker = OfflineMaker(CorpusIndex(counties))
    english = [document.title for document in counties if document.language == "en"]
    spanish = [document for document in counties if document.language == "es"]
    found = [
        item.proof["swapped"]["for"]
        for document in spanish
        for item in maker.candidates(document, {"near_miss": 4}, random.Random(3))
    ]
    assert found
    assert not [new for new in found if any(new in title for title in english)]
