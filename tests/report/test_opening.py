"""How a report opens: only sentences that its figures bear, in words of two languages."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.analysis import summarise
from ragstone.analysis.lead import find_lead
from ragstone.judges.offline import OfflineJudge
from ragstone.report.builders.opening import GRADED_FAMILIES, GRADES, build_opening
from ragstone.report.document import Paragraph, to_plain_text
from ragstone.report.words import load_words
from ragstone.text.content import find_closest_sentence
from ragstone.types import Finding, Score

ENGLISH = "The parcel leaves the warehouse on the day that it was ordered and it arrives in a week."
SPANISH = "El paquete sale del almacén el día en que se pide y llega a la casa en una semana."


def build_metric(family: str, **facts: Any) -> dict[str, Any]:
    plain = {
        "higher_is_better": True,
        "bounds": [0.0, 1.0],
        "binary": False,
        "labels": [],
        "meaning": "",
    }
    judged = family not in ("recall", "hit_rate", "token_f1", "latency")
    return {"name": family, "family": family, "judged": judged, **plain, **facts}  # fmt: skip


def open_report(build, values, *, family="faithfulness", judge="openai:m", language="en", text=ENGLISH, **facts):  # fmt: skip
    """The sentences that a run with these values opens with."""
    cases = [
        ({"id": f"q{n}", "question": text, "answer": text}, {family: _score(value)})
        for n, value in enumerate(values)
    ]
    run = build(cases, metrics=(build_metric(family, **facts),), judge=judge)
    nodes, _ = build_opening(run, summarise(run), load_words(language))
    assert isinstance(nodes[0], Paragraph)
    return to_plain_text(nodes[0].text)


def _score(value: float | None) -> Score:
    if value is None:
        return Score(outcome="judge_error", kind="transport", reason="no reply")
    faults = () if value == 1 else (Finding("It is free.", "not_found"),)
    return Score(value, findings=faults)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0] * 100, "Nearly everything that the answers say is in the documents"),
        ([1.0] * 85 + [0.0] * 15, "Answers are mostly grounded"),
        ([1.0] * 50 + [0.0] * 50, "only partly grounded"),
        ([1.0] * 10 + [0.0] * 90, "Little of what the answers say"),
        ([1.0, 0.0, 1.0], "With 3 samples it is too early"),
        ([1.0] * 7 + [0.0] * 3, "With 10 samples it is too early"),
        ([1.0], "With 1 sample it is too early"),
        ([1.0] * 50 + [None] * 50, "Only 50 of 100 samples could be scored"),
    ],
)
def test_the_mean_is_called_only_what_its_whole_interval_bears(build, values, words):
    assert words in open_report(build, values)


def test_the_samples_at_fault_are_counted_and_the_worst_is_named(build):
    said = open_report(build, [1.0] * 188 + [0.5] * 12)
    assert "12 of 200 answers claim something that the documents do not say" in said
    assert said.endswith("the worst is sample q188: “It is free.”")
    assert "claims something" in open_report(build, [1.0] * 9 + [0.0])
    assert "found nothing in the 10 answers" in open_report(build, [1.0] * 10)


def test_the_embedded_judge_is_named_and_not_believed_where_it_agrees_weakly_with_people(build):
    values, judge = [1.0] * 90 + [0.0] * 10, OfflineJudge.name
    assert "by the embedded judge" in open_report(
        build, values, judge=judge, family="answer_relevance"
    )
    never = open_report(
        build, values, judge=judge, family="answer_correctness", text=SPANISH, language="es"
    )
    assert "nunca se ha medido en esto en español" in never
    assert "Las respuestas" not in never.partition(".")[0]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("family", sorted(GRADED_FAMILIES))
def test_every_grade_has_its_words(build, family, language):
    sentences = {
        open_report(build, values, family=family, language=language)
        for values in ([1.0] * 99, [1.0] * 85 + [0.0] * 15, [0.0, 1.0] * 50, [0.0] * 99)
    }
    assert len(sentences) == len(GRADES)


def test_a_metric_without_words_of_its_own_is_given_as_a_number(build):
    said = open_report(build, [0.4, 0.6], family="token_f1", judge=None)
    assert said.startswith("On average: token_f1 0.50")
    assert "The sample to look at first is q0" in said
    slow = open_report(
        build, [1.0, 9.0, 2.0], family="latency", judge=None, bounds=None, higher_is_better=False
    )
    assert "The sample to look at first is q1" in slow


def test_questions_without_a_relevant_document_are_counted(build):
    said = open_report(build, [1.0] * 7 + [0.0] * 3, family="recall", judge=None)
    assert (
        "For 3 of 10 questions no relevant document was retrieved; the first is sample q7" in said
    )


def test_nothing_scored_is_said(build):
    assert open_report(build, [None, None]).startswith("Nothing could be scored")


def test_the_worst_claims_come_from_as_many_samples_as_there_are(build):
    def judge_claims(*claims: tuple[str, str, float]) -> dict[str, Score]:
        findings = tuple(Finding(text, verdict, probability=p) for text, verdict, p in claims)
        return {"faithfulness": Score(0.0, findings=findings)}

    cases = [
        (
            {"id": "many", "question": "q", "answer": "a"},
            judge_claims(*((f"n{n}", "not_found", 0.01) for n in range(9))),
        ),
        ({"id": "unsure", "question": "q", "answer": "a"}, judge_claims(("u", "not_found", 0.4))),
        (
            {"id": "wrong", "question": "q", "answer": "a"},
            judge_claims(("c", "contradicted", 0.2), ("s", "supported", 0.9)),
        ),
    ]
    run = build(cases, metrics=(build_metric("faithfulness"),), judge="openai:m")
    lead = find_lead(run, summarise(run))
    assert lead is not None
    assert lead.faulty == 3
    texts = [claim.finding.text for claim in lead.worst if claim.finding]
    assert texts == ["c", "n0", "u", "n1", "n2"]


def test_the_closest_sentence_shares_most_words():
    texts = ["Lamps are sold here. Lamps ship to Norway in five days.", "Norway is cold."]
    assert find_closest_sentence("We ship lamps to Norway", texts) == (
        0,
        "Lamps ship to Norway in five days.",
    )
    assert find_closest_sentence("Bicycles", texts) is None
    assert find_closest_sentence("Bicycles", []) is None
