"""`goal`: at which turn a conversation reaches its goal."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ragstone.asks.fences import fence
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
)
from ragstone.asks.rows import (
    note_disagreement,
)
from ragstone.asks.schemas import STRING, object_of
from ragstone.asks.turns import Exchange, fence_turns, number_turns
from ragstone.asks.types import Ask
from ragstone.locale.messages import compose


def goal(
    conversation: Sequence[Exchange], goal: str | None = None, *, language: str | None = None
) -> Ask:
    """Say at which turn a conversation reaches its goal: the stated one, else what the user first asked for."""
    values = {"turns": number_turns(conversation), "goal": goal}
    return Ask("goal", values, GOAL, language)


GOAL = object_of(reason=STRING, turn=STRING)


class GoalSpec(WholeSpec):
    """The turn that reaches the goal of a conversation."""

    prompt = "goal"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the goal and the turns."""
        goal = self.ask.values["goal"] or self.ask.values["turns"][0]["question"]
        filled = {"goal": fence(nonce, "goal", goal), "turns": fence_turns(self.ask, nonce)}
        return WholeBatch(self, filled, nonce)

    def find_gap(self, value: Any) -> str:
        """Return whether the turn is none of the conversation's."""
        ids = {"", *(turn["id"] for turn in self.ask.values["turns"])}
        return "" if value["turn"] in ids else compose("turn_unknown", turn=value["turn"][:40])


def _vote_on_goal(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Count the goal as reached when most jurors say so, at the turn that the first of them names."""
    reached = [value for value in values if value["turn"]]
    missed = [value for value in values if not value["turn"]]
    winner = (reached if len(reached) > len(missed) else missed)[0]
    return winner, note_disagreement(int(bool(reached and missed)), 1, "jury_split_verdicts")


KIND = register(
    Kind(
        "goal",
        lambda language: goal([Exchange("x", "x")], language=language),
        spec=GoalSpec,
        vote=_vote_on_goal,
    )
)
