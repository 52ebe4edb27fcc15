"""How questions about conversations are put to a language model, and which replies are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragstone import prompts
from ragstone.asks import Ask, Exchange, Reply, goal, standalone, turns
from ragstone.asks.kind import build_spec
from ragstone.errors import JudgeFailed
from ragstone.judges.jury import Jury
from ragstone.types import ChatMessage

TALK = [Exchange("How long?", "Two years."), Exchange("Really?", "No, three years.")]
ROWS = [
    {"id": "n1", "addresses": True, "contradicts": "", "quote": "", "reason": ""},
    {"id": "n2", "addresses": True, "contradicts": "n1", "quote": "Two years", "reason": "so"},
]
HISTORY = [ChatMessage("user", "How long?"), ChatMessage("assistant", "Two <<<nonce years.")]


def parse(ask: Ask, **value: Any) -> Any:
    batch = build_spec(ask).build_batch(build_spec(ask).items, "nonce")
    return batch.parse({"check": "nonce", "control": 0, **value})


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    "ask", [standalone("And Pro?", HISTORY), turns(TALK), goal(TALK, "a refund")], ids=lambda a: a.kind
)  # fmt: skip
def test_prompts_show_the_conversation_fenced(ask: Ask, language: str) -> None:
    batch = build_spec(ask).build_batch(build_spec(ask).items, "nonce")
    prompt = prompts.load(ask.kind, language)
    _, user = prompt.fill({**batch.values, "nonce": "nonce", "shape": "{}", "note": ""})
    for text in ("How long?", "years."):
        assert text in user
    assert "Two <<<nonce" not in user
    assert prompt.language == language


def test_a_whole_reply_settles_the_turns() -> None:
    parsed = parse(turns(TALK), turns=ROWS)
    assert (parsed.fault, parsed.unproven) == ("", set())


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (ROWS[:1], "n2"),
        ([ROWS[0], {**ROWS[1], "contradicts": "n9"}], "n9"),
        ([{**ROWS[0], "contradicts": "n2"}, ROWS[1]], "n2"),
    ],
)
def test_turns_that_are_missing_or_come_later_are_a_fault(rows: Any, fault: str) -> None:
    assert fault in parse(turns(TALK), turns=rows).fault


def test_a_contradiction_without_words_is_asked_for_again() -> None:
    parsed = parse(turns(TALK), turns=[ROWS[0], {**ROWS[1], "quote": "Nine years"}])
    assert parsed.settled
    assert parsed.unproven


def test_goals_and_reworded_questions_are_checked() -> None:
    assert not parse(goal(TALK), turn="n2", reason="").fault
    assert "n7" in parse(goal(TALK), turn="n7", reason="").fault
    assert not parse(standalone("And Pro?", HISTORY), question="How long is Pro?").fault
    assert parse(standalone("And Pro?", HISTORY), question=" ").fault


def test_a_judge_that_speaks_of_an_invented_name_is_compromised() -> None:
    with pytest.raises(JudgeFailed) as failed:
        parse(goal(TALK), turn="n2", reason="", control=1)
    assert failed.value.kind == "compromised"


class Juror:
    """Replies with what it is given."""

    name, batch, concurrency, local = "juror", 1, 1, True

    def __init__(self, value: Any) -> None:
        self.value = value

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {"juror": str(self.value)}

    async def answer(self, asks: Any) -> list[Any]:
        return [Reply(self.value) for _ in asks]

    async def close(self) -> None:
        """Nothing to close."""


def vote(ask: Ask, *values: Any) -> Any:
    (answered,) = asyncio.run(Jury([Juror(value) for value in values]).answer([ask]))
    return answered.value


def test_a_jury_decides_by_majority() -> None:
    plain = [ROWS[0], {**ROWS[1], "contradicts": "", "quote": ""}]
    assert vote(turns(TALK), {"turns": ROWS}, {"turns": ROWS}, {"turns": plain})["turns"] == ROWS
    assert vote(turns(TALK), {"turns": ROWS}, {"turns": plain})["turns"][1]["contradicts"] == ""
    reached, missed = {"turn": "n2", "reason": "a"}, {"turn": "", "reason": "b"}
    assert vote(goal(TALK), missed, reached, reached) == reached
    assert vote(goal(TALK), reached, missed) == missed
