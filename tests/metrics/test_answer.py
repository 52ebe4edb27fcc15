"""The answer against its question and its reference."""

from __future__ import annotations

import pytest

from ragstone.errors import JudgeFailed, NotApplicable, UnknownMetric
from ragstone.metrics.answer import (
    answer_correctness,
    answer_relevance,
    answer_similarity,
    completeness,
)
from ragstone.registry import resolve

QUESTION, ANSWER = "Where is it?", "It is in Paris."


def vectors(*rows):
    return {"embed": {"vectors": [list(row) for row in rows]}}


def test_relevance_is_the_mean_cosine_with_the_generated_questions(drive, Script):
    judge = Script(replies=vectors((1, 0), (2, 0), (0, 3), (3, 4)))
    score = drive(answer_relevance(QUESTION, ANSWER), judge)
    assert score.value == pytest.approx((1 + 0 + 0.6) / 3)
    assert score.findings[2].reason == "cosine 0.600 with the question"
    assert judge.asked[-1].values["texts"][0] == QUESTION


def test_a_negative_cosine_counts_as_0(drive, Script):
    judge = Script(replies=vectors((1, 0), (-1, 0), (1, 0), (1, 0)))
    assert drive(answer_relevance(QUESTION, ANSWER), judge).value == pytest.approx(2 / 3)


def test_an_evasive_answer_has_no_relevance_and_needs_no_embedding(drive, Script):
    judge = Script(replies={"questions": {"evasive": True, "questions": []}})
    score = drive(
        answer_relevance(QUESTION, "That is a long story, and everybody tells it differently."),
        judge,
    )
    assert score.value == 0.0
    assert score.findings[0].verdict == "evasive"
    assert [ask.kind for ask in judge.asked] == ["questions"]


def test_an_empty_answer_is_evasive(drive, Script):
    assert drive(answer_relevance(QUESTION, " "), Script()).value == 0.0


def test_the_number_of_questions_is_an_option(drive, Script):
    judge = Script()
    drive(answer_relevance(QUESTION, ANSWER, count=5), judge)
    assert len(judge.asked[-1].values["texts"]) == 6
    with pytest.raises(UnknownMetric, match="from 1"):
        resolve("answer_relevance(count=0)")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"evasive": False, "questions": []}, "incomplete"),
        ({"evasive": False, "questions": ["a?", "b?"]}, "incomplete"),
        ({"evasive": False, "questions": ["a?", "b?", " "]}, "incomplete"),
        ({"evasive": False, "questions": ["a?", "b?", "c?", "d?"]}, "incomplete"),
        ({"evasive": "no", "questions": ["a?", "b?", "c?"]}, "unparseable"),
        ({"questions": ["a?", "b?", "c?"]}, "unparseable"),
        (None, "unparseable"),
    ],
)
def test_questions_come_as_many_as_asked_for(drive, Script, reply, kind):
    with pytest.raises(JudgeFailed) as raised:
        drive(answer_relevance(QUESTION, ANSWER), Script(replies={"questions": reply}))
    assert raised.value.kind == kind


def test_a_judge_without_questions_gives_the_chance_that_each_part_is_addressed(drive, Script):
    parts = [{"part": "where", "probability": 0.9}, {"part": "how high", "probability": 0.2}]
    judge = Script(replies={"questions": {"evasive": False, "addresses": parts}})
    score = drive(answer_relevance(QUESTION, ANSWER), judge)
    assert score.value == pytest.approx(0.55)
    assert [(f.text, f.verdict) for f in score.findings] == [
        ("where", "covered"),
        ("how high", "missing"),
    ]
    assert judge.asked[0].values["question"] == QUESTION


@pytest.mark.parametrize("chance", [1.5, "high", True, float("nan")])
def test_a_chance_that_is_none_gives_no_number(drive, Script, chance):
    rows = [{"part": "where", "probability": chance}]
    judge = Script(replies={"questions": {"evasive": False, "addresses": rows}})
    with pytest.raises(JudgeFailed):
        drive(answer_relevance(QUESTION, ANSWER), judge)


