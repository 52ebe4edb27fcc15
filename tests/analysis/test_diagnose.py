"""Advice: it names its evidence, comes with the command that tests it, and users can add to it."""

from __future__ import annotations

import json

import pytest

from ragstone.analysis import summarise
from ragstone.analysis.advice import choose_text, load_symptoms, parse_symptoms
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.errors import ConfigError
from ragstone.metrics import REGISTERED
from ragstone.text.language import LANGUAGES

OWN = """
- symptom: too_slow
  when: [{metric: latency, above: 2}]
  causes:
    - cause: The model is large
      advice: Take a smaller one
      try: {model: [small, large]}
"""


def found_in(run, symptoms=None):
    diagnoses = diagnose(run, summarise(run), analyse_failures(run), symptoms or load_symptoms())
    return {one.symptom: one for one in diagnoses}


def test_every_symptom_speaks_every_language_and_names_real_metrics() -> None:
    families = {metric.family for metric in REGISTERED.values()}
    for symptom in load_symptoms():
        for condition in symptom.conditions:
            assert condition.kind == "class" or condition.name in families
        texts = [symptom.title, *(t for c in symptom.causes for t in (c.cause, c.advice))]
        assert all(set(text) == set(LANGUAGES) for text in texts)


def test_what_can_be_tried_are_settings_of_the_built_in_pipeline() -> None:
    from ragstone.systems.pipeline.pipeline import PipelineSettings

    known = set(PipelineSettings.__dataclass_fields__)
    for symptom in load_symptoms():
        for cause in symptom.causes:
            assert set(cause.settings) <= known


def test_a_good_run_has_no_symptoms(build) -> None:
    assert found_in(build("good", {"recall": [1.0] * 50, "faithfulness": [0.99] * 50})) == {}


def test_low_faithfulness_brings_its_evidence_and_advice(build) -> None:
    run = build("bad", {"faithfulness": [0.1, 0.3, 0.2] * 20 + [1.0] * 20})
    one = found_in(run)["hallucination"]
    (evidence,) = one.evidence
    assert (evidence.affected, evidence.samples, one.share, one.metric) == (
        60,
        80,
        1.0,
        "faithfulness",
    )
    assert evidence.examples == ("q0", "q1", "q2")
    advice = {choose_text(a.advice, "en") for a in one.advice}
    assert "Demand a citation for each statement and drop those without" in advice
    assert json.dumps(one.to_dict())


def test_the_ablation_command_tries_the_settings_that_the_system_has(build) -> None:
    plan = {
        "system": "pipeline:my docs",
        "parameters": {"top_k": 5, "retriever": "bm25"},
        "settings": {"top_k": 5},
        "source": "q.jsonl",
    }
    run = build("bad", {"recall": [0.1] * 30}, plan=plan)
    commands = [a.command for a in found_in(run)["retrieval_failure"].advice]
    assert commands == [
        "ragstone ablate q.jsonl --system 'pipeline:my docs' --vary retriever=bm25,dense,hybrid --set top_k=5 -m recall",
        "ragstone ablate q.jsonl --system 'pipeline:my docs' --vary top_k=5,3,8,12 -m recall",
        None,
    ]


def test_without_a_system_there_is_no_command(build) -> None:
    one = found_in(build("bad", {"recall": [0.1] * 30}))["retrieval_failure"]
    assert {a.command for a in one.advice} == {None}


def test_users_add_symptoms_and_replace_ours(build) -> None:
    run = build(
        "slow",
        {"latency": [5.0, 3.0] * 5},
        metrics={"latency": {"bounds": None, "higher_is_better": False}},
    )
    one = found_in(run, load_symptoms([(OWN, "own.yaml")]))["too_slow"]
    assert choose_text(one.advice[0].advice, "es") == "Take a smaller one"
    replaced = load_symptoms([(OWN.replace("too_slow", "retrieval_failure"), "own.yaml")])
    assert len(replaced) == len(load_symptoms())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- when: []", "symptom 1 has no name"),
        ("nothing", "a list of symptoms is wanted"),
        ("- symptom: x\n  when: [{metric: recall}]", "is no condition; write {metric: recall, below: 0.8}"),
        ("- symptom: x\n  when: [{class: lazy, above: 1}]", "no failure class 'lazy'"),
        ("- symptom: x\n  when: [{metric: recall, below: 1}]\n  causes: [{cause: a}]", "a cause has `cause` and `advice`"),
        ("- symptom: x\n  when: [{metric: recall, below: 1}]", "no causes"),
        ("- symptom: [", "not YAML"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_of_advice_are_explained(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_symptoms(text, "own.yaml")
    assert any(complaint in one for one in raised.value.complaints)
    assert all(one.startswith("own.yaml") for one in raised.value.complaints)
