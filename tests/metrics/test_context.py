"""What was retrieved: relevance, precision, recall of the chunks."""

from __future__ import annotations

import pytest

from ragstone.errors import JudgeFailed, MissingField, NotApplicable
from ragstone.metrics.context import (
    context_precision,
    context_precision_unreferenced,
    context_recall,
    context_relevance,
)
from ragstone.types import Chunk, Ranked, chunks

QUESTION = "Who built it?"
THREE = Ranked([Chunk("x", "Not this."), Chunk("y", "Useful one."), Chunk("", "Useful two.")])
GRADES = {"Useful one.": 2, "Useful two.": 1}


def test_precision_of_the_worked_example(drive, Script):
    score = drive(context_precision(QUESTION, THREE, "Eiffel."), Script(grades=GRADES))
    assert score.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert round(score.value, 3) == 0.583
    assert [f.verdict for f in score.findings] == ["not_useful", "useful", "partly_useful"]
    assert [f.chunk for f in score.findings] == ["x", "y", "3"]


def test_precision_against_the_answer_asks_about_the_answer(drive, Script):
    judge = Script(grades=GRADES)
    score = drive(context_precision_unreferenced(QUESTION, THREE, "Mr Eiffel."), judge)
    assert round(score.value, 3) == 0.583
    assert judge.asked[0].values["targets"] == {"answer": "Mr Eiffel."}


def test_no_useful_chunk_is_0(drive, Script):
    assert drive(context_precision(QUESTION, THREE, "Eiffel."), Script()).value == 0.0


def test_recall_of_the_worked_example(drive, Script):
    claims = ["One is red.", "Two is blue.", "Three is green.", "Four is black."]
    contexts = chunks(
        {"id": "a", "text": "red it is, and blue"}, {"id": "b", "text": "green they are"}
    )
    quotes = (["red it is"], ["and blue"], ["green they are"])
    judge = Script(quotes=dict(zip(claims, quotes, strict=False)))
    score = drive(context_recall(contexts, " ".join(claims)), judge)
    assert score.value == 0.75
    assert [f.chunk for f in score.findings] == ["a", "a", "b", ""]


def test_recall_without_claims_in_the_reference_is_not_applicable(drive, Script):
    with pytest.raises(NotApplicable, match="reference makes no claim"):
        drive(context_recall(THREE, "Hm."), Script(replies={"claims": {"claims": []}}))


def test_relevance_of_all_chunks_together_is_the_grade_of_one_text(drive, Script):
    contexts = Ranked([*THREE[1:], Chunk("e", " "), Chunk("q", QUESTION)])
    judge = Script(grades={"Useful one.\n\nUseful two.": 2})
    score = drive(context_relevance(QUESTION, contexts, together=True), judge)
    assert score.value == 1.0
    assert [finding.chunk for finding in score.findings] == ["y, 2"]
    for nothing in (Ranked(), Ranked([Chunk("q", QUESTION)])):
        assert drive(context_relevance(QUESTION, nothing, together=True), Script()).value == 0.0


def test_relevance_averages_two_wordings(drive, Script):
    contexts = Ranked([Chunk("a", "One."), Chunk("b", "Two.")])

    def judge(ask):
        grades = ({1: 2, 2: 1}, {1: 0, 2: 1})
        given = [by_wording[ask.values["wording"]] for by_wording in grades]
        rows = [
            {"id": f"k{n}", "target": "question", "grade": grade, "reason": f"w{grade}"}
            for n, grade in enumerate(given, 1)
        ]
        return {"grades": rows}

    score = drive(context_relevance(QUESTION, contexts), judge)
    assert score.value == pytest.approx((1.5 + 0.5) / 2 / 2)
    assert [f.verdict for f in score.findings] == ["relevant", "partly_relevant"]
    assert score.findings[0].reason == "2 of 2: w2; 1 of 2: w1"


def test_an_empty_chunk_and_the_question_itself_are_worth_nothing_and_not_asked(drive, Script):
    contexts = Ranked([Chunk("a", " "), Chunk("b", "who  BUILT it?"), Chunk("c", "Useful one.")])
    judge = Script(grades={**GRADES, "who  BUILT it?": 2})
    score = drive(context_relevance(QUESTION, contexts), judge)
    assert score.value == pytest.approx(1 / 3)
    assert [f.reason for f in score.findings[:2]] == [
        "0 of 2: the chunk is empty",
        "0 of 2: the chunk is the question itself",
    ]
    assert [chunk["text"] for chunk in judge.asked[0].values["chunks"]] == ["Useful one."]


def test_a_retrieval_of_only_the_question_is_0_without_a_call(drive, Script):
    judge = Script()
    assert drive(context_relevance(QUESTION, Ranked([Chunk("", QUESTION)])), judge).value == 0.0
    assert judge.asked == []


def test_nothing_retrieved_is_0_without_a_call(drive, Script):
    judge = Script()
    for metric in (
        context_relevance(QUESTION, Ranked()),
        context_precision(QUESTION, Ranked(), "Eiffel."),
        context_precision_unreferenced(QUESTION, Ranked(), "Eiffel."),
    ):
        score = drive(metric, judge)
        assert score.value == 0.0
        assert score.warnings == ("nothing was retrieved",)
    assert judge.asked == []
    recall = drive(context_recall(Ranked(), "It is red. It is blue."), judge)
    assert recall.value == 0.0
    assert len(recall.findings) == 2


def test_ids_without_texts_lack_a_field(drive, Script):
    with pytest.raises(MissingField):
        drive(context_relevance(QUESTION, chunks("d1")), Script())


def test_an_empty_target_is_not_applicable(drive, Script):
    for metric in (
        context_precision(QUESTION, THREE, ""),
        context_precision_unreferenced(QUESTION, THREE, " "),
        context_relevance("", THREE),
        context_recall(THREE, ""),
    ):
        with pytest.raises(NotApplicable, match="is empty"):
            drive(metric, Script())


def grade(identifier, grade=1, target="reference"):
    return {"id": identifier, "target": target, "grade": grade, "reason": ""}


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([grade("k1"), grade("k2")], "incomplete"),
        ([grade("k1"), grade("k2"), grade("k2")], "incomplete"),
        ([grade("k1"), grade("k2"), grade("k3"), grade("k4")], "incomplete"),
        ([grade("k1"), grade("k2"), grade("k3", target="question")], "incomplete"),
        ([grade("k1"), grade("k2"), grade("k3", 3)], "unparseable"),
        ([grade("k1"), grade("k2"), grade("k3", True)], "unparseable"),
        ([grade("k1"), grade("k2"), grade("k3", 1.5)], "unparseable"),
    ],
)
def test_every_chunk_is_graded_exactly_once(drive, Script, rows, kind):
    judge = Script(replies={"useful": {"grades": rows}})
    with pytest.raises(JudgeFailed) as raised:
        drive(context_precision(QUESTION, THREE, "Eiffel."), judge)
    assert raised.value.kind == kind


def test_a_finding_repeats_only_the_opening_of_a_long_chunk(drive, Script):
    long = Ranked([Chunk("a", "word " * 500)])
    (finding,) = drive(context_precision(QUESTION, long, "Eiffel."), Script()).findings
    assert len(finding.text) == 120
    assert finding.text.endswith("…")
