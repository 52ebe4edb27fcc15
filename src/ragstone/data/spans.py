"""Questions and answers from OpenTelemetry traces, by the OpenInference and the OpenTelemetry GenAI conventions.

The contexts come from the last reranker or retriever span that has documents, the answer from the root or the last LLM
span, the question from the root, the retriever or the last user message; tokens and cost are summed over the LLM spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from ragstone.data.chunks import find_document_id
from ragstone.data.strict_json import decode_json_text, is_moderate_number, replace_unstorable

Attributes = Mapping[str, Any]


ATTRIBUTE_PREFIXES = (
    "openinference.", "input.", "output.", "llm.", "retrieval.", "reranker.", "gen_ai.", "session.", "tool.",
    "user.id", "metadata", "service.name", "deployment.environment",
)  # fmt: skip
"""Prefixes of the attributes that are stored; an attribute that is read below needs one of them."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """The stored part of one span."""

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
    """What went wrong; None unless the status of the span is an error."""


def span_to_json(span: TraceSpan) -> dict[str, Any]:
    """The span as JSON."""
    return asdict(span)


def span_from_json(row: Mapping[str, Any]) -> TraceSpan:
    """The span that `span_to_json` wrote."""
    return TraceSpan(**row)


def describe_trace(spans: Sequence[TraceSpan]) -> dict[str, Any] | None:
    """What a trace says of one question, by the names of an interaction's fields; None when it is about none.

    A trace that only splits and embeds texts is the building of an index: its input is no question."""
    ordered = sorted(spans, key=lambda span: (span.start, span.end, span.id))
    if not ordered:
        return None
    root = _find_root(ordered)
    models = _list_of_kind(ordered, "llm")
    retrievers = _list_of_kind(ordered, "retriever", "reranker")
    if not models and not retrievers and not _is_answered(root):
        return None
    question = _find_question(root, retrievers, models)
    answer = _find_answer(root, models, retrievers)
    error = root.error or (models[-1].error if models and answer is None else None)
    if question is None and answer is None and error is None:
        return None
    row = {
        "id": root.trace,
        "start": root.start,
        "question": question,
        "answer": answer,
        "error": error,
        "contexts": _find_contexts(retrievers),
        "latency": max(0.0, (root.end - root.start) / 1e6) if root.end else None,
        "tokens": _sum_known(map(_count_tokens, models)),
        "cost": _sum_known(span.attributes.get("llm.cost.total") for span in models),
        "meta": _collect_meta(root, models, retrievers),
    }
    return {key: _mend_text(value) for key, value in row.items()}


def _is_answered(root: TraceSpan) -> bool:
    """Whether a span without model and retriever below it is a question and its answer, or a failure."""
    if get_span_kind(root) in ("", "embedding"):
        return False
    if root.error is not None:
        return True
    texts = (_get_text(root, "input"), _get_text(root, "output"))
    # JSON that holds no known text is the arguments and results of some function
    return all(
        text is not None and not isinstance(decode_json_text(text), list | dict) for text in texts
    )


def _find_root(ordered: Sequence[TraceSpan]) -> TraceSpan:
    """The root of a trace; its parent may be a span of another service that is not exported here."""
    known = {span.id for span in ordered}
    roots = [span for span in ordered if span.parent not in known] or ordered
    return next((span for span in roots if not span.parent), roots[0])


# ── span kinds ────────────────────────────────────────────────────────────────────────────

KIND_BY_OPERATION = {
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "retrieval": "retriever",
    "invoke_agent": "chain", "invoke_workflow": "chain", "execute_tool": "tool",
    "embeddings": "embedding",
}  # fmt: skip


def get_span_kind(span: TraceSpan) -> str:
    """`llm`, `retriever`, `reranker`, `chain`, … or empty for a span of something else."""
    kind = span.attributes.get("openinference.span.kind")
    if isinstance(kind, str):
        return kind.lower()
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return KIND_BY_OPERATION.get(operation, "chain")
    if any(name.startswith("gen_ai.retrieval.") for name in span.attributes):
        return "retriever"
    if "gen_ai.request.model" in span.attributes or "gen_ai.system" in span.attributes:
        return "llm"
    return ""


def _list_of_kind(spans: Sequence[TraceSpan], *kinds: str) -> list[TraceSpan]:
    return [span for span in spans if get_span_kind(span) in kinds]


# ── question, answer and messages ─────────────────────────────────────────────────────────


def _find_question(
    root: TraceSpan, retrievers: Sequence[TraceSpan], models: Sequence[TraceSpan]
) -> str | None:
    candidates: list[str | None] = [_get_text(root, "input")]
    candidates += [_get_text(span, "input") for span in retrievers[:1]]
    candidates += [
        _find_last_message(parse_messages(span, "input"), "user") for span in models[-1:]
    ]
    candidates += [_get_text(span, "input") for span in models[-1:]]
    return next((text for text in candidates if text), None)


def _find_answer(
    root: TraceSpan, models: Sequence[TraceSpan], retrievers: Sequence[TraceSpan]
) -> str | None:
    # the output of a retriever is documents, not an answer
    root_output = None if root in retrievers else _get_text(root, "output")
    candidates = [root_output]
    for span in reversed(models):
        candidates += [
            _find_last_message(parse_messages(span, "output"), "assistant"),
            _get_text(span, "output"),
        ]
    return next((text for text in candidates if text), None)


def _get_text(span: TraceSpan, side: str) -> str | None:
    """The plain text of a span's input or output: its messages, its value, or the text inside its JSON value."""
    attributes = span.attributes
    text = _find_last_message(
        parse_messages(span, side), "user" if side == "input" else "assistant"
    )
    if text:
        return text
    if side == "input" and isinstance(attributes.get("gen_ai.retrieval.query.text"), str):
        return str(attributes["gen_ai.retrieval.query.text"])
    value = attributes.get(f"{side}.value")
    if not isinstance(value, str):
        return None
    return _extract_text(value, side)


