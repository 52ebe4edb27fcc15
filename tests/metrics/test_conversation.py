"""Conversation metrics, and how other metrics read a question with its history."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.metrics.answer import answer_relevance, completeness
from ragstone.metrics.context import context_relevance
from ragstone.metrics.conversation import goal_reached, knowledge_kept, topic_kept, turns_needed
from ragstone.metrics.grounding import faithfulness
from ragstone.types import ChatMessage, ToolStep, chunks

HISTORY = (
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "How long is the warranty of the Basic plan?"),
    ChatMessage("assistant", "Two years."),
)
QUESTION, ANSWER = "And the Pro plan?", "Three years."
FIELDS: Any = (QUESTION, ANSWER, HISTORY, {})


def row(name: str, **values: Any) -> dict[str, Any]:
    plain = {"addresses": True, "contradicts": "", "quote": "", "reason": ""}
    return {"id": name, **plain, **values}


def test_the_goal_is_reached_at_the_turn_that_the_judge_names(drive, Script):
    judge = Script(replies={"goal": {"turn": "n2", "reason": "told"}})
    score = drive(goal_reached(*FIELDS), judge)
    assert (score.value, score.findings[0].verdict, score.findings[0].chunk) == (
        1.0,
        "reached",
        "turn 2",
    )
    assert drive(turns_needed(*FIELDS), judge).value == 2
    assert [turn["question"] for turn in judge.asked[0].values["turns"]] == [
        "How long is the warranty of the Basic plan?",
        QUESTION,
    ]


def test_a_goal_that_is_missed_needs_no_number_of_turns(drive, Script):
    judge = Script(replies={"goal": {"turn": "", "reason": "declined"}})
    assert drive(goal_reached(*FIELDS), judge).value == 0
    with pytest.raises(NotApplicable, match="goal is not reached"):
        drive(turns_needed(*FIELDS), judge)


def test_a_stated_goal_reaches_the_judge(drive, Script):
    judge = Script()
    score = drive(goal_reached(QUESTION, ANSWER, HISTORY, {"goal": "a table is booked"}), judge)
    assert judge.asked[0].values["goal"] == "a table is booked"
    assert score.findings[0].text == "a table is booked"


def test_turns_that_contradict_and_stray_count(drive, Script):
    rows = [row("n1"), row("n2", addresses=False, contradicts="n1", quote="Two years")]
    judge = Script(replies={"turns": {"turns": rows}})
    kept = drive(knowledge_kept(*FIELDS), judge)
    assert kept.value == 0.5
    assert (kept.findings[1].chunk, kept.findings[1].verified) == ("turn 1", True)
    assert drive(topic_kept(*FIELDS), judge).value == 0.5


def test_a_contradiction_needs_words_of_the_earlier_answer(drive, Script):
    rows = [row("n1"), row("n2", contradicts="n1", quote="Nine years")]
    score = drive(knowledge_kept(*FIELDS), Script(replies={"turns": {"turns": rows}}))
    assert (score.value, score.findings[1].verified) == (1.0, False)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([row("n1")], "incomplete"),
        ([row("n1"), row("n2", contradicts="n7")], "incomplete"),
        ([row("n1"), row("n2", contradicts=None)], "unsupported"),
        ([row("n1"), row("n2", addresses="yes")], "unparseable"),
    ],
)
def test_a_faulty_reply_is_no_score(drive, Script, rows, problem):
    with pytest.raises(JudgeFailed) as failed:
        drive(knowledge_kept(*FIELDS), Script(replies={"turns": {"turns": rows}}))
    assert failed.value.kind == problem


def test_a_conversation_is_judged_at_its_end_alone(drive, Script):
    with pytest.raises(NotApplicable, match="judged at its end"):
        drive(goal_reached(QUESTION, ANSWER, HISTORY, {"turn": 1, "turns": 3}), Script())
    with pytest.raises(NotApplicable, match="single turn"):
        drive(knowledge_kept(QUESTION, ANSWER, (), {}), Script())
    with pytest.raises(NotApplicable, match="no turn"):
        drive(topic_kept(QUESTION, " ", (), {}), Script())


def test_metrics_read_the_question_with_its_history(drive, Script):
    reworded = "How long is the warranty of the Basic plan? And the Pro plan?"
    judge = Script()
    drive(context_relevance(QUESTION, chunks({"text": "Pro: three years"}), None, HISTORY), judge)
    drive(completeness(QUESTION, "It lasts three years.", None, None, HISTORY), judge)
    drive(answer_relevance(QUESTION, "It lasts three years.", None, HISTORY), judge)
    kinds = [ask.kind for ask in judge.asked]
    assert kinds.count("standalone") == 3
    assert {a.values["question"] for a in judge.asked if a.kind in ("useful", "aspects")} == {
        reworded
    }
    assert next(a for a in judge.asked if a.kind == "embed").values["texts"][0] == reworded
    shown = judge.asked[0].values["history"]
    assert [message["role"] for message in shown] == ["user", "assistant"]


def test_the_first_question_needs_no_rewording(drive, Script):
    judge = Script()
    system = (ChatMessage("system", "Be brief."),)
    drive(completeness(QUESTION, ANSWER, None, None, system), judge)
    assert [ask.kind for ask in judge.asked] == ["aspects"]


def test_faithfulness_reads_the_history_only_for_a_bare_answer(drive, Script):
    judge = Script()
    drive(
        faithfulness(
            "The Pro plan has three years.", chunks({"text": "x"}), "en", QUESTION, HISTORY
        ),
        judge,
    )
    assert "standalone" not in {ask.kind for ask in judge.asked}
    drive(faithfulness("Three years.", chunks({"text": "x"}), "en", QUESTION, HISTORY), judge)
    assert "standalone" in {ask.kind for ask in judge.asked}


def test_results_of_tools_count_as_contexts(drive, Script):
    claim = "The order left on Monday."
    judge = Script(quotes={claim: ["left on Monday"]})
    step = ToolStep("track", {"id": 7}, "order 7 left on Monday")
    score = drive(faithfulness(claim, chunks(), "en", None, None, (step,)), judge)
    assert (score.value, score.findings[0].chunk) == (1.0, "track")
    assert drive(faithfulness(claim, chunks(), "en"), Script()).value == 0
