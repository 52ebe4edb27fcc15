"""Parsing of what a system returns: texts, dicts, objects and framework responses become a SystemReply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ragstone.data.chunks import (
    MISSING,
    find_document_id,
    find_text,
    get_first,
    get_metadata,
    unwrap_node,
)
from ragstone.data.messages import to_steps
from ragstone.data.rows import get_path
from ragstone.data.strict_json import BadRow
from ragstone.systems.conversations import read_conversation
from ragstone.systems.fields import (
    ANSWER_KEYS,
    CONTEXT_ID_KEYS,
    CONTEXT_KEYS,
    MEASURE_KEYS,
    STEP_KEYS,
    sum_tokens,
)
from ragstone.systems.haystack import merge_outputs
from ragstone.systems.protocol import SystemFault, SystemReply
from ragstone.types import Chunk, Ranked, Steps


def parse_reply(value: Any, id_from: str | None = None) -> SystemReply:
    """Parse what a system returned; SystemFault when nothing in it can be judged.

    A text is the answer, a list the contexts, a pair both; anything else is searched for the known keys."""
    if isinstance(value, SystemReply):
        return value
    if value is None:
        raise SystemFault("system_returned_nothing")
    if isinstance(value, str):
        return SystemReply(value)
    # before the list below: `("answer", [contexts])` is a pair, not two contexts
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return SystemReply(value[0], parse_contexts(value[1], None, id_from))
    if isinstance(value, list | tuple):
        return SystemReply(None, parse_contexts(value, None, id_from))
    return _parse_fields(_unwrap_outputs(value), id_from)


def _unwrap_outputs(value: Any) -> Any:
    """Unwrap what a Haystack pipeline returns: a mapping of each component's outputs; a component returns its own."""
    if not isinstance(value, Mapping) or not value:
        return value
    if isinstance(value.get("replies"), list):
        return merge_outputs({"": value})
    is_nested = all(isinstance(item, Mapping) for item in value.values())
    return merge_outputs(value) if is_nested else value


def _parse_fields(value: Any, id_from: str | None) -> SystemReply:
    """Parse the known keys of a mapping, or attributes of an object."""
    error = get_first(value, ("error",))
    if error and isinstance(error, str):
        raise SystemFault(error)
    answer, contexts, ids = (
        get_first(value, ANSWER_KEYS),
        get_first(value, CONTEXT_KEYS),
        get_first(value, CONTEXT_ID_KEYS),
    )
    measured = {name: get_first(value, names) for name, names in MEASURE_KEYS.items()}
    steps = _parse_steps(get_first(value, STEP_KEYS))
    conversation = read_conversation(value) if answer is MISSING else None
    if conversation is not None:
        answer, steps = conversation.answer, steps or conversation.steps
        contexts = conversation.contexts if contexts is MISSING else contexts
        if measured["tokens"] is MISSING:
            measured["tokens"] = conversation.tokens
    if answer is MISSING and contexts is MISSING and ids is MISSING:
        content = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise SystemFault(
            "system_reply_unknown", found=content[:200], example='{"answer": …, "contexts": […]}'
        )
    answer, contexts, ids = (None if part is MISSING else part for part in (answer, contexts, ids))
    return _add_steps(build_reply(answer, contexts, ids, measured, id_from), steps)


def _add_steps(reply: SystemReply, steps: Steps | None) -> SystemReply:
    """Add the steps; what tools returned is what the answer stands on, so without other contexts it is these."""
    results = [Chunk(step.tool, step.result) for step in steps or () if step.result]
    chunks = Ranked(results) if reply.contexts is None and results else reply.contexts
    return replace(reply, steps=steps, contexts=chunks)


def _parse_steps(value: Any) -> Steps | None:
    if value is MISSING or value is None:
        return None
    try:
        return to_steps(value, "steps")
    except BadRow as bad:
        raise SystemFault(str(bad)) from None


