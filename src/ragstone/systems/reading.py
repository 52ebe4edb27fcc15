"""Whatever a system returns, read as a reply: texts, dicts, objects, framework responses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.data.rows import path_in
from ragstone.systems.protocol import SystemFault, SystemReply
from ragstone.types import Chunk, Ranked

ANSWERS = (
    "answer", "response", "output", "result", "generated_answer", "output_text", "content", "text",
)  # fmt: skip
CONTEXTS = (
    "contexts", "context", "documents", "source_documents", "source_nodes", "retrieved_contexts",
    "retrieved_documents", "retrieved_docs", "chunks", "sources", "docs",
)  # fmt: skip
IDS = ("context_ids", "ids", "retrieved_ids", "retrieved_doc_ids", "doc_ids")
_TOKENS = ("tokens", "total_tokens", "usage", "usage_metadata", "token_usage")
_TOTALS = (("total_tokens",), ("total",), ("input_tokens", "output_tokens"),
           ("prompt_tokens", "completion_tokens"))  # fmt: skip
_TEXTS = ("text", "page_content", "content", "passage", "chunk", "body")
_PARENTS = ("id", "doc_id", "document_id", "source_id")
"""In a chunk's metadata: the document that it is a part of."""
_OWN = ("id", "ref_doc_id", "doc_id", "document_id", "id_", "node_id")
_PLACES = ("source", "file_path", "file_name", "path", "url")
_MISSING = object()