def test_similarity_is_the_cosine_clipped(drive, Script):
    assert drive(
        answer_similarity(ANSWER, "Paris"), Script(replies=vectors((3, 4), (4, 3)))
    ).value == pytest.approx(0.96)
    huge = Script(replies=vectors((1e308, 1e308), (1e308, 1e308)))
    assert drive(answer_similarity(ANSWER, "Paris"), huge).value == pytest.approx(1)


def test_similarity_with_nothing(drive, Script):
    assert drive(answer_similarity("", "Paris"), Script()).value == 0.0
    with pytest.raises(NotApplicable, match="reference is empty"):
        drive(answer_similarity(ANSWER, ""), Script())


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"vectors": [[1.0]]},
        {"vectors": [[1.0], [1.0, 2.0]]},
        {"vectors": [[0.0], [1.0]]},
        {"vectors": [[], []]},
        {"vectors": [["a"], ["b"]]},
        {"vectors": [None, None]},
        {"vectors": [[float("nan")], [1.0]]},
        {"vectors": [[float("inf")], [1.0]]},
        {"vectors": [[10**400], [1.0]]},
    ],
)
def test_vectors_without_a_direction_give_no_number(drive, Script, reply):
    with pytest.raises(JudgeFailed) as raised:
        drive(answer_similarity(ANSWER, "Paris"), Script(replies={"embed": reply}))
    assert raised.value.kind == "unparseable"


PARIS, SIZE, OLD = "It is in Paris.", "It is 300 m high.", "It was built in 1889."


def test_completeness_is_the_share_of_the_references_claims(drive, Script):
    judge = Script(quotes={PARIS: ["in Paris"]})
    score = drive(completeness(QUESTION, "Well, in Paris.", f"{PARIS} {SIZE}"), judge)
    assert score.value == 0.5
    assert [(f.text, f.verdict) for f in score.findings] == [(PARIS, "covered"), (SIZE, "missing")]
    assert score.findings[0].chunk == "answer"
    assert "Well, in Paris."[score.findings[0].start : score.findings[0].end] == "in Paris"


def aspect(name, covered=True, quote=""):
    return {"aspect": name, "covered": covered, "quote": quote}


def test_completeness_without_a_reference_takes_the_questions_aspects(drive, Script):
    rows = [aspect("city", quote="in Paris"), aspect("street", False), aspect("floor", quote="5th")]
    score = drive(completeness(QUESTION, ANSWER), Script(replies={"aspects": {"aspects": rows}}))
    assert score.value == pytest.approx(1 / 3)
    assert [f.verdict for f in score.findings] == ["covered", "missing", "missing"]
    assert [f.verified for f in score.findings] == [True, None, False]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([], "incomplete"),
        ([aspect(" ")], "unparseable"),
        ([{"aspect": "city"}], "unparseable"),
        ([aspect("city", quote="made up"), aspect("street", quote="made up")], "compromised"),
    ],
)
def test_aspects_that_cannot_be_counted(drive, Script, rows, kind):
    with pytest.raises(JudgeFailed) as raised:
        drive(completeness(QUESTION, ANSWER), Script(replies={"aspects": {"aspects": rows}}))
    assert raised.value.kind == kind


def test_an_empty_answer_covers_nothing_and_is_wrong(drive, Script):
    judge = Script()
    assert drive(completeness(QUESTION, "", f"{PARIS} {SIZE}"), judge).value == 0.0
    score = drive(answer_correctness(QUESTION, "", f"{PARIS} {SIZE}"), judge)
    assert score.value == 0.0
    assert [f.verdict for f in score.findings] == ["omission", "omission"]
    assert {ask.kind for ask in judge.asked} == {"claims"}


