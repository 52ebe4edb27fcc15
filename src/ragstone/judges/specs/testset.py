"""The forms of test sets: questions written about sources, and questions answered from them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import fence, to_one_line
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, match_rows


class WriteSpec:
    """One question for each order. What is missing or given twice is the business of whoever ordered:

    a question that a model could not write is worth no second call, and it is counted."""

    prompt = "write"

    def __init__(self, ask: Ask) -> None:
        self.sources = ask.values["sources"]
        self.orders = {order["id"]: order for order in ask.values["orders"]}
        self.items = list(self.orders)

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The sources and the open orders."""
        lines = []
        for name in items:
            order = self.orders[str(name)]
            style = f" ({to_one_line(order['style'])})" if order["style"] else ""
            lines.append(f"{order['id']}: {order['kind']}{style}")
        sources = "\n".join(fence(mark, f"source {s['id']}", s["text"]) for s in self.sources)
        return _WriteBatch({"sources": sources, "orders": "\n".join(lines)}, items)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """What was written, in the order of the orders, repetitions and inventions at the end."""
        return {"items": [row for name in self.items for row in settled[name]]}


class _WriteBatch:
    def __init__(self, values: Mapping[str, str], items: Sequence[Hashable]) -> None:
        self.values = values
        self.items = items

    def read(self, value: Any) -> ParsedReply:
        """Every row as it is, under its order; a row with an unknown id stands under the last one."""
        settled: dict[Hashable, list[Any]] = {name: [] for name in self.items}
        for row in value["items"]:
            settled.get(row["id"], settled[self.items[-1]]).append(row)
        return ParsedReply(dict(settled))


class SolveSpec:
    """Every question is answered, or said not to be told, exactly once."""

    prompt = "solve"

    def __init__(self, ask: Ask) -> None:
        self.cases = ask.values["cases"]
        self.items = [question["id"] for case in self.cases for question in case["questions"]]

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The cases with the questions that are still open."""
        wanted = set(items)
        blocks: list[str] = []
        for case in self.cases:
            questions = [q for q in case["questions"] if q["id"] in wanted]
            if not questions:
                continue
            lines = [f"{q['id']}: {to_one_line(q['text'])}" for q in questions]
            read = [fence(mark, f"source {s['id']}", s["text"]) for s in case["sources"]]
            head = f"case {len(blocks) + 1}"
            blocks.append("\n".join([head, *read, f"<<<{mark} questions", *lines, f"{mark}>>>"]))
        return _SolveBatch({"cases": "\n\n".join(blocks)}, items)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """One answer for each question, in the order of the Ask."""
        return {"answers": [settled[name] for name in self.items]}


class _SolveBatch:
    def __init__(self, values: Mapping[str, str], items: Sequence[Hashable]) -> None:
        self.values = values
        self.items = items

    def read(self, value: Any) -> ParsedReply:
        """Answers by question."""
        return match_rows([(row["id"], row) for row in value["answers"]], self.items)
