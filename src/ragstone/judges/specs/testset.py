"""Prompt specs for test sets: `write` questions about sources, and `solve` them. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import fence, to_one_line
from ragstone.judges.specs.protocol import (
    TEXT,
    MatchedBatch,
    ParsedReply,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
    build_rows,
    match_rows,
    pin_ids,
)


class WriteSpec:
    """One question for each order. Missing and repeated ones are no fault: the caller counts them.

    A question that a model could not write is not worth a second call."""

    prompt = "write"

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.sources = ask.values["sources"]
        self.orders = {order["id"]: order for order in ask.values["orders"]}
        self.items = list(self.orders)

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the sources and these orders."""
        lines = []
        for name in items:
            order = self.orders[str(name)]
            style = f" ({to_one_line(order['style'])})" if order["style"] else ""
            about = f" about {to_one_line(order['about'])!r}" if order.get("about") else ""
            lines.append(f"{order['id']}: {order['kind']}{about}{style}")
        sources = "\n".join(fence(nonce, f"source {s['id']}", s["text"]) for s in self.sources)
        values = {"sources": sources, "orders": "\n".join(lines)}
        return _WriteBatch(values, build_reply_schema(**self.ask.schema["properties"]), items)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the questions in the order of the orders, repeated and unknown ones at the end."""
        return {"items": [row for name in self.items for row in settled[name]]}

    def find_gap(self, value: Any) -> str:
        """Return nothing: the caller counts what is missing."""
        return ""


class _WriteBatch:
    """Orders of one prompt."""

    def __init__(
        self, values: Mapping[str, str], schema: ReplySchema, items: Sequence[Hashable]
    ) -> None:
        self.values = values
        self.schema = schema
        self.items = items

    def parse(self, value: Any) -> ParsedReply:
        """Return the rows by order; a row with an unknown id goes to the last order."""
        settled: dict[Hashable, list[Any]] = {name: [] for name in self.items}
        for row in value["items"]:
            settled.get(row["id"], settled[self.items[-1]]).append(row)
        return ParsedReply(dict(settled))


class SolveSpec:
    """The questions of a `solve` Ask: each is answered, or called unanswerable, exactly once."""

    prompt = "solve"

    def __init__(self, ask: Ask) -> None:
        self.cases = ask.values["cases"]
        self.items = [question["id"] for case in self.cases for question in case["questions"]]

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the cases that these questions belong to."""
        wanted = set(items)
        blocks: list[str] = []
        for case in self.cases:
            questions = [q for q in case["questions"] if q["id"] in wanted]
            if not questions:
                continue
            lines = [f"{q['id']}: {to_one_line(q['text'])}" for q in questions]
            source_blocks = [fence(nonce, f"source {s['id']}", s["text"]) for s in case["sources"]]
            head = f"case {len(blocks) + 1}"
            blocks.append(
                "\n".join([head, *source_blocks, f"<<<{nonce} questions", *lines, f"{nonce}>>>"])
            )
        values = {"cases": "\n\n".join(blocks)}
        return MatchedBatch(
            values, _build_solve_schema(tuple(map(str, items))), items, _read_answers
        )

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return one answer for each question, in the order of the Ask."""
        return {"answers": [settled[name] for name in self.items]}

    def find_gap(self, value: Any) -> str:
        """Return which questions a reply has no answer to, or more than one."""
        return match_rows(_read_answers(value), self.items).fault


def _read_answers(value: Any) -> list[tuple[Hashable, Any]]:
    return [(row["id"], row) for row in value["answers"]]


@lru_cache(maxsize=256)
def _build_solve_schema(ids: tuple[str, ...]) -> ReplySchema:
    # `told`: whether the sources answer the question
    boolean = {"type": "boolean"}
    return build_reply_schema(
        answers=build_rows(id=pin_ids(ids), told=boolean, answer=TEXT, quote=TEXT)
    )
