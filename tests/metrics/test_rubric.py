"""Closed scales, and one number out of several."""

from __future__ import annotations

import pytest

from ragstone.errors import JudgeFailed, MissingField, NotApplicable, SystemFailed, UnknownMetric
from ragstone.metrics.overall import overall
from ragstone.metrics.rubric import COHERENCE, coherence, rubric
from ragstone.registry import resolve
from ragstone.types import Ranked, Sample, chunks

SAMPLE = Sample(
    "1",
    question="What colour is it?",
    answer="It is red.",
    contexts=chunks({"id": "a", "text": "The car is red."}, {"id": "b", "text": "Cars."}),
    reference="Red it is.",
)


@pytest.mark.parametrize(("level", "value"), [(0, 0.0), (2, 0.5), (4, 1.0)])
def test_coherence_scales_five_levels(drive, Script, level, value):
    judge = Script(replies={"rate": {"level": level, "reason": "because"}})
    score = drive(coherence("It is. So it is."), judge)
    assert score.value == value
    assert score.findings[0].verdict == COHERENCE["en"][1][level]
    assert score.findings[0].reason == "because"


def test_coherence_asks_in_the_samples_language(drive, Script):
    judge = Script()
    drive(coherence("Es así.", "es-MX"), judge)
    assert judge.asked[0].values["question"] == COHERENCE["es"][0]
    assert {len(levels) for _, levels in COHERENCE.values()} == {5}


@pytest.mark.parametrize(
    "reply", [None, {}, {"level": 5, "reason": ""}, {"level": -1, "reason": ""}, {"level": True}]
)
def test_a_level_off_the_scale_is_unparseable(drive, Script, reply):
    with pytest.raises(JudgeFailed) as raised:
        drive(coherence("It is."), Script(replies={"rate": reply}))
    assert raised.value.kind == "unparseable"


def test_an_empty_answer_has_no_coherence(drive, Script):
    with pytest.raises(NotApplicable):
        drive(coherence(" "), Script())


TONE = {"name": "tone", "question": "How polite is it?", "levels": ["rude", "neutral", "kind"]}


def test_a_rubric_from_the_config_prints_by_its_name(drive, Script):
    tone = resolve({"rubric": TONE})
    assert str(tone) == "rubric(name=tone)"
    judge = Script(replies={"rate": {"level": 1, "reason": "dry"}})
    score = drive(tone.function(SAMPLE, **tone.options), judge)
    assert score.value == 0.5
    assert (score.findings[0].text, score.findings[0].verdict) == ("tone", "neutral")
    assert judge.asked[0].values["levels"] == ["rude", "neutral", "kind"]
    assert judge.asked[0].values["texts"] == {"question": SAMPLE.question, "answer": SAMPLE.answer}


def test_a_rubric_shows_the_fields_it_names(drive, Script):
    judge = Script()
    drive(rubric(SAMPLE, fields=("contexts", "reference")), judge)
    assert judge.asked[0].values["texts"] == {
        "contexts": "[a] The car is red.\n\n[b] Cars.",
        "reference": "Red it is.",
    }


def test_a_rubric_on_a_field_that_is_not_there(drive, Script):
    with pytest.raises(MissingField, match="'reference'"):
        drive(rubric(Sample("1", answer="x"), fields=("reference",)), Script())
    with pytest.raises(SystemFailed, match="timed out"):
        drive(rubric(Sample("1", question="x", error="timed out")), Script())
    with pytest.raises(NotApplicable, match="is empty"):
        drive(rubric(Sample("1", contexts=Ranked()), fields=("contexts",)), Script())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"levels": ["one"]}, "at least two"),
        ({"levels": ["a", "a"]}, "at least two different"),
        ({"question": " "}, "say what to judge"),
        ({"fields": []}, "name the texts"),
        ({"fields": ["title"]}, "question or answer or contexts or reference"),
        ({"tone": 1}, "no option 'tone'"),
    ],
)
def test_a_rubric_that_cannot_be_asked_is_refused_before_any_cost(options, complaint):
    with pytest.raises(UnknownMetric, match=complaint):
        resolve({"rubric": {**TONE, **options}})


def test_overall_is_the_weighted_mean_with_hallucination_turned_round(drive, Script):
    judge = Script(
        quotes={"It is red.": ["car is red"], "Red it is.": ["is red"]},
        replies={
            "embed": {"vectors": [[1, 0], [3, 4], [3, 4], [3, 4]]},
            "rate": {"level": 2, "reason": ""},
        },
    )
    score = drive(overall(SAMPLE), judge)
    assert score.value == pytest.approx(0.30 * 1 + 0.25 * 0.6 + 0.20 * 1 + 0.15 * 1 + 0.10 * 0.5)
    assert [f.text for f in score.findings] == [
        "faithfulness",
        "answer_relevance",
        "completeness",
        "hallucination_rate",
        "coherence",
    ]


def test_overall_divides_by_the_weights_it_is_given(drive, Script):
    judge = Script(replies={"rate": {"level": 1, "reason": ""}})
    weights = {"coherence": 1.0, "token_f1": 3.0, "faithfulness": 0.0}
    score = drive(overall(SAMPLE, weights=weights), judge)
    assert score.value == pytest.approx((1 * 0.25 + 3 * (1 / 3)) / 4)  # one token of three shared
    assert [ask.kind for ask in judge.asked] == ["rate"]


def test_overall_says_which_components_are_missing(drive, Script):
    judge = Script(replies={"rate": JudgeFailed("refusal", "declined")})
    with pytest.raises(NotApplicable) as raised:
        drive(overall(SAMPLE), judge)
    assert raised.value.reason == "no score for coherence (judge_error: declined)"
    with pytest.raises(NotApplicable, match=r"faithfulness \(missing_field: .*no contexts"):
        drive(overall(Sample("1", question="x?", answer="It is.")), Script())
    with pytest.raises(SystemFailed):
        drive(overall(Sample("1", question="x?", error="down")), Script())


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ({"faithfullness": 1}, "did you mean 'faithfulness'"),
        ({"overall": 1}, "cannot weigh itself"),
        ({"coherence": -1}, "from 0 on"),
        ({"coherence": 0}, "above 0"),
        ({}, "above 0"),
    ],
)
def test_weights_that_make_no_mean_are_refused(weights, complaint):
    with pytest.raises(UnknownMetric, match=complaint):
        resolve({"overall": {"weights": weights}})