_INPUT_KEYS = ("question", "query", "input", "user_input", "prompt", "text")
_OUTPUT_KEYS = ("answer", "output", "response", "result", "text", "content", "output_text")


def _extract_text(value: str, side: str) -> str | None:
    """The text of a value, which may be a JSON document around it."""
    decoded = decode_json_text(value)
    if isinstance(decoded, str):
        return decoded
    if isinstance(decoded, dict):
        for name in _INPUT_KEYS if side == "input" else _OUTPUT_KEYS:
            if isinstance(decoded.get(name), str):
                return str(decoded[name])
        messages = decoded.get("messages")
        if isinstance(messages, list):
            return _find_last_message(
                [_parse_message(item) for item in messages],
                "user" if side == "input" else "assistant",
            )
    return value or None


Message = tuple[str, str]
"""Role and text."""


def parse_messages(span: TraceSpan, side: str) -> list[Message]:
    """The messages of a model call, `side` input or output: role and text of each."""
    attributes = span.attributes
    messages = decode_json_text(attributes.get(f"gen_ai.{side}.messages"))
    if isinstance(messages, list):
        return [_parse_message(item) for item in messages]
    items = _group_by_index(attributes, f"llm.{side}_messages")
    if items:
        return [(str(item.get("message.role", "")), _join_contents(item)) for item in items]
    # names of earlier conventions, which instrumentations still write
    legacy_key = "gen_ai.prompt" if side == "input" else "gen_ai.completion"
    if isinstance(attributes.get(legacy_key), str):
        decoded = decode_json_text(attributes[legacy_key])
        if isinstance(decoded, list):
            return [_parse_message(item) for item in decoded]
        return [("user" if side == "input" else "assistant", str(attributes[legacy_key]))]
    return [
        (str(item.get("role", "")), str(item.get("content", "")))
        for item in _group_by_index(attributes, legacy_key)
    ]


def _parse_message(item: Any) -> Message:
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


def _join_contents(item: Mapping[str, Any]) -> str:
    content = item.get("message.content")
    if isinstance(content, str):
        return content
    parts = _group_by_index(item, "message.contents")
    return "".join(str(part.get("message_content.text", "")) for part in parts)


