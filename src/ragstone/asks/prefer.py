"""`prefer`: which of two answers is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from ragstone.asks.choices import (
    Deciding,
    LocalCode,
    build_request,
    fence_texts,
    read_chances,
    read_number,
)
from ragstone.asks.fences import fence
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
)
from ragstone.asks.rows import (
    number_sources,
)
from ragstone.asks.schemas import STRING, enum_of, object_of
from ragstone.asks.types import Ask
from ragstone.locale.messages import compose
from ragstone.types import Chunk


def prefer(
    question: str,
    answers: tuple[str, str],
    *,
    reference: str | None = None,
    sources: Sequence[Chunk] = (),
    language: str | None = None,
) -> Ask:
    """Say which of two answers, A and B in this order, is better for the question, or that neither is."""
    values: dict[str, Any] = {"question": question, "A": answers[0], "B": answers[1]}
    if reference is not None:
        values["reference"] = reference
    if sources:
        values["sources"] = number_sources(sources)
    return Ask("prefer", values, PREFER, language)


PREFER = object_of(reason=STRING, better=enum_of("A", "B", "tie"))


class PreferSpec(WholeSpec):
    """Which of two answers is better; the schema checks all there is to check."""

    prompt = "prefer"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the question, the two answers and what they can be checked against."""
        values = self.ask.values
        texts = [(name, values[name]) for name in ("question", "reference") if name in values]
        texts += [
            (f"source {source['id']}", source["text"]) for source in values.get("sources", ())
        ]
        texts += [(f"answer {name}", values[name]) for name in ("A", "B")]
        filled = {"texts": "\n".join(fence(nonce, name, text) for name, text in texts)}
        return WholeBatch(self, filled, nonce)


PREFERENCES = ("A", "B", "tie")
"""What the options of `choose_prefer` mean."""


def choose_prefer(ask: Ask, code: LocalCode) -> Deciding:
    """Choose the better of two answers, or neither."""
    values = ask.values
    given = [fence_texts(values[name]) for name in ("reference",) if name in values]
    if "sources" in values:
        given.append(fence_texts(*(source["text"] for source in values["sources"])))
    texts = {
        "question": fence_texts(values["question"]),
        "given": "\n".join(given) or "–",
        "first": fence_texts(values["A"]),
        "second": fence_texts(values["B"]),
    }
    request = build_request(code.load_prompt("choose_prefer"), texts)
    (choice,) = yield (request,)
    number = read_number(choice, request)
    chances = read_chances(choice, request)
    if chances is None:
        return {"better": PREFERENCES[number], "reason": ""}
    chance = round(chances[number], 4)
    reason = compose("model_preferred", p=round(chance, 2))
    return {"better": PREFERENCES[number], "reason": reason, "probability": chance}


def _vote_on_preferences(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Prefer what more jurors than not prefer; an equal number each way is a tie."""
    votes = Counter(value["better"] for value in values)
    better = "tie" if votes["A"] == votes["B"] else max("A", "B", key=votes.__getitem__)
    if votes["tie"] > max(votes["A"], votes["B"]):
        better = "tie"
    spokesman = next((value for value in values if value["better"] == better), values[0])
    split = len(votes) > 1
    note = (compose("jury_split_answers", split=1, total=1),) if split else ()
    return {**spokesman, "better": better}, note


KIND = register(
    Kind(
        "prefer",
        lambda language: prefer("x", ("x", "y"), language=language),
        spec=PreferSpec,
        choose=choose_prefer,
        prompts=("choose_prefer",),
        vote=_vote_on_preferences,
    )
)
