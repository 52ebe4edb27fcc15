"""The interface of prompt specs.

A PromptSpec knows the items of an Ask (claims, sentences, passages) that must each be covered exactly once. A
PromptBatch is one prompt about some of them; it parses the reply to that prompt and says which items it settles. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from ragstone.asks.json_replies import Fit, compile_schema, format_example
from ragstone.asks.traps import make_name
from ragstone.asks.types import Ask
from ragstone.errors import JudgeFailed, JudgeFault
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
    code: str = "reply_unusable"
    """Code of the message that then says so."""


class PromptBatch(Protocol):
    """One prompt about some items of an Ask."""

    @property
    def values(self) -> Mapping[str, str]:
        """Values of the prompt's placeholders."""
        ...

    @property
    def schema(self) -> ReplySchema:
        """The schema of the reply to this prompt, with the ids that may occur in it."""
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
        """What must be covered by the model: claims, sentences, pairs of passage and target."""
        ...

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build one prompt about these items, their texts fenced by the nonce, with a probe of known answer."""
        ...

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the value of the reply to the Ask, once all items are settled."""
        ...

    def find_gap(self, value: Any) -> str:
        """Return what a reply in the Ask's own schema lacks or has too much; empty when it is whole."""
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


def build_reply_schema(**fields: Mapping[str, Any]) -> ReplySchema:
    """Build the schema of a reply with these fields and the nonce to be echoed in front.

    Each spec caches what it builds: the ids of a prompt are few and much the same from one to the next."""
    schema = build_object(check={"type": "string"}, **fields)
    example = format_example(schema, check=_NONCE_PLACEHOLDER)
    return ReplySchema(schema, compile_schema(schema), example)


def build_object(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of an object with these fields, all required."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def build_rows(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of a list of objects with these fields."""
    return {"type": "array", "items": build_object(**fields)}


def build_rows_by_id(ids: Sequence[str], **fields: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of one object for each id, under the id: a server that enforces it lets none be left out.

    It is read as a list of rows with an `id`, and is asked for as one where there are too many ids."""
    if len(ids) > MAX_KEYED_IDS:
        return build_rows(id=pin_ids(ids), **fields)
    row = build_object(**fields)
    return build_object(**dict.fromkeys(ids, row))


def pin_ids(ids: Sequence[str]) -> dict[str, Any]:
    """Build the schema of an id that is one of these, which servers then enforce."""
    if len(ids) > MAX_PINNED_IDS:
        return dict(TEXT)
    return {"type": "string", "enum": list(ids)}


TEXT: Mapping[str, Any] = {"type": "string"}
MAX_KEYED_IDS = 16
"""Ids that a schema has as keys: some servers allow a schema a hundred fields in all, and each row has up to six."""
MAX_PINNED_IDS = 200
"""Ids that a schema lists: servers limit the choices of a schema, and more ids are checked here alone."""
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
    schema: ReplySchema
    items: Sequence[Hashable]
    read_rows: Callable[[Any], Iterable[tuple[Hashable, Any]]]
    """Returns item and result of each row of a reply."""

    def parse(self, value: Any) -> ParsedReply:
        """Return the results by item."""
        return match_rows(self.read_rows(value), self.items)


WHOLE = "reply"
"""The only item of an Ask that is answered as a whole."""


class WholeSpec:
    """An Ask with a single item: one reply settles it or does not."""

    prompt = ""
    items: Sequence[Hashable] = (WHOLE,)

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the reply as it is."""
        return settled[WHOLE]

    def find_gap(self, value: Any) -> str:
        """Return what is wrong with a reply that fits its schema; empty when nothing is."""
        return ""

    def find_doubt(self, value: Any) -> str:
        """Return what of a sound reply is not proven, and so worth asking once more."""
        return ""


class WholeBatch:
    """A prompt whose reply is used as a whole.

    Its probe is a control question of known answer: whether the material speaks of a name that was invented just now."""

    def __init__(self, spec: WholeSpec, values: Mapping[str, str], nonce: str) -> None:
        self.spec, ask = spec, spec.ask
        # as text, which a cache can take; in the order of the schema, in which the prompt shows the fields
        self.schema = _build_whole_schema(json.dumps(ask.schema["properties"]))
        self.values = {**values, "control": make_name(f"{nonce}:control", list(values.values()))}

    def parse(self, value: Any) -> ParsedReply:
        """Settle the Ask with the whole reply, or not at all; raises JudgeFailed when the control is answered wrongly."""
        if value.pop("control"):
            raise JudgeFailed("compromised", "control_wrong", name=self.values["control"])
        fault = self.spec.find_gap(value)
        if fault:
            return ParsedReply(fault=fault)
        doubt = self.spec.find_doubt(value)
        return ParsedReply({WHOLE: value}, {WHOLE} if doubt else set(), unproven_reason=doubt)


@lru_cache(maxsize=256)
def _build_whole_schema(properties: str) -> ReplySchema:
    return build_reply_schema(**json.loads(properties), control={"type": "integer", "enum": [0, 1]})
