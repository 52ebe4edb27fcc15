"""Spans of a trace as one interaction, by the conventions of OpenInference and of OpenTelemetry for generative AI.

What was retrieved comes from the last retriever (or reranker) span, the answer from the root or the last model span, the
question from the root, the retriever or the last user message; tokens and cost are summed over model spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ragstone.data.strict import mend
from ragstone.monitor.ingest.coercion import gentle_row
from ragstone.monitor.interactions import (
    AHEAD,
    EARLIEST,
    Interaction,
    interaction_of,
    iso,
    moderate,
)

Attributes = Mapping[str, Any]


WANTED = (
    "openinference.", "input.", "output.", "llm.", "retrieval.", "reranker.", "gen_ai.", "session.",
    "user.id", "metadata", "service.name", "deployment.environment",
)  # fmt: skip
"""How the attributes begin that are read here."""


@dataclass(frozen=True, slots=True)
class Span:
    """What is needed of one span."""

    trace: str
    id: str
    parent: str = ""
    """Empty for the root of its trace."""
    name: str = ""
    start: int = 0
    """Microseconds since 1970, UTC."""
    end: int = 0
    attributes: Attributes = field(default_factory=dict)
    error: str | None = None
    """What went wrong, when its status says so."""


def span_row(span: Span) -> dict[str, Any]:
    """The span as JSON."""
    return asdict(span)


def span_of(row: Mapping[str, Any]) -> Span:
    """The span that `span_row` wrote."""
    return Span(**row)


def interaction_of_trace(spans: Sequence[Span], now: int) -> Interaction | None:
    """The interaction that a trace tells of; None when no span of it asks or answers anything."""
    ordered = sorted(spans, key=lambda span: (span.start, span.end, span.id))
    if not ordered:
        return None
    known = {span.id for span in ordered}
    tops = [span for span in ordered if span.parent not in known]
    root = next((span for span in tops if not span.parent), tops[0] if tops else ordered[0])
    models = [span for span in ordered if kind_of(span) == "llm"]
    retrievers = [span for span in ordered if kind_of(span) in ("retriever", "reranker")]
    if not models and not retrievers and kind_of(root) == "":
        return None
    question = _question(root, retrievers, models)
    answer = _answer(root, models, retrievers)
    error = root.error or (models[-1].error if models and answer is None else None)
    if question is None and answer is None and error is None:
        return None
    row = {
        "id": root.trace,
        "at": iso(root.start) if EARLIEST <= root.start <= now + AHEAD else iso(now),
        "question": question,
        "answer": answer,
        "error": error,
        "contexts": _contexts(retrievers),
        "latency": max(0.0, (root.end - root.start) / 1e6) if root.end else None,
        "tokens": _sum(map(_tokens, models)),
        "cost": _sum(span.attributes.get("llm.cost.total") for span in models),
        "meta": _meta(root, models, retrievers),
    }
    return interaction_of(gentle_row({key: _mended(value) for key, value in row.items()}), now)


# ── what kind of span it is ───────────────────────────────────────────────────────────────

OPERATIONS = {
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "retrieval": "retriever",
    "invoke_agent": "chain", "invoke_workflow": "chain", "execute_tool": "tool",
    "embeddings": "embedding",
}  # fmt: skip


def kind_of(span: Span) -> str:
    """`llm`, `retriever`, `reranker`, `chain`, … or empty for a span of something else."""
    given = span.attributes.get("openinference.span.kind")
    if isinstance(given, str):
        return given.lower()
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return OPERATIONS.get(operation, "chain")
    if any(name.startswith("gen_ai.retrieval.") for name in span.attributes):
        return "retriever"
    if "gen_ai.request.model" in span.attributes or "gen_ai.system" in span.attributes:
        return "llm"
    return ""


# ── what it says ──────────────────────────────────────────────────────────────────────────


def _question(root: Span, retrievers: Sequence[Span], models: Sequence[Span]) -> str | None:
    candidates: list[str | None] = [_said(root, "input")]
    candidates += [_said(span, "input") for span in retrievers[:1]]
    candidates += [_last_of(_messages(span, "input"), "user") for span in models[-1:]]
    candidates += [_said(span, "input") for span in models[-1:]]
    return next((text for text in candidates if text), None)


def _answer(root: Span, models: Sequence[Span], retrievers: Sequence[Span]) -> str | None:
    said = None if root in retrievers else _said(root, "output")
    candidates = [said]
    for span in reversed(models):
        candidates += [_last_of(_messages(span, "output"), "assistant"), _said(span, "output")]
    return next((text for text in candidates if text), None)


def _said(span: Span, side: str) -> str | None:
    """The plain text of a span's input or output: its messages, its value, or what its JSON value holds."""
    attributes = span.attributes
    text = _last_of(_messages(span, side), "user" if side == "input" else "assistant")
    if text:
        return text
    if side == "input" and isinstance(attributes.get("gen_ai.retrieval.query.text"), str):
        return str(attributes["gen_ai.retrieval.query.text"])
    value = attributes.get(f"{side}.value")
    if not isinstance(value, str):
        return None
    return _inside(value, side)


_ASKED = ("question", "query", "input", "user_input", "prompt", "text")
_ANSWERED = ("answer", "output", "response", "result", "text", "content", "output_text")


def _inside(value: str, side: str) -> str | None:
    """The text of a value, which may be a JSON document around it."""
    found = _json(value)
    if isinstance(found, str):
        return found
    if isinstance(found, dict):
        for name in _ASKED if side == "input" else _ANSWERED:
            if isinstance(found.get(name), str):
                return str(found[name])
        messages = found.get("messages")
        if isinstance(messages, list):
            return _last_of(
                [_message(item) for item in messages], "user" if side == "input" else "assistant"
            )
    return value or None


