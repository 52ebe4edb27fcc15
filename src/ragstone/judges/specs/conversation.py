"""Prompt specs of Asks about a conversation: standalone, turns, goal. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import fence
from ragstone.judges.specs.protocol import PromptBatch, match_rows
from ragstone.judges.specs.whole import WholeBatch, WholeSpec
from ragstone.locale.messages import compose
from ragstone.text.evidence import find_quote


class StandaloneSpec(WholeSpec):
    """A question reworded so that it needs no history."""

    prompt = "standalone"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the messages before and the question."""
        values = self.ask.values
        history = [
            fence(nonce, message["role"], message["content"]) for message in values["history"]
        ]
        filled = {
            "history": "\n".join(history),
            "question": fence(nonce, "question", values["question"]),
        }
        return WholeBatch(self, filled, nonce)

    def find_gap(self, value: Any) -> str:
        """Return what is wrong with the reworded question."""
        return "" if value["question"].strip() else compose("question_empty")


class TurnsSpec(WholeSpec):
    """Each turn of a conversation: whether it keeps to the question, and what it contradicts."""

    prompt = "turns"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the turns."""
        return WholeBatch(self, {"turns": _fence_turns(self.ask, nonce)}, nonce)

    def find_gap(self, value: Any) -> str:
        """Return which turn is missing or contradicts one that does not come before it."""
        ids = [turn["id"] for turn in self.ask.values["turns"]]
        fault = match_rows(((row["id"], row) for row in value["turns"]), ids).fault
        for row in value["turns"] if not fault else ():
            if row["contradicts"] and row["contradicts"] not in ids[: ids.index(row["id"])]:
                return compose("turn_unknown", turn=row["contradicts"][:40])
        return fault

    def find_doubt(self, value: Any) -> str:
        """Return which contradiction has no quote that stands in the earlier answer."""
        answers = {turn["id"]: turn["answer"] for turn in self.ask.values["turns"]}
        for row in value["turns"]:
            earlier = answers.get(row["contradicts"])
            if earlier is not None and find_quote(row["quote"], earlier) is None:
                return compose("contradiction_unproven", turn=row["id"])
        return ""


class GoalSpec(WholeSpec):
    """The turn that reaches the goal of a conversation."""

    prompt = "goal"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the goal and the turns."""
        goal = self.ask.values["goal"] or self.ask.values["turns"][0]["question"]
        filled = {"goal": fence(nonce, "goal", goal), "turns": _fence_turns(self.ask, nonce)}
        return WholeBatch(self, filled, nonce)

    def find_gap(self, value: Any) -> str:
        """Return whether the turn is none of the conversation's."""
        ids = {"", *(turn["id"] for turn in self.ask.values["turns"])}
        return "" if value["turn"] in ids else compose("turn_unknown", turn=value["turn"][:40])


def _fence_turns(ask: Ask, nonce: str) -> str:
    return "\n".join(
        fence(nonce, f"turn {turn['id']}, {role}", turn[field])
        for turn in ask.values["turns"]
        for role, field in (("user", "question"), ("assistant", "answer"))
    )
