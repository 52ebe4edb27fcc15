"""`solve`: answer questions from sources alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ragstone.asks.fences import fence, to_one_line
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    TEXT,
    MatchedBatch,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
    build_rows,
    match_rows,
    pin_ids,
)
from ragstone.asks.rows import (
    align_rows,
    note_disagreement,
    number_cases,
)
from ragstone.asks.schemas import BOOLEAN, STRING, array_of, object_of
from ragstone.asks.types import Ask
from ragstone.types import Chunk


@dataclass(frozen=True, slots=True)
class Problem:
    """Questions to be answered from sources of their own."""

    questions: tuple[str, ...]
    sources: tuple[Chunk, ...]


def solve(*problems: Problem, language: str | None = None) -> Ask:
    """Answer questions from sources alone; question ids are q1, q2, … and source ids k1, k2, … through all cases."""
    cases = number_cases(((p.questions, p.sources) for p in problems), "questions", "q")
    return Ask("solve", {"cases": cases}, SOLVE, language)


SOLVE = object_of(answers=array_of(object_of(id=STRING, told=BOOLEAN, answer=STRING, quote=STRING)))


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


def _vote_on_answers(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Count a question as answered when most jurors found the answer; the first of them is quoted."""
    rows, split = [], 0
    for ballot in align_rows([value["answers"] for value in values], "id"):
        # `told`: whether the juror found the answer in the sources
        answered = [row for row in ballot if row["told"]]
        unanswered = [row for row in ballot if not row["told"]]
        split += bool(answered and unanswered)
        rows.append(answered[0] if len(answered) > len(unanswered) else unanswered[0])
    return {"answers": rows}, note_disagreement(split, len(rows), "jury_split_answers")


KIND = register(
    Kind(
        "solve",
        lambda language: solve(Problem(("x",), (Chunk(text="x"),)), language=language),
        spec=SolveSpec,
        vote=_vote_on_answers,
        is_text=True,
    )
)