def _find_last_message(messages: Sequence[Message], role: str) -> str | None:
    """The last message with a text that has this role or none."""
    for author, text in reversed(messages):
        # Gemini calls the assistant "model"
        if text and author.lower() in (role, "", "model" if role == "assistant" else role):
            return text
    return None


def _find_contexts(retrievers: Sequence[TraceSpan]) -> list[dict[str, Any]] | None:
    """The documents of the last reranker or, without one, of the last retriever; None without either."""
    if not retrievers:
        return None
    # the last that has documents: instrumentations nest retriever spans and fill one of them;
    # rerankers are appended once more, so that reading backwards meets them first
    for span in reversed([*retrievers, *_list_of_kind(retrievers, "reranker")]):
        if documents := _read_span_documents(span):
            return documents
    return []


def _read_span_documents(span: TraceSpan) -> list[dict[str, Any]]:
    if get_span_kind(span) == "reranker":
        return _parse_documents(_group_by_index(span.attributes, "reranker.output_documents"))
    for name in ("gen_ai.retrieval.documents", "retrieval.documents"):
        documents = decode_json_text(span.attributes.get(name))
        if isinstance(documents, list):
            return _parse_documents([item for item in documents if isinstance(item, dict)])
    return _parse_documents(_group_by_index(span.attributes, "retrieval.documents"))


def _parse_documents(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for rank, item in enumerate(items, 1):
        text = _get_first(item, "document.content", "content", "text")
        name = _get_first(item, "document.id", "id")
        if name is None:
            metadata = decode_json_text(_get_first(item, "document.metadata", "metadata"))
            name = find_document_id({"metadata": metadata})
        score = _get_first(item, "document.score", "score")
        row: dict[str, Any] = {"text": "" if text is None else str(text)}
        if name is not None or not row["text"]:
            row["id"] = f"#{rank}" if name is None else str(name)
        if is_moderate_number(score):
            row["score"] = float(score)
        rows.append(row)
    return rows


def _count_tokens(span: TraceSpan) -> float | None:
    total = span.attributes.get("llm.token_count.total")
    if isinstance(total, int | float):
        return total
    pairs = (
        ("llm.token_count.prompt", "llm.token_count.completion"),
        ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
        ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
    )
    for pair in pairs:
        tokens = _sum_known(span.attributes.get(name) for name in pair)
        if tokens is not None:
            return tokens
    return None


def _collect_meta(
    root: TraceSpan, models: Sequence[TraceSpan], retrievers: Sequence[TraceSpan]
) -> dict[str, Any]:
    """Model, service, session, user and the root's own metadata, as meta fields."""
    meta: dict[str, Any] = {}
    metadata = decode_json_text(root.attributes.get("metadata"))
    if isinstance(metadata, dict):
        meta.update(
            {key: value for key, value in metadata.items() if not isinstance(value, list | dict)}
        )
    # later ones overwrite: session and user of the root are the conversation's, and of two
    # attributes for one name the later in _META_ATTRIBUTES
    for span in (*retrievers, *models, root):
        for name, attribute in _META_ATTRIBUTES:
            value = span.attributes.get(attribute)
            if isinstance(value, str | int | float):
                meta[name] = value
    return meta


_META_ATTRIBUTES = (
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


def _group_by_index(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """`prefix.0.a`, `prefix.0.b`, `prefix.1.a` … as a list of mappings by index."""
    groups: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        match = _INDEX.match(name, len(prefix)) if name.startswith(prefix) else None
        if match:
            groups.setdefault(int(match[1]), {})[name[match.end() :]] = value
    return [groups[index] for index in sorted(groups)]


_INDEX = re.compile(r"\.(\d{1,6})\.")


def _get_first(item: Mapping[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _sum_known(values: Iterable[Any]) -> float | None:
    known = [value for value in values if is_moderate_number(value) and value >= 0]
    return sum(known) if known else None


def _mend_text(value: Any) -> Any:
    return replace_unstorable(value) if isinstance(value, str) else value


def parse_micros(value: Any) -> int:
    """Microseconds of a time in UTC, as pandas writes it: text in CSV, milliseconds in JSON."""
    if isinstance(value, int | float):
        return round(value * 1000)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