Message = tuple[str, str]
"""Role and text."""


def _messages(span: Span, side: str) -> list[Message]:
    attributes = span.attributes
    listed = _json(attributes.get(f"gen_ai.{side}.messages"))
    if isinstance(listed, list):
        return [_message(item) for item in listed]
    flat = _indexed(attributes, f"llm.{side}_messages")
    if flat:
        return [(str(item.get("message.role", "")), _flat_content(item)) for item in flat]
    older = "gen_ai.prompt" if side == "input" else "gen_ai.completion"
    if isinstance(attributes.get(older), str):
        found = _json(attributes[older])
        if isinstance(found, list):
            return [_message(item) for item in found]
        return [("user" if side == "input" else "assistant", str(attributes[older]))]
    return [
        (str(item.get("role", "")), str(item.get("content", "")))
        for item in _indexed(attributes, older)
    ]


def _message(item: Any) -> Message:
    if not isinstance(item, dict):
        return ("", str(item))
    content = item.get("content", item.get("parts"))
    if isinstance(content, list):
        texts = [
            part if isinstance(part, str) else str(part.get("content") or part.get("text") or "")
            for part in content
            if isinstance(part, str)
            or (isinstance(part, dict) and part.get("type", "text") == "text")
        ]
        content = "".join(texts)
    return (str(item.get("role", "")), content if isinstance(content, str) else "")


def _flat_content(item: Mapping[str, Any]) -> str:
    content = item.get("message.content")
    if isinstance(content, str):
        return content
    parts = _indexed(item, "message.contents")
    return "".join(str(part.get("message_content.text", "")) for part in parts)


def _last_of(messages: Sequence[Message], role: str) -> str | None:
    """The last message of a role, or of no named role, that has a text."""
    for who, text in reversed(messages):
        if text and who.lower() in (role, "", "model" if role == "assistant" else role):
            return text
    return None


def _contexts(retrievers: Sequence[Span]) -> list[dict[str, Any]] | None:
    """What the last retriever or, if there is one, reranker found; None without any."""
    if not retrievers:
        return None
    rerankers = [span for span in retrievers if kind_of(span) == "reranker"]
    span = (rerankers or retrievers)[-1]
    attributes = span.attributes
    if kind_of(span) == "reranker":
        return _documents(_indexed(attributes, "reranker.output_documents"))
    listed = _json(attributes.get("gen_ai.retrieval.documents"))
    if isinstance(listed, list):
        return _documents([item for item in listed if isinstance(item, dict)])
    return _documents(_indexed(attributes, "retrieval.documents"))


def _documents(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for rank, item in enumerate(items, 1):
        text = _first(item, "document.content", "content", "text")
        name = _first(item, "document.id", "id")
        score = _first(item, "document.score", "score")
        row: dict[str, Any] = {"text": "" if text is None else str(text)}
        if name is not None or not row["text"]:
            row["id"] = f"#{rank}" if name is None else str(name)
        if moderate(score):
            row["score"] = float(score)
        found.append(row)
    return found


def _tokens(span: Span) -> float | None:
    total = span.attributes.get("llm.token_count.total")
    if isinstance(total, int | float):
        return total
    pairs = (
        ("llm.token_count.prompt", "llm.token_count.completion"),
        ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
        ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
    )
    for pair in pairs:
        found = _sum(span.attributes.get(name) for name in pair)
        if found is not None:
            return found
    return None


def _meta(root: Span, models: Sequence[Span], retrievers: Sequence[Span]) -> dict[str, Any]:
    """Model, service, session, user and the root's own metadata, each a slice."""
    meta: dict[str, Any] = {}
    own = _json(root.attributes.get("metadata"))
    if isinstance(own, dict):
        meta.update(
            {key: value for key, value in own.items() if not isinstance(value, list | dict)}
        )
    for span in (*retrievers, *models, root):
        for name, attribute in _SLICES:
            value = span.attributes.get(attribute)
            if isinstance(value, str | int | float):
                meta[name] = value
    return meta


_SLICES = (
    ("service", "service.name"),
    ("model", "llm.model_name"),
    ("model", "gen_ai.request.model"),
    ("model", "gen_ai.response.model"),
    ("provider", "llm.provider"),
    ("provider", "gen_ai.provider.name"),
    ("session", "session.id"),
    ("session", "gen_ai.conversation.id"),
    ("user", "user.id"),
    ("prompt_version", "llm.prompt_template.version"),
    ("agent", "gen_ai.agent.name"),
    ("environment", "deployment.environment.name"),
)


def _indexed(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """`prefix.0.a`, `prefix.0.b`, `prefix.1.a` … as a list of mappings by index."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        match = _INDEX.match(name, len(prefix)) if name.startswith(prefix) else None
        if match:
            found.setdefault(int(match[1]), {})[name[match.end() :]] = value
    return [found[at] for at in sorted(found)]


_INDEX = re.compile(r"\.(\d{1,6})\.")


def _json(value: Any) -> Any:
    """What a JSON text holds; anything else as it is."""
    if not isinstance(value, str) or value[:1] not in ("[", "{", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _first(item: Mapping[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _sum(values: Iterable[Any]) -> float | None:
    known = [value for value in values if moderate(value) and value >= 0]
    return sum(known) if known else None


def _mended(value: Any) -> Any:
    return mend(value) if isinstance(value, str) else value
