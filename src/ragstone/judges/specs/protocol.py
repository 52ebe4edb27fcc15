"""The interface of prompt specs.

A PromptSpec knows the items of an Ask (claims, sentences, passages) that must each be covered exactly once. A
PromptBatch is one prompt about some of them; it parses the reply to that prompt and says which items it settles."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragstone.asks import Ask
from ragstone.errors import JudgeFault
from ragstone.judges.json_replies import Fit, compile_schema, format_example
from ragstone.locale.messages import compose


@dataclass(slots=True)
class ParsedReply:
    """The items that one reply settles, and what is wrong with it."""

    settled: dict[Hashable, Any] = field(default_factory=dict)
    unproven: set[Hashable] = field(default_factory=set)
    """Settled items worth asking once more: verdicts without the quote that would prove them."""
    fault: str = ""
    """What was wrong, worded for the prompt that asks again; empty when nothing was."""
    unproven_reason: str = ""
    """What is unproven about the unproven items, worded for the same prompt."""
    kind: JudgeFault = "incomplete"
    """How the judge has failed if the fault remains."""


class PromptBatch(Protocol):
    """One prompt about some items of an Ask."""

    @property
    def values(self) -> Mapping[str, str]:
        """Values of the prompt's placeholders."""
        ...

    def parse(self, value: Any) -> ParsedReply:
        """Return what a reply that fits the schema settles; raises JudgeFailed for a compromised judge."""
        ...


class PromptSpec(Protocol):
    """How one kind of Ask is put to a language model, item by item."""

    prompt: str
    """Name of the prompt file."""

    @property
    def items(self) -> Sequence[Hashable]:
        """What must be covered: claims, sentences, pairs of passage and target."""
        ...

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build one prompt about these items, their texts fenced by the nonce."""
        ...

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the value of the reply to the Ask, once all items are settled."""
        ...


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON schema sent along with a prompt, compiled for checking and shown as an example."""

    schema: Mapping[str, Any]
    fit: Fit
    example: str

    def format_example(self, nonce: str) -> str:
        """Return an example of the reply, with the nonce in its place."""
        return self.example.replace(_NONCE_PLACEHOLDER, nonce)


def reply_schema(ask: Ask) -> ReplySchema:
    """Return the schema of the Ask's reply, with the nonce to be echoed in front.

    Schemas are compiled once: a few of them serve all Asks."""
    cached = _SCHEMAS.get(id(ask.schema))
    if cached is None:
        if len(_SCHEMAS) >= _MAX_CACHED_SCHEMAS:
            _SCHEMAS.clear()
        # the Ask's schema is kept too, so that no other object can take over its id
        cached = _SCHEMAS[id(ask.schema)] = (ask.schema, _compile(ask.schema))
    return cached[1]


def _compile(schema: Mapping[str, Any]) -> ReplySchema:
    fields = {"check": {"type": "string"}, **schema["properties"]}
    schema = {**schema, "properties": fields, "required": list(fields)}
    example = format_example(schema, check=_NONCE_PLACEHOLDER)
    return ReplySchema(schema, compile_schema(schema), example)


_SCHEMAS: dict[int, tuple[Mapping[str, Any], ReplySchema]] = {}
_MAX_CACHED_SCHEMAS = 256
_NONCE_PLACEHOLDER = "\u2063check\u2063"


def match_rows(rows: Iterable[tuple[Hashable, Any]], wanted: Sequence[Hashable]) -> ParsedReply:
    """Settle each wanted item that exactly one row is about; others are missing, repeated or invented."""
    rows_of: dict[Hashable, list[Any]] = {}
    for item, row in rows:
        rows_of.setdefault(item, []).append(row)
    known = set(wanted)
    invented = [item for item in rows_of if item not in known]
    if invented:  # a reply that mixes items up settles nothing
        return ParsedReply(fault=compose("item_unknown", items=_format_items(invented[:1])))
    missing = [item for item in wanted if item not in rows_of]
    repeated = [item for item in wanted if len(rows_of.get(item, ())) > 1]
    fault = ""
    if missing:
        fault = compose("items_missing", items=_format_items(missing))
    elif repeated:
        fault = compose("items_repeated", items=_format_items(repeated))
    settled = {item: rows[0] for item, rows in rows_of.items() if len(rows) == 1}
    return ParsedReply(settled, fault=fault)


def _format_items(items: Sequence[Hashable]) -> str:
    names = [" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in items]
    shown = ", ".join(name[:40] for name in names[:5])
    return compose("and_more_items", items=shown, n=len(names) - 5) if len(names) > 5 else shown


@dataclass(frozen=True, slots=True)
class MatchedBatch:
    """A prompt whose reply holds one row for each item."""

    values: Mapping[str, str]
    items: Sequence[Hashable]
    read_rows: Callable[[Any], Iterable[tuple[Hashable, Any]]]
    """Returns item and result of each row of a reply."""

    def parse(self, value: Any) -> ParsedReply:
        """Return the results by item."""
        return match_rows(self.read_rows(value), self.items)
