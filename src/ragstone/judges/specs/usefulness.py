"""Prompt spec of `useful`: every passage is graded for every target, and among them an invented one that is of no use. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.fences import choose_number, fence
from ragstone.judges.specs.protocol import (
    TEXT,
    ParsedReply,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
    build_rows,
    build_rows_by_id,
    match_rows,
    pin_ids,
)
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose

GRADES = (0, 1, 2)
Pair = tuple[str, str]
"""Id of a passage and name of a target."""


class UsefulSpec:
    """The pairs of passage and target of a `useful` Ask."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.chunks = ask.values["chunks"]
        self.targets = ask.values["targets"]
        self.prompt = "useful_2" if ask.values.get("wording") == 2 else "useful"
        self.items: list[Pair] = [(c["id"], target) for c in self.chunks for target in self.targets]

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the passages and targets of these pairs."""
        pairs = set(items)
        chunks = [c for c in self.chunks if any((c["id"], t) in pairs for t in self.targets)]
        targets = {
            name: text
            for name, text in self.targets.items()
            if any((c["id"], name) in pairs for c in chunks)
        }
        return _UsefulBatch(self.ask, chunks, targets, nonce)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return one grade for each pair, in the order of the Ask."""
        rows = [{"id": item[0], "target": item[1], **settled[item]} for item in self.items]
        return {"grades": rows}

    def find_gap(self, value: Any) -> str:
        """Return which pairs a reply has no grade of, or more than one."""
        rows = (((row["id"], row["target"]), row) for row in value["grades"])
        return match_rows(rows, self.items).fault


class _UsefulBatch:
    """Some passages and targets in one prompt: passages renumbered, an invented one among them."""

    def __init__(
        self,
        ask: Ask,
        chunks: Sequence[Mapping[str, str]],
        targets: Mapping[str, str | None],
        nonce: str,
    ) -> None:
        question = ask.values["question"]
        texts = [question, *(c["text"] for c in chunks), *filter(None, targets.values())]
        probe = {"id": "", "text": make_trap(f"{nonce}:useful", ask.language, texts)}
        at = choose_number(f"{nonce}:place", len(chunks) + 1)
        shown = [*chunks[:at], probe, *chunks[at:]]
        self.passage_of = {f"k{n}": passage["id"] for n, passage in enumerate(shown, 1)}
        """Label in the prompt → id of the passage in the Ask; empty for the invented one."""
        self.targets = list(targets)
        goals = [
            fence(nonce, f"target {name}", text) if text is not None else f"target {name}: open"
            for name, text in targets.items()
        ]
        self.values: Mapping[str, str] = {
            "question": fence(nonce, "question", question),
            "targets": "\n".join(goals),
            "chunks": "\n".join(
                fence(nonce, f"passage k{n}", passage["text"]) for n, passage in enumerate(shown, 1)
            ),
        }
        self.schema = _build_schema(len(shown), tuple(targets))

    def parse(self, value: Any) -> ParsedReply:
        """Return the grades by pair; raises JudgeFailed when the invented passage is graded as high as any other."""
        only = self.targets[0]  # the schema of a single target has no field for it
        rows = [((row["id"], row.get("target", only)), row) for row in value["grades"]]
        pairs = [(label, target) for label in self.passage_of for target in self.targets]
        parsed = match_rows(rows, pairs)
        if parsed.fault:  # labels are not named: those of the next prompt differ
            parsed.fault = compose("passages_mixed_up")
        probe_label = next(label for label, passage in self.passage_of.items() if not passage)
        for target in self.targets:
            grades = self._collect_grades(parsed, target)
            probe = grades.get(probe_label)
            # without its probe no grade of this reply counts; all are asked again
            if probe is None:
                parsed.settled = {}
                return parsed
            if probe > 0 and probe >= max(grades.values()):
                raise JudgeFailed("compromised", "probe_useful")
        parsed.settled = {
            (self.passage_of[pair[0]], pair[1]): {"grade": row["grade"], "reason": row["reason"]}
            for pair in pairs
            if self.passage_of[pair[0]] and (row := parsed.settled.get(pair)) is not None
        }
        return parsed

    def _collect_grades(self, parsed: ParsedReply, target: str) -> dict[str, int]:
        """Label → grade for a target, of the passages that have one."""
        return {
            label: parsed.settled[label, target]["grade"]
            for label in self.passage_of
            if (label, target) in parsed.settled
        }


@lru_cache(maxsize=256)
def _build_schema(count: int, targets: tuple[str, ...]) -> ReplySchema:
    ids = [f"k{n}" for n in range(1, count + 1)]
    result = {"grade": {"type": "integer", "enum": list(GRADES)}, "reason": TEXT}
    if len(targets) == 1:
        return build_reply_schema(grades=build_rows_by_id(ids, **result))
    rows = build_rows(id=pin_ids(ids), target=pin_ids(targets), **result)
    return build_reply_schema(grades=rows)
