"""Prompt spec of `useful`: every passage is graded for every target."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import fence
from ragstone.judges.specs.protocol import MatchedBatch, PromptBatch


class UsefulSpec:
    """The pairs of passage and target of a `useful` Ask."""

    def __init__(self, ask: Ask) -> None:
        self.question = ask.values["question"]
        self.chunks = ask.values["chunks"]
        self.targets = ask.values["targets"]
        self.prompt = "useful_2" if ask.values.get("wording") == 2 else "useful"
        self.items = [(c["id"], target) for c in self.chunks for target in self.targets]

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build the prompt of the passages and targets of these pairs."""
        pairs = set(items)
        chunks = [c for c in self.chunks if any((c["id"], t) in pairs for t in self.targets)]
        targets = [t for t in self.targets if any((c["id"], t) in pairs for c in chunks)]
        goals = [
            fence(nonce, f"target {name}", self.targets[name])
            if self.targets[name] is not None
            else f"target {name}: = question"
            for name in targets
        ]
        values = {
            "question": fence(nonce, "question", self.question),
            "targets": "\n".join(goals),
            "chunks": "\n".join(fence(nonce, f"passage {c['id']}", c["text"]) for c in chunks),
        }
        # the prompt asks for every combination, which may be more than the wanted pairs
        combinations = [(c["id"], target) for c in chunks for target in targets]
        return MatchedBatch(values, combinations, _read_rows)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return one grade for each pair, in the order of the Ask."""
        rows = [{"id": item[0], "target": item[1], **settled[item]} for item in self.items]
        return {"grades": rows}


def _read_rows(value: Any) -> list[tuple[Hashable, Any]]:
    return [
        ((row["id"], row["target"]), {"grade": row["grade"], "reason": row["reason"]})
        for row in value["grades"]
    ]