def build_reply(
    answer: Any, contexts: Any, ids: Any, measured: Mapping[str, Any], id_from: str | None = None
) -> SystemReply:
    """Build a reply from its parts, each of them checked."""
    text = parse_answer(answer)
    # no contexts at all is None, not an empty list: nothing is known of the retrieval
    chunks = (
        parse_contexts(contexts, ids, id_from) if contexts is not None or ids is not None else None
    )
    if text is None and chunks is None:
        raise SystemFault("system_answer_null")
    amounts = {name: _to_amount(value, name) for name, value in measured.items()}
    return SystemReply(
        text, chunks,
        latency=amounts.get("latency"), tokens=amounts.get("tokens"), cost=amounts.get("cost"),
        first_token=amounts.get("first_token"),
    )  # fmt: skip


def parse_answer(value: Any) -> str | None:
    """Parse the answer: a text, a message, or the text parts of a message."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(part, str) for part in value):
            return value[0] if len(value) == 1 else "\n".join(value)
        parts = [get_first(part, ("text", "content")) for part in value]
        return "".join(part for part in parts if isinstance(part, str))
    inner = get_first(value, ("content", "text", "response", "answer", "data"))
    if isinstance(inner, str):
        return inner
    raise SystemFault("system_answer_not_text", type=type(value).__name__)


def parse_contexts(items: Any, ids: Any, id_from: str | None) -> Ranked:
    """Parse ranked chunks from texts, ids, or objects that represent chunks."""
    if items is None:
        return Ranked(Chunk(id=_to_name(item)) for item in _to_list(ids, "ids"))
    if isinstance(items, str):
        items = [items] if items.strip() else []
    chunks = [parse_chunk(item, id_from) for item in _to_list(items, "contexts")]
    if ids is None:
        return Ranked(chunks)
    names = [_to_name(item) for item in _to_list(ids, "ids")]
    if len(names) != len(chunks):
        raise SystemFault("system_ids_miscounted", contexts=len(chunks), ids=len(names))
    return Ranked(
        Chunk(name, chunk.text, chunk.score) for name, chunk in zip(names, chunks, strict=True)
    )


def parse_chunk(item: Any, id_from: str | None = None) -> Chunk:
    """Parse one chunk from a text, a mapping, or a framework's document or scored node."""
    if isinstance(item, Chunk):
        return item
    if isinstance(item, str):
        return Chunk(text=item)
    if isinstance(item, tuple | list) and len(item) == 2:  # (document, score)
        inner = parse_chunk(item[0], id_from)
        return Chunk(inner.id, inner.text, _to_score(item[1]))
    # of a scored node (LlamaIndex) the score stands outside, text and id inside
    scored, item = item, unwrap_node(item)
    text = find_text(item)
    name = _find_id(item, id_from)
    if not text and not name:
        raise SystemFault("context_without_text", type=type(item).__name__)
    return Chunk(name, text, _to_score(get_first(scored, ("score",))))


def _find_id(item: Any, id_from: str | None) -> str:
    """Find the id of a chunk: by the user's dotted path, which must fit, else where frameworks keep it, else empty."""
    metadata = get_metadata(item)
    if id_from is not None:
        plain = (
            dict(item) if isinstance(item, Mapping) else {"metadata": metadata, "meta": metadata}
        )
        head = id_from.partition(".")[0]
        if not isinstance(item, Mapping) and head not in plain and hasattr(item, head):
            plain[head] = getattr(item, head)
        value = get_path(plain, id_from)
        if value is None:
            raise SystemFault("context_lacks_id", path=id_from)
        return _to_name(value)
    value = find_document_id(item)
    return "" if value is None else _to_name(value)


def _to_list(value: Any, what: str) -> list[Any]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise SystemFault("system_not_list", name=what, type=type(value).__name__)
    return list(value)


def _to_name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return str(value) if value is not None else ""
    return str(value)


def _to_score(value: Any) -> float | None:
    if value is MISSING or value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _to_amount(value: Any, name: str) -> float | None:
    """Convert a measure to a number; tokens may be a usage report, seconds a timedelta."""
    if value is MISSING or value is None:
        return None
    if isinstance(value, Mapping) or (name == "tokens" and hasattr(value, "total_tokens")):
        value = sum_tokens(value)
        if value is None:
            return None
    if isinstance(value, timedelta):
        value = value.total_seconds()
    # numbers of numpy, pandas and decimal are no int or float, but convert
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise SystemFault("system_not_number", name=name, value=repr(value))
    value = float(value)
    if not 0 <= value < 1e300:  # False for NaN too
        raise SystemFault("system_not_positive", name=name, value=repr(value))
    return float(value)