def reply_of(value: Any, id_from: str | None = None) -> SystemReply:
    """The reply in what a system returned; SystemFault when nothing in it can be judged."""
    if isinstance(value, SystemReply):
        return value
    if value is None:
        raise SystemFault("the system returned nothing; return an answer, or a dict with one")
    if isinstance(value, str):
        return SystemReply(value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return SystemReply(value[0], ranked(value[1], None, id_from))
    if isinstance(value, list | tuple):
        return SystemReply(None, ranked(value, None, id_from))
    error = _get(value, ("error",))
    if error and error is not _MISSING and isinstance(error, str):
        raise SystemFault(error)
    answer, contexts, ids = _get(value, ANSWERS), _get(value, CONTEXTS), _get(value, IDS)
    if answer is _MISSING and contexts is _MISSING and ids is _MISSING:
        found = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise SystemFault(
            f"the system's reply has no answer and no contexts ({found[:200]}); "
            'return {"answer": …, "contexts": […]}'
        )
    return assemble(
        None if answer is _MISSING else answer,
        None if contexts is _MISSING else contexts,
        None if ids is _MISSING else ids,
        {name: _get(value, names) for name, names in _MEASURED.items()},
        id_from,
    )


def assemble(
    answer: Any, contexts: Any, ids: Any, measured: Mapping[str, Any], id_from: str | None = None
) -> SystemReply:
    """A reply from its parts, each checked."""
    text = answer_text(answer)
    chunks = ranked(contexts, ids, id_from) if contexts is not None or ids is not None else None
    if text is None and chunks is None:
        raise SystemFault("the system's answer is null; return a text")
    return SystemReply(
        text, chunks, **{name: _amount(value, name) for name, value in measured.items()}
    )


def answer_text(value: Any) -> str | None:
    """The answer as text: also a message, or the text parts of one."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(part, str) for part in value):
            return value[0] if len(value) == 1 else "\n".join(value)
        parts = [_get(part, ("text", "content")) for part in value]
        return "".join(part for part in parts if isinstance(part, str))
    inner = _get(value, ("content", "text", "response", "answer", "data"))
    if isinstance(inner, str):
        return inner
    raise SystemFault(f"the system's answer is a {type(value).__name__}; return a text")


def ranked(items: Any, ids: Any, id_from: str | None) -> Ranked:
    """Ranked chunks from texts, ids, or whatever objects stand for chunks."""
    if items is None:
        return Ranked(Chunk(id=_name(item)) for item in _list(ids, "ids"))
    if isinstance(items, str):
        items = [items] if items.strip() else []
    chunks = [chunk_of(item, id_from) for item in _list(items, "contexts")]
    if ids is None:
        return Ranked(chunks)
    names = [_name(item) for item in _list(ids, "ids")]
    if len(names) != len(chunks):
        raise SystemFault(f"the system gave {len(chunks)} contexts and {len(names)} ids")
    return Ranked(
        Chunk(name, chunk.text, chunk.score) for name, chunk in zip(names, chunks, strict=True)
    )


def chunk_of(item: Any, id_from: str | None = None) -> Chunk:
    """One chunk from a text, a mapping, or a framework's document or scored node."""
    if isinstance(item, Chunk):
        return item
    if isinstance(item, str):
        return Chunk(text=item)
    if isinstance(item, tuple | list) and len(item) == 2:  # (document, score)
        inner = chunk_of(item[0], id_from)
        return Chunk(inner.id, inner.text, _score(item[1]))
    scored, node = item, _get(item, ("node",))
    if node is not _MISSING and not isinstance(node, str):
        item = node
    text = _get(item, _TEXTS)
    if not isinstance(text, str):
        get_content = getattr(item, "get_content", None)
        text = get_content() if callable(get_content) else ""
    name = _id(item, id_from)
    if not text and not name:
        raise SystemFault(f"a context is a {type(item).__name__} without text and id")
    return Chunk(name, str(text), _score(_get(scored, ("score",))))


def _id(item: Any, id_from: str | None) -> str:
    meta = _get(item, ("metadata", "meta"))
    about: Mapping[str, Any] = meta if isinstance(meta, Mapping) else {}
    if id_from is not None:
        plain = dict(item) if isinstance(item, Mapping) else {"metadata": about, "meta": about}
        head = id_from.partition(".")[0]
        if not isinstance(item, Mapping) and head not in plain and hasattr(item, head):
            plain[head] = getattr(item, head)
        value = path_in(plain, id_from)
        if value is None:
            raise SystemFault(f"a context has nothing at {id_from!r}, named by id_from")
        return _name(value)
    for source, names in ((about, _PARENTS), (item, _OWN), (about, _PLACES)):
        value = _get(source, names)
        if value is not _MISSING and value is not None and not callable(value):
            return _name(value)
    return ""


def _get(value: Any, names: Iterable[str]) -> Any:
    """The first of these that the mapping or object has, and that is not None unless all are."""
    found = _MISSING
    for name in names:
        if isinstance(value, Mapping):
            one = value.get(name, _MISSING)
        else:
            one = getattr(value, name, _MISSING)
            if callable(one):  # a method of that name is not the value of a field
                one = _MISSING
        if one is not _MISSING:
            if one is not None:
                return one
            found = None
    return found


def _list(value: Any, what: str) -> list[Any]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise SystemFault(f"the system's {what} are a {type(value).__name__}; return a list")
    return list(value)


def _name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return str(value) if value is not None else ""
    return str(value)


def _score(value: Any) -> float | None:
    if value is _MISSING or value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


_MEASURED = {
    "latency": ("latency", "latency_seconds"),
    "tokens": _TOKENS,
    "cost": ("cost", "cost_usd", "total_cost"),
}


def _amount(value: Any, name: str) -> float | None:
    if value is _MISSING or value is None:
        return None
    if isinstance(value, Mapping) or (name == "tokens" and hasattr(value, "total_tokens")):
        value = _total(value)
        if value is None:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SystemFault(f"the system's {name} is {value!r}; return a number")
    if not 0 <= value < 1e300:
        raise SystemFault(f"the system's {name} is {value!r}; return a finite number from 0 on")
    return float(value)


def _total(usage: Any) -> float | None:
    """The tokens in whatever a framework says of its usage."""
    for names in _TOTALS:
        parts = [_get(usage, (name,)) for name in names]
        if all(isinstance(part, int | float) for part in parts):
            return sum(parts)  # type: ignore[no-any-return]
    return None
