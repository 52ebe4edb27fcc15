"""Answers that decline, against answers that only sound like it."""

import gzip
import json
from pathlib import Path

import pytest

from ragstone.text.refusals import declines, is_refusal

REFUSALS = json.loads((Path(__file__).parent / "data" / "refusals.json").read_text("utf-8"))
SHARED = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.mark.parametrize(("part", "least"), [("seen", 0.98), ("unseen", 0.93), ("unusual", 0.85)])
@pytest.mark.parametrize("language", ["en", "es"])
def test_nearly_all_refusals_are_recognised(part: str, least: float, language: str) -> None:
    """The rules were written with `seen` in view and `unseen` out of it; `unusual` are idioms and roundabout ways."""
    answers = REFUSALS[part][language]
    assert sum(is_refusal(answer, language) for answer in answers) / len(answers) >= least


def test_hardly_any_ordinary_answer_is_taken_for_a_refusal() -> None:
    files = {
        "qa/answer_equivalence_nq301": "answer",
        "qa/clapnq_dev": "answer",
        "judge/ragtruth_test": "claim",
        "judge/wice": "claim",
        "judge/inferes": "claim",
    }
    if not SHARED.is_dir():
        pytest.skip("the data handed over is not beside the clone")
    answers = []
    for name, field in files.items():
        with gzip.open(SHARED / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [row for row in map(json.loads, lines) if row.get("answerable", 1)]
        answers += [row[field] for row in rows][:400]
    assert len(answers) > 1000
    assert sum(map(is_refusal, answers)) / len(answers) <= 0.01


@pytest.mark.parametrize(
    "answer",
    [
        "No.", "None", "The answer is no.", "The answer is not 5 but 7.", "Nothing.", "Nada", "Sin recibo no hay reembolso.",
        "The law does not apply to trains.", "He did not win the election in 1992.", "The shop is closed on Sundays.",
        "La ley no se aplica a los trenes.", "You cannot find it in stores.", "We do not cover shipping costs.",
        "There is no evidence that vaccines cause autism.", "No data is transmitted over the network.",
        "Without a receipt you cannot get a refund.", "No se puede devolver sin el recibo.",
        "The river has no name.", "El río no tiene nombre.", "The report was never published.",
        "The document must not be signed in red.", "Los documentos no se pueden firmar con lápiz.",
        "Children under four pay no fee for entry.", "Un niño de tres años no paga entrada.",
    ],
)  # fmt: skip
def test_a_negative_statement_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It is not known who built the tower.",
        "The cause of the disease is unknown.",
        "It is unclear whether he ever met the queen.",
        "No se sabe quién construyó la torre.",
        "La causa del incendio no está clara.",
    ],
)
def test_that_something_is_unknown_to_all_is_a_statement(answer: str) -> None:
    assert not declines(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm not sure, but the warranty lasts ten years.",
        "The context does not say, but the bridge opened in 1937.",
        "No estoy seguro, pero la garantía dura diez años.",
        "El contexto no lo dice, aunque el puente se abrió en 1937.",
        "I don't know. The capital is Paris.",
        "The exact date is not given in the text. The treaty was signed in Paris after long talks.",
        "Returns take 30 days. The document does not mention exchanges.",
    ],
)
def test_an_answer_after_a_refusal_is_an_answer(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I cannot answer that.",
        "I am not sure. Maybe.",
        "I don't have that information. Please contact customer support.",
        "The passage discusses the war. It does not say who won.",
        "I'm sorry, but the leaflet does not say anything about alcohol.",
        "Lo siento, pero el prospecto no dice nada del alcohol.",
        "No tengo esa información. Consulta la página web del museo.",
        "",
    ],
)
def test_what_only_accompanies_a_refusal_does_not_make_it_an_answer(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "sentence",
    [
        "No, articles made to measure cannot be sent back.",
        "No, documents in other languages are not accepted.",
        "The contract does not mention pets, so they are not allowed.",
        "No, los artículos a medida no se devuelven.",
    ],
)
def test_the_answer_no_and_what_follows_from_silence_are_answers(sentence: str) -> None:
    assert not declines(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["No, the documents do not say.", "The text does not mention it, so I cannot answer.", "No, no lo sé."],
)  # fmt: skip
def test_a_refusal_after_no_is_still_one(sentence: str) -> None:
    assert declines(sentence)
