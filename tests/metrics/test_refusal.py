"""A system that refuses does not look perfect: what an answer that declines counts."""

from __future__ import annotations

import pytest

from ragstone.errors import NotApplicable
from ragstone.metrics.answer import answer_correctness, answer_relevance, completeness
from ragstone.metrics.citations import citation_precision
from ragstone.metrics.grounding import faithfulness, hallucination_rate
from ragstone.metrics.overall import overall
from ragstone.types import Chunk, Ranked, Sample

QUESTION, REFERENCE = "How long does delivery take?", "Delivery takes three days."
NO_ANSWER = "It is not mentioned in the document."
REFUSALS = [
    "I don't know.",
    "The document does not mention it.",
    "The paper does not mention delivery.",
    "No se menciona en el documento.",
    "El informe no menciona la entrega.",
]
CONTEXTS = Ranked([Chunk("a", REFERENCE)])


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_of_a_question_that_has_an_answer_is_wrong(answer, drive, Script):
    judge = Script()
    for metric in (answer_correctness, completeness, answer_relevance):
        score = drive(metric(QUESTION, answer, reference=REFERENCE), judge)
        assert (score.value, score.reason.code) == (0.0, "refused")
    assert (
        drive(
            overall(Sample("1", question=QUESTION, answer=answer, reference=REFERENCE)), judge
        ).value
        == 0
    )
    assert not judge.asked


@pytest.mark.parametrize("answer", REFUSALS)
@pytest.mark.parametrize(
    "known", [{"reference": NO_ANSWER}, {"reference": "-", "meta": {"type": "impossible"}}]
)
def test_a_refusal_of_a_question_without_an_answer_is_right(answer, known, drive, Script):
    assert drive(answer_correctness(QUESTION, answer, **known), Script()).value == 1.0
    for metric in (completeness, answer_relevance):
        with pytest.raises(NotApplicable) as raised:
            drive(metric(QUESTION, answer, **known), Script())
        assert raised.value.reason.code == "refused_rightly"


@pytest.mark.parametrize("metric", [completeness, answer_relevance])
def test_without_a_reference_a_refusal_answers_nothing(metric, drive, Script):
    assert drive(metric(QUESTION, "I don't know."), Script()).value == 0.0


@pytest.mark.parametrize("metric", [faithfulness, hallucination_rate])
def test_a_refusal_claims_nothing(metric, drive, Script):
    judge = Script()
    with pytest.raises(NotApplicable):
        drive(metric("The paper does not mention delivery.", CONTEXTS), judge)
    with pytest.raises(NotApplicable):
        drive(citation_precision("The document does not say [1].", CONTEXTS), judge)
    assert not judge.asked


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does the paper mention delivery?", "The paper does not mention delivery."),
        ("¿Menciona el informe la entrega?", "El informe no menciona la entrega."),
        (QUESTION, "It takes three days; the policy does not mention weekends."),
        (QUESTION, "I am not sure about islands, but it takes three days."),
    ],
)
def test_what_answers_is_no_refusal(question, answer, drive, Script):
    judge = Script()
    drive(faithfulness(answer, CONTEXTS, None, question), judge)
    assert judge.asked


def test_components_that_do_not_apply_leave_their_weight_to_the_others(drive, Script):
    sample = Sample("1", question=QUESTION, answer=REFERENCE, contexts=CONTEXTS)
    weights = {"faithfulness": 0.5, "citation_accuracy": 0.5}
    score = drive(overall(sample, weights=weights), Script(quotes={REFERENCE: [REFERENCE]}))
    assert score.value == 1.0
    assert any("citation_accuracy" in warning for warning in score.warnings)
