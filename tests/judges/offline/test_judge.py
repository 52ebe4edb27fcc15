"""The offline judge answers every kind of Ask with a reply that fits it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragstone import asks
from ragstone.asks import Ask, Case, Reply
from ragstone.errors import JudgeFailed
from ragstone.judges.offline import OfflineJudge
from ragstone.types import Chunk

POLICY = {
    "en": (
        Chunk("d1", "Items may be returned within 30 days of purchase."),
        Chunk("d2", "Returned items must be unused and in their original packaging."),
        Chunk("d3", "Refunds are issued within 5 to 7 working days after we receive the item."),
    ),
    "es": (
        Chunk("d1", "Se aceptan devoluciones en un plazo de 30 días desde la fecha de compra."),
        Chunk("d2", "Los artículos devueltos deben estar sin usar y en su embalaje original."),
        Chunk(
            "d3",
            "Los reembolsos se procesan en un plazo de 5 a 7 días hábiles tras recibir el artículo.",
        ),
    ),
}


def answered(*given: Ask) -> list[Reply]:
    replies = asyncio.run(OfflineJudge().answer(given))
    assert all(isinstance(one, Reply) for one in replies)
    return [one for one in replies if isinstance(one, Reply)]


def verdicts(claims: tuple[str, ...], sources: tuple[Chunk, ...]) -> list[dict[str, Any]]:
    (reply,) = answered(asks.support(Case(claims, sources)))
    found: list[dict[str, Any]] = reply.value["verdicts"]
    return found


EVERY_KIND = (
    asks.claims("Paris is in France. It has two million people."),
    asks.support(Case(("Paris is in France.",), (Chunk("a", "Paris lies in France."),))),
    asks.useful(
        "Where is Paris?",
        [Chunk("a", "Paris lies in France.")],
        {"question": None, "reference": "France"},
    ),
    asks.aspects("Where is Paris and how many people live there?", "Paris is in France."),
    asks.questions("Paris is in France."),
    asks.rate(
        {"answer": "Paris is in France. It is large."}, "coherence", "How?", ("bad", "fair", "good")
    ),
    asks.embed("Paris", "Francia"),
)


@pytest.mark.parametrize("ask", EVERY_KIND, ids=lambda ask: ask.kind)
def test_every_kind_gets_a_reply_of_its_shape(ask: Ask) -> None:
    (reply,) = answered(ask)
    if ask.kind == "questions":  # it writes none
        assert reply.value.keys() == {"evasive", "addresses"}
    else:
        assert _fits(reply.value, ask.schema)
    json.dumps(reply.value, allow_nan=False)


_BESIDE_THE_SCHEMA = {"probability", "certain", "case_probabilities"}
"""What a judge that knows probabilities adds; models are not asked for it."""


def _fits(value: Any, schema: Any) -> bool:
    if "enum" in schema and value not in schema["enum"]:
        return False
    kind = schema["type"]
    if kind == "object":
        return set(value) - _BESIDE_THE_SCHEMA == set(schema["required"]) and all(
            _fits(value[name], part) for name, part in schema["properties"].items()
        )
    if kind == "array":
        return isinstance(value, list) and all(_fits(one, schema["items"]) for one in value)
    types = {"string": str, "integer": int, "number": float, "boolean": bool}
    return isinstance(value, types[kind])


def test_an_unknown_kind_is_a_failure_and_not_a_number() -> None:
    (got,) = asyncio.run(OfflineJudge().answer([Ask("sing", {}, {})]))
    assert isinstance(got, JudgeFailed)


def test_the_same_question_gets_the_same_reply_in_any_company() -> None:
    alone = [answered(ask)[0].value for ask in EVERY_KIND if ask.kind != "embed"]
    together = [
        reply.value
        for ask, reply in zip(EVERY_KIND, answered(*EVERY_KIND), strict=True)
        if ask.kind != "embed"
    ]
    assert alone == together


def test_einstein_is_half_right() -> None:
    source = (
        Chunk("a", "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."),
    )
    born, when = verdicts(
        ("Einstein was born in Germany.", "Einstein was born on 20 March 1879."), source
    )
    assert born["verdict"] == "supported"
    assert when["verdict"] == "contradicted"
    assert "14 March 1879" in when["reason"]


@pytest.mark.parametrize(
    ("language", "claims"),
    [
        (
            "en",
            (
                "You can return an item within 30 days of buying it.",
                "It has to be unused and in its original packaging.",
                "The refund takes between 5 and 7 working days.",
            ),
        ),
        (
            "es",
            (
                "Se aceptan devoluciones durante los 30 días siguientes a la compra.",
                "Debe estar sin uso y en su embalaje original.",
                "El reembolso tarda entre 5 y 7 días hábiles.",
            ),
        ),
    ],
)
def test_a_faithful_paraphrase_is_supported_by_the_right_chunk(
    language: str, claims: tuple[str, ...]
) -> None:
    rows = verdicts(claims, POLICY[language])
    assert [row["verdict"] for row in rows] == ["supported"] * 3
    assert [row["evidence"][0]["source"] for row in rows] == ["k1", "k2", "k3"]
    for row, chunk in zip(rows, POLICY[language], strict=True):
        assert row["evidence"][0]["quote"] in chunk.text


@pytest.mark.parametrize(
    ("language", "claims", "says"),
    [
        (
            "en",
            (
                "You can return an item within 60 days of purchase.",
                "The refund is instant in the nearest shop.",
                "You also receive a 10 % voucher for your next order.",
            ),
            "30 days, not 60 days",
        ),
        (
            "es",
            (
                "Se aceptan devoluciones durante los 60 días siguientes a la compra.",
                "El reembolso es inmediato en la tienda más cercana.",
                "Además recibes un vale del 10 % para tu próximo pedido.",
            ),
            "30 días, no 60 días",
        ),
    ],
)
def test_an_invented_answer_is_refused_claim_by_claim(
    language: str, claims: tuple[str, ...], says: str
) -> None:
    rows = verdicts(claims, POLICY[language])
    assert rows[0]["verdict"] == "contradicted"
    assert says in rows[0]["reason"]
    # what only shares words is unclear at best
    assert all(row["probability"] < 0.65 for row in rows)


@pytest.mark.parametrize(
    ("source", "claim", "word"),
    [
        (
            "The bridge was opened in 1937 by the mayor.",
            "The bridge was not opened in 1937 by the mayor.",
            "denies",
        ),
        (
            "The train needs 5 hours to reach Madrid.",
            "The train needs 5 days to reach Madrid.",
            "5 hours",
        ),
        (
            "The factory employs 250 people in Leeds.",
            "The factory employs 950 people in Leeds.",
            "250",
        ),
        ("Tool 9 is 5 years old.", "Tool 9 is 9 years old.", "5 years"),
        ("La sala 3 tiene 2 puertas.", "La sala 3 tiene 3 puertas.", "2, no 3"),
    ],
)
def test_what_disagrees_is_a_contradiction_that_says_what(
    source: str, claim: str, word: str
) -> None:
    (row,) = verdicts((claim,), (Chunk("a", source),))
    assert row["verdict"] == "contradicted"
    assert word in row["reason"]
    (true,) = verdicts((source,), (Chunk("a", source),))
    assert true["verdict"] == "supported"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "The warning does not affect other flavours, including those not made at the plant.",
            "The warning does not affect other flavours.",
        ),
        (
            "Storms were the No. 1 cause of delays in the north.",
            "Storms were the main cause of delays in the north.",
        ),
        (
            "4 From the menu choose the option Restore and wait 10 seconds.",
            "From the menu choose the option Restore and wait 10 seconds (passage 2).",
        ),
        (
            "El aviso no afecta a otros sabores, ni a los que no se hacen en la planta.",
            "El aviso no afecta a otros sabores.",
        ),
        ("El pintor murió en Madrid en 1907.", "El pintor murió en 1907 en Madrid."),
        (
            "El gimnasio abre de lunes a viernes de 7:00 a 22:30 y los sábados de 9:00 a 14:00.",
            "El gimnasio abre los sábados.",
        ),
        (
            "Last departure from the island: 21:45.",
            "The last departure from the island is at 9.45 pm.",
        ),
        (
            "Los pedidos superiores a 40 euros son gratuitos.",
            "Los pedidos de más de 40 euros son gratuitos.",
        ),
    ],
)
def test_what_only_looks_like_a_disagreement_is_none(source: str, claim: str) -> None:
    (row,) = verdicts((claim,), (Chunk("a", source),))
    assert row["verdict"] == "supported", row["reason"]


def test_without_sources_nothing_is_supported() -> None:
    (row,) = verdicts(("Paris is in France.",), ())
    assert row == {
        "id": "c1",
        "verdict": "not_found",
        "evidence": [],
        "reason": "there is no source",
        "probability": 0.0,
    }


def test_claims_and_sources_are_numbered_through_all_cases() -> None:
    one = Case(("Paris is in France.",), (Chunk("a", "Paris is in France."),))
    other = Case(("Rome is in Italy.", "Rome is in Spain."), (Chunk("b", "Rome is in Italy."),))
    (reply,) = answered(asks.support(one, other))
    rows = reply.value["verdicts"]
    assert [row["id"] for row in rows] == ["c1", "c2", "c3"]
    assert rows[1]["evidence"][0]["source"] == "k2"


def test_a_text_of_questions_alone_is_judged_and_fails() -> None:
    (split,) = answered(asks.claims("Who wrote it?"))
    assert [row["claim"] for row in split.value["claims"]] == ["Who wrote it?"]
    (row,) = verdicts(("Who wrote it?",), (Chunk("a", "Who wrote it? Nobody knows."),))
    assert row["verdict"] == "not_found"


def test_a_refusal_claims_nothing_and_is_evasive() -> None:
    (split,) = answered(asks.claims("No se menciona en el documento."))
    assert split.value == {"claims": []}
    (asked,) = answered(asks.questions("I don't know."))
    assert asked.value == {"evasive": True, "addresses": []}


def test_it_gives_a_chance_for_each_part_of_the_question() -> None:
    question = "Where is Paris and how many people live there?"
    (reply,) = answered(asks.questions("Paris is in France.", question=question))
    assert [row["part"] for row in reply.value["addresses"]] == [
        "Where is Paris",
        "how many people live there",
    ]


def test_a_chunk_that_answers_is_graded_above_one_that_does_not() -> None:
    right, wrong = (
        Chunk("a", "The Eiffel Tower in Paris was completed in 1889 for the World's Fair."),
        Chunk("b", "Sourdough bread needs flour, water, salt and a long rest."),
    )
    ask = asks.useful("When was the Eiffel Tower completed?", [right, wrong], {"question": None})
    grades = [row["grade"] for row in answered(ask)[0].value["grades"]]
    assert grades == [2, 0]


def test_a_spanish_question_finds_the_english_chunk() -> None:
    right, wrong = (
        Chunk("a", "The Eiffel Tower in Paris was completed in 1889."),
        Chunk("b", "Sourdough bread needs flour, water and salt."),
    )
    ask = asks.useful(
        "¿Cuándo se terminó la Torre Eiffel?", [right, wrong], {"question": None}, wording=2
    )
    grades = [row["grade"] for row in answered(ask)[0].value["grades"]]
    assert grades[0] > grades[1]


def test_rules_alone_are_marked_heuristic() -> None:
    heuristic = {ask.kind for ask in EVERY_KIND if "heuristic" in answered(ask)[0].notes}
    assert heuristic == {"aspects", "rate"}


FRENCH = "Le chat est dans la maison avec une souris qui ne dort pas, mais il ne la voit pas."


def test_a_language_that_was_never_measured_is_no_score_unless_allowed() -> None:
    chunk = Chunk("a", FRENCH)
    for ask in (
        asks.claims(FRENCH),
        asks.support(asks.Case(("Le chat dort.",), (chunk,))),
        asks.useful("Où est le chat ?", [chunk], {"question": None}),
        asks.claims("A cat.", language="fr-CA"),
    ):
        (failed,) = asyncio.run(OfflineJudge().answer([ask]))
        assert isinstance(failed, JudgeFailed)
        assert failed.kind == "unsupported"
        assert "allow_unmeasured" in failed.reason
        (reply,) = asyncio.run(OfflineJudge(allow_unmeasured=True).answer([ask]))
        assert reply.notes[-1].startswith("language not measured: fr")


def test_the_language_is_that_of_the_whole_question_and_not_of_a_claim() -> None:
    source = Chunk("a", "The newspapers that he read in the city of Berlin were printed there.")
    (reply,) = answered(
        asks.support(asks.Case(("Der Spiegel, Die Zeit und Die Welt und Das Bild",), (source,)))
    )
    assert isinstance(reply, Reply)


def test_replies_in_unmeasured_languages_have_a_cache_of_their_own() -> None:
    ask = asks.claims(FRENCH)
    assert OfflineJudge().identity(ask) != OfflineJudge(allow_unmeasured=True).identity(ask)


def test_word_salad_is_less_coherent_than_sentences() -> None:
    levels = ("1", "2", "3", "4", "5")
    good = "The tower was built in 1889. It was made for the World's Fair. Today it is a symbol of Paris."
    salad = "the in of was tower 1889 the for Fair World's built made a is it of Today symbol was the Paris in of"
    ranks = [
        answered(asks.rate({"answer": text}, "coherence", "How?", levels))[0].value["level"]
        for text in (good, salad)
    ]
    assert ranks[0] > ranks[1]


def test_learned_files_are_small_and_hold_no_pickle() -> None:
    folder = Path(__file__).parents[3] / "src" / "ragstone" / "judges" / "offline" / "learned"
    files = sorted(folder.iterdir())
    assert sum(file.stat().st_size for file in files) < 50_000
    assert {file.suffix for file in files} == {".json", ".md"}


def test_a_claim_that_no_sentence_shares_is_not_carried_by_the_others() -> None:
    source = Chunk("a", "Shipping is free. Returns take 30 days.")
    rows = verdicts(("Shipping is free.", "The shop was founded in 1987."), (source,))
    assert [row["verdict"] for row in rows] == ["supported", "not_found"]


def test_a_bare_answer_is_shown_with_its_question() -> None:
    def split(answer: str, question: str) -> list[str]:
        (reply,) = answered(asks.claims(answer, question=question))
        return [row["claim"] for row in reply.value["claims"]]

    assert split("France [1]", "Which country reported it?") == [
        "Which country reported it? → France"
    ]
    assert split("gold, copper and silver", "What did they find?") == [
        "What did they find? → gold",
        "What did they find? → copper",
        "What did they find? → silver",
    ]
    assert split("It was France.", "Which country reported it?") == ["It was France."]
    # every word of the question is there: a sentence, whether or not its verb is known
    whole = "El documento caduca el 12 de marzo."
    assert split(whole, "¿Cuándo caduca el documento?") == [whole]


def test_the_heading_of_a_table_claims_nothing_and_its_rows_do() -> None:
    table = (
        "| Ticket | Price |\n| --- | --- |\n| Day ticket | 9 euros |\n| Weekly ticket | 31 euros |"
    )
    (reply,) = answered(asks.claims(table))
    rows = [row["claim"] for row in reply.value["claims"]]
    assert rows == ["| Day ticket | 9 euros |", "| Weekly ticket | 31 euros |"]
    # nothing is hidden by the look of a heading
    for hidden in (
        "| The moon is a cheese | |\n| --- | --- |",
        "The moon is a cheese.\n| --- | --- |",
    ):
        (reply,) = answered(asks.claims(f"{hidden}\nThe sun is a star."))
        assert any("moon" in row["claim"] for row in reply.value["claims"])
    source = Chunk("a", "A day ticket costs 9 euros and a weekly ticket 31 euros.")
    assert [row["verdict"] for row in verdicts(tuple(rows), (source,))] == ["supported"] * 2


@pytest.mark.parametrize(
    ("answer", "claim", "source", "verdict"),
    [
        ("France", "France reported the first case.", "Germany reported the first case in January. France followed in February.", "not_found"),
        ("Germany", "Germany reported the first case.", "Germany reported the first case in January. France followed in February.", "supported"),
        ("Francia", "Francia notificó el primer caso.", "Alemania notificó el primer caso en enero. Francia lo hizo en febrero.", "not_found"),
        ("1962", "The bridge was opened in 1962.", "The bridge was opened in 1937. The tower was finished in 1962.", "not_found"),
        ("Munich", "Einstein was born in Munich.", "Einstein was born in Ulm. He went to school in Munich.", "not_found"),
        ("Ulm", "Einstein was born in Ulm.", "Einstein was born in Ulm. He went to school in Munich.", "supported"),
    ],
)  # fmt: skip
def test_a_bare_answer_is_wrong_where_the_source_gives_another(
    answer: str, claim: str, source: str, verdict: str
) -> None:
    (reply,) = answered(asks.support(Case((claim,), (Chunk("a", source),), (answer,))))
    assert reply.value["verdicts"][0]["verdict"] == verdict