def test_correctness_is_the_f1_of_matched_claims(drive, Script):
    answer, reference = f"{PARIS} {SIZE} {OLD}", "Paris holds it. Its height is 324 m."
    judge = Script(
        quotes={PARIS: ["Paris holds it"], "Paris holds it.": ["in Paris"]},
        against={SIZE: ["324 m"], "Its height is 324 m.": ["300 m"]},
    )
    counted = drive(answer_correctness(QUESTION, answer, reference, additions="count"), judge)
    assert counted.value == pytest.approx(2 * 1 / (2 * 1 + 2 + 1))  # TP 1, FP 2, FN 1
    score = drive(answer_correctness(QUESTION, answer, reference), judge)
    assert score.value == pytest.approx(2 * 1 / (2 * 1 + 1 + 1))  # the addition is no error
    assert score.findings == counted.findings
    assert [f.verdict for f in score.findings] == ["correct", "error", "addition", "omission"]
    assert [f.chunk for f in score.findings] == ["reference", "reference", "", "answer"]
    assert reference[slice(*score.findings[3].span)] == "Its height is 324 m."


def test_a_sentence_that_says_the_reference_and_more_is_correct(drive, Script):
    longer = "It is in Paris, which everybody knows."
    judge = Script(quotes={PARIS: ["It is in Paris"]})
    score = drive(answer_correctness(QUESTION, f"{longer} {OLD}", PARIS), judge)
    assert score.value == 1.0
    assert [f.verdict for f in score.findings] == ["correct", "addition"]
    counted = drive(
        answer_correctness(QUESTION, f"{longer} {OLD}", PARIS, additions="count"), judge
    )
    assert (
        counted.value == 0.0
    )  # Ragas counts claims that the reference supports, and there is none


def test_several_claims_of_the_reference_in_one_sentence_all_count(drive, Script):
    judge = Script(quotes={PARIS: ["in Paris"], OLD: ["1889"]})
    score = drive(
        answer_correctness(QUESTION, "Built in Paris in 1889.", f"{PARIS} {OLD} {SIZE}"), judge
    )
    assert score.value == pytest.approx(2 * 2 / (2 * 2 + 1))


def test_correctness_is_1_for_the_same_claims_and_0_for_none(drive, Script):
    judge = Script(quotes={PARIS: ["in Paris"]})
    assert drive(answer_correctness(QUESTION, PARIS, PARIS), judge).value == 1.0
    assert drive(answer_correctness(QUESTION, SIZE, PARIS), Script()).value == 0.0


def test_a_bare_reference_goes_with_its_question_and_counts_by_its_probability(drive, Script):
    row = {"id": "c1", "verdict": "not_found", "evidence": [], "reason": "", "probability": 0.25}
    judge = Script(replies={"support": {"verdicts": [row]}})
    score = drive(answer_correctness(QUESTION, ANSWER, "Paris, France"), judge)
    assert score.value == pytest.approx(2 * 0.25 / (2 * 0.25 + 0.75))
    cases = [case for ask in judge.asked if ask.kind == "support" for case in ask.values["cases"]]
    assert [case["question"] for case in cases] == [QUESTION, QUESTION]
    counted = drive(answer_correctness(QUESTION, ANSWER, "Paris", additions="count"), judge)
    assert counted.value == 0.0


def test_whole_sentences_need_no_question(drive, Script):
    judge = Script()
    drive(answer_correctness(QUESTION, ANSWER, OLD), judge)
    drive(answer_correctness(None, "Paris", "Paris"), judge)
    cases = [case for ask in judge.asked if ask.kind == "support" for case in ask.values["cases"]]
    assert not any("question" in case for case in cases)


def test_correctness_mixes_in_similarity_by_weight(drive, Script):
    judge = Script(quotes={PARIS: ["in Paris"]}, replies=vectors((1, 0), (3, 4)))
    score = drive(answer_correctness(QUESTION, PARIS, PARIS, similarity_weight=0.25), judge)
    assert score.value == pytest.approx(0.75 * 1 + 0.25 * 0.6)
    with pytest.raises(UnknownMetric, match=r"0\.\.1"):
        resolve("answer_correctness(similarity_weight=2)")


def test_correctness_of_texts_without_claims_is_not_applicable(drive, Script):
    judge = Script(replies={"claims": {"claims": []}})
    with pytest.raises(NotApplicable, match="answer makes no claim"):
        drive(answer_correctness(QUESTION, "Hm.", PARIS), judge)
    with pytest.raises(NotApplicable, match="reference is empty"):
        drive(answer_correctness(QUESTION, PARIS, ""), Script())
