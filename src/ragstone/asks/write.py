"""`write`: write test questions about sources."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.asks.fences import fence, to_one_line
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    ParsedReply,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
)
from ragstone.asks.rows import (
    number_sources,
)
from ragstone.asks.schemas import QUOTES, STRING, array_of, enum_of, object_of
from ragstone.asks.types import Ask
from ragstone.types import Chunk


@dataclass(frozen=True, slots=True)
class Order:
    """A test question to be written: its kind, the style or person it is written as, and the name that it goes through."""

    kind: str
    style: str = ""
    about: str = ""


def write(sources: Sequence[Chunk], orders: Sequence[Order], *, language: str | None = None) -> Ask:
    """Write test questions about sources; order ids are q1, q2, … and source ids k1, k2, …"""
    rows = [
        {"id": f"q{n}", "kind": order.kind, "style": order.style}
        | ({"about": order.about} if order.about else {})
        for n, order in enumerate(orders, 1)
    ]
    has_follow_up = any(order.kind == "follow_up" for order in orders)
    schema = WRITE_FOLLOW_UPS if has_follow_up else WRITE
    return Ask("write", {"sources": number_sources(sources), "orders": rows}, schema, language)


_TEST_ITEM = {
    "id": STRING, "question": STRING, "answer": STRING, "evidence": QUOTES,
    "difficulty": enum_of("easy", "medium", "hard"),
}  # fmt: skip


_EARLIER_TURN = {"earlier_question": STRING, "earlier_answer": STRING}


WRITE = object_of(items=array_of(object_of(**_TEST_ITEM)))


WRITE_FOLLOW_UPS = object_of(items=array_of(object_of(**_TEST_ITEM, **_EARLIER_TURN)))


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


KIND = register(
    Kind(
        "write",
        lambda language: write([Chunk(text="x")], [Order("factual")], language=language),
        spec=WriteSpec,
        is_text=True,
    )
)
