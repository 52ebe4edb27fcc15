"""How a report opens: only sentences that its figures bear, in words of two languages."""

from __future__ import annotations

from typing import Any

from paged import run_page
from ragstone.analysis import summarise
from ragstone.analysis.headline import find_headline
from ragstone.judges.offline import OfflineJudge
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
    page = run_page(run, summarise(run), language)
    return page.verdict


def _score(value: float | None) -> Score:
    if value is None:
        return Score(outcome="judge_error", kind="transport", reason="no reply")
    faults = () if value == 1 else (Finding("It is free.", "not_found"),)
    return Score(value, findings=faults)


def test_failures_come_first_with_their_largest_class_and_the_number_after_them(build):
    cases = [
        (
            {
                "id": f"q{n}",
                "question": "How long?",
                "answer": "I do not know.",
                "reference": "A week.",
            }
            if n < 12
            else {"id": f"q{n}", "question": "How long?", "answer": ENGLISH, "reference": ENGLISH},
            {"answer_correctness": Score(float(n >= 12))},
        )
        for n in range(30)
    ]
    run = build(cases, metrics=(build_metric("answer_correctness"),), judge="openai:m")
    page = run_page(run, summarise(run))
    said = page.verdict
    assert said.startswith("12 of 30 samples fail: 12 refuse although there is an answer.")
    assert "answer_correctness is 0.60" in said


def test_the_systems_own_error_comes_first_with_the_first_question(build):
    cases = [
        (
            {"id": f"q{n}", "question": f"Question {n}?", "error": "HTTP 422: no field 'q'"},
            {"faithfulness": Score(outcome="system_error", reason="HTTP 422: no field 'q'")},
        )
        for n in range(5)
    ]
    run = build(cases, metrics=(build_metric("faithfulness"),), judge="openai:m")
    page = run_page(run, summarise(run))
    said = page.verdict
    assert (
        said
        == "The system failed on 5 of 5 questions, first on “Question 0?”: HTTP 422: no field 'q'."
    )


def test_a_healthy_run_says_so_in_one_line(build):
    cases = [
        (
            {"id": f"q{n}", "question": "q", "contexts": ["a"], "relevant": {"a": 1}},
            {"recall": Score(1.0)},
        )
        for n in range(40)
    ]
    run = build(cases, metrics=(build_metric("recall"),))
    page = run_page(run, summarise(run))
    assert page.verdict.startswith("No failure stands out in 40 samples: recall is 1.00")


def test_a_judge_that_was_never_measured_draws_no_conclusion_and_counts_claims(build):
    said = open_report(build, [1.0] * 188 + [0.5] * 12)
    assert said.startswith("faithfulness is 0.97")
    assert said.endswith("In 12 of 200 answers the judge finds a claim at fault.")


def test_a_weak_language_has_a_mark_beside_the_number_and_one_short_note(build):
    never = open_report(
        build,
        [1.0] * 9 + [0.0],
        judge=OfflineJudge.name,
        family="answer_correctness",
        text=SPANISH,
        language="es",
    )
    assert "†" in never


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
    headline = find_headline(run, summarise(run))
    assert headline.faulty == 2, "what is unclear is no fault"
    assert [claim.finding.text for claim in headline.claims] == ["c", "n0", "n1", "n2", "n3"]


def test_the_closest_sentence_shares_most_words():
    texts = ["Lamps are sold here. Lamps ship to Norway in five days.", "Norway is cold."]
    assert find_closest_sentence("We ship lamps to Norway", texts) == (
        0,
        "Lamps ship to Norway in five days.",
    )
    assert find_closest_sentence("Bicycles", texts) is None
    assert find_closest_sentence("Bicycles", []) is None
