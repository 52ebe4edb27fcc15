"""What is put before a model for each kind of Ask, and what of its reply counts.

A Form knows the items of an Ask (claims, sentences, passages) that must each be covered exactly once. A Sheet is
one prompt about some of them; it reads the reply to that prompt and says which items it settles."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragstone.asks import Ask
from ragstone.errors import JudgeFault
from ragstone.judges.json_replies import Fit, compile_schema, format_example


@dataclass(slots=True)
class ParsedReply:
    """What one reply settles."""

    settled: dict[Hashable, Any] = field(default_factory=dict)
    unproven: set[Hashable] = field(default_factory=set)
    """Settled, but worth asking once more: a verdict without the quote that would prove it."""
    fault: str = ""
    """What was wrong, in words that fit into a re-ask; empty when nothing was."""
    unproven_reason: str = ""
    """What is unproven about the doubtful items, in such words."""
    kind: JudgeFault = "incomplete"
    """How the judge has failed if the fault remains."""


class PromptBatch(Protocol):
    """One prompt about some items of an Ask."""

    values: Mapping[str, str]
    """What the prompt's placeholders are filled with."""

    def read(self, value: Any) -> ParsedReply:
        """What a reply that fits the schema settles; raises JudgeFailed for a compromised judge."""
        ...


class PromptSpec(Protocol):
    """An Ask as items to be covered."""

    prompt: str
    items: Sequence[Hashable]

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """One prompt about these items."""
        ...

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """The reply to the Ask, all items being settled."""
        ...


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The schema sent along with a question, and how a prompt shows it."""

    schema: Mapping[str, Any]
    fit: Fit
    shape: str

    def shown(self, mark: str) -> str:
        """The schema as an example, with the nonce in its place."""
        return self.shape.replace(_HERE, mark)


def reply_schema(ask: Ask, echo: bool) -> ReplySchema:
    """The schema of the Ask, with the nonce to be echoed in front; a few serve all questions, so they are made once."""
    known = _WIRES.get((id(ask.schema), echo))
    if known is None:
        if len(_WIRES) >= _KEPT_WIRES:
            _WIRES.clear()
        # the Ask's schema is kept too, so that no other object can take over its id
        known = _WIRES[id(ask.schema), echo] = (ask.schema, _wire(ask.schema, echo))
    return known[1]


def _wire(schema: Mapping[str, Any], echo: bool) -> ReplySchema:
    if echo:
        fields = {"check": {"type": "string"}, **schema["properties"]}
        schema = {**schema, "properties": fields, "required": list(fields)}
    return ReplySchema(schema, compile_schema(schema), format_example(schema, check=_HERE))


_WIRES: dict[tuple[int, bool], tuple[Mapping[str, Any], ReplySchema]] = {}
_KEPT_WIRES = 256
_HERE = "\u2063check\u2063"


def match_rows(rows: Iterable[tuple[Hashable, Any]], wanted: Sequence[Hashable]) -> ParsedReply:
    """Each wanted item settled by exactly one row; others are missing, repeated or invented."""
    seen: dict[Hashable, list[Any]] = {}
    for item, row in rows:
        seen.setdefault(item, []).append(row)
    known = set(wanted)
    invented = [item for item in seen if item not in known]
    if invented:  # a reply that mixes things up settles nothing
        return ParsedReply(fault=f"there is no {_named(invented[:1])}")
    missing = [item for item in wanted if item not in seen]
    repeated = [item for item in wanted if len(seen.get(item, ())) > 1]
    fault = ""
    if missing:
        fault = f"it lacked {_named(missing)}"
    elif repeated:
        fault = f"it had {_named(repeated)} more than once"
    settled = {item: rows[0] for item, rows in seen.items() if len(rows) == 1}
    return ParsedReply(settled, fault=fault)


def _named(items: Sequence[Hashable]) -> str:
    words = [" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in items]
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return ", ".join(word[:40] for word in words[:5]) + more
