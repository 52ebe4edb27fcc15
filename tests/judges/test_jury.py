"""A jury answers every kind of question that its jurors answer."""

from __future__ import annotations

from ragstone import evaluate


def test_a_jury_judges_a_conversation() -> None:
    history = [
        {"role": "user", "content": "Do you sell lamps?"},
        {"role": "assistant", "content": "Yes."},
    ]
    row = {"id": "1", "question": "And chairs?", "messages": history, "answer": "We sell chairs."}
    row |= {"contexts": ["We sell lamps and chairs."]}
    run = evaluate(
        [row], ["faithfulness", "answer_relevance", "completeness"], judge=["offline", "offline"]
    )
    assert {score.outcome for score in run.scores()["1"].values()} == {"ok"}
