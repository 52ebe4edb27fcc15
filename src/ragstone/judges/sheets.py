"""What is put before a model for each kind of Ask, and what of its reply counts.

A Form knows the items of an Ask (claims, sentences, passages) that must each be covered exactly once. A Sheet is
one prompt about some of them; it reads the reply to that prompt and says which items it settles."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragstone.asks import Ask
from ragstone.errors import JudgeFault
from ragstone.judges.documents import shape


@dataclass(slots=True)
class Sifted:
    """What one reply settles."""

    settled: dict[Hashable, Any] = field(default_factory=dict)
    doubtful: set[Hashable] = field(default_factory=set)
    """Settled, but worth asking once more: a verdict without the quote that would prove it."""
    fault: str = ""
    """What was wrong, in words that fit into a re-ask; empty when nothing was."""
    doubt: str = ""
    """What is unproven about the doubtful items, in such words."""
    kind: JudgeFault = "incomplete"
    """How the judge has failed if the fault remains."""


class Sheet(Protocol):
    """One prompt about some items of an Ask."""

    values: Mapping[str, str]
    """What the prompt's placeholders are filled with."""

    def read(self, value: Any) -> Sifted:
        """What a reply that fits the schema settles; raises JudgeFailed for a compromised judge."""
        ...


class Form(Protocol):
    """An Ask as items to be covered."""

    prompt: str
    items: Sequence[Hashable]

    def sheet(self, items: Sequence[Hashable], mark: str, trapped: bool) -> Sheet:
        """One prompt about these items."""
        ...

    def reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """The reply to the Ask, all items being settled."""
        ...


def wire_schema(ask: Ask, echo: bool) -> dict[str, Any]:
    """The schema sent along: that of the Ask, with the nonce to be echoed in front."""
    if not echo:
        return dict(ask.schema)
    fields = {"check": {"type": "string"}, **ask.schema["properties"]}
    return {**ask.schema, "properties": fields, "required": list(fields)}


def shown_shape(schema: Mapping[str, Any], mark: str) -> str:
    """The wire schema as an example, with the nonce in its place."""
    key = str(schema)
    if key not in _SHAPES:
        if len(_SHAPES) > 1000:
            _SHAPES.clear()
        _SHAPES[key] = shape(schema, check=_HERE)
    return _SHAPES[key].replace(_HERE, mark)


_SHAPES: dict[str, str] = {}
_HERE = "\u2063check\u2063"


def covered(rows: Iterable[tuple[Hashable, Any]], wanted: Sequence[Hashable]) -> Sifted:
    """Each wanted item settled by exactly one row; others are missing, repeated or invented."""
    seen: dict[Hashable, list[Any]] = {}
    for item, row in rows:
        seen.setdefault(item, []).append(row)
    known = set(wanted)
    invented = [item for item in seen if item not in known]
    if invented:  # a reply that mixes things up settles nothing
        return Sifted(fault=f"there is no {_named(invented[:1])}")
    missing = [item for item in wanted if item not in seen]
    repeated = [item for item in wanted if len(seen.get(item, ())) > 1]
    fault = ""
    if missing:
        fault = f"it lacked {_named(missing)}"
    elif repeated:
        fault = f"it had {_named(repeated)} more than once"
    settled = {item: rows[0] for item, rows in seen.items() if len(rows) == 1}
    return Sifted(settled, fault=fault)


def _named(items: Sequence[Hashable]) -> str:
    words = [" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in items]
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return ", ".join(word[:40] for word in words[:5]) + more
