"""Converters of other tools' rows (traces, conversations, nested results) to flat rows: a column for each field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.data.strict_json import decode_json_text, reparse_json

Row = Mapping[str, Any]

_REFERENCE_NAMES = (
    "expected_response",
    "expected_answer",
    "ground_truth",
    "reference",
    "expected_facts",
)
_RELEVANT_NAMES = ("expected_retrieved_context", "expected_context", "relevant_doc_ids")
_TRULENS_TEXTS = (
    "main_input", "input", "main_output", "output", "ground_truth", "ground_truth_output", "expected_response",
)  # fmt: skip
_TEXT_NAMES = ("page_content", "text", "content", "doc_uri")


def convert_mlflow_trace(row: Row) -> dict[str, Any]:
    """A trace of MLflow 2 or 3: contexts of its retriever spans, expectations as reference, feedback as meta."""
    trace = decode_json_text(row.get("trace"))
    whole: Row = trace if isinstance(trace, dict) else row
    info, data = _get_mapping(whole, "info"), _get_mapping(whole, "data")
    spans = _list_mappings(decode_json_text(row.get("spans"))) or _list_mappings(data.get("spans"))
    root = next((span for span in spans if not _get_parent(span)), {})
    converted: dict[str, Any] = {
        "id": row.get("trace_id") or row.get("request_id") or info.get("trace_id") or info.get("request_id"),
        "question": _choose(row.get("request"), data.get("request"), _get_attribute(root, "mlflow.spanInputs"), info.get("request_preview")),
        "answer": _choose(row.get("response"), data.get("response"), _get_attribute(root, "mlflow.spanOutputs"), info.get("response_preview")),
        "contexts": _find_retrieved(spans),
        "latency_ms": _choose(row.get("execution_duration"), row.get("execution_time_ms"), info.get("execution_duration_ms"), info.get("execution_time_ms")),
        "meta": {},
    }  # fmt: skip
    state = _choose(row.get("state"), row.get("status"), info.get("state"), info.get("status"))
    if state == "ERROR":
        converted["error"] = "the trace failed"
    assessments = _list_mappings(decode_json_text(row.get("assessments")))
    for item in assessments or _list_mappings(info.get("assessments")):
        _add_assessment(converted, item)
    # an empty list of contexts stays: the retriever found nothing
    return {name: value for name, value in converted.items() if value not in (None, {})}


def _add_assessment(converted: dict[str, Any], item: Row) -> None:
    """Add an expectation as reference or relevant documents; any other assessment goes to meta."""
    name = item.get("assessment_name") or item.get("name")
    value = _get_mapping(item, "expectation").get("value")
    if value is not None and name in _REFERENCE_NAMES:
        converted["reference"] = value
    elif value is not None and name in _RELEVANT_NAMES:
        converted["relevant"] = value
    else:
        feedback = _get_mapping(item, "feedback").get("value")
        converted["meta"][str(name)] = feedback if value is None else value


def _find_retrieved(spans: list[Row]) -> list[Any] | None:
    """The documents of the last retriever span that has some; empty without documents, None without retriever."""
    outputs = [
        _get_attribute(span, "mlflow.spanOutputs")
        for span in spans
        if str(_get_attribute(span, "mlflow.spanType")).upper() == "RETRIEVER"
    ]
    lists = [output for output in outputs if isinstance(output, list) and output]
    if lists:
        return lists[-1]
    return [] if outputs else None


def _get_attribute(span: Row, name: str) -> Any:
    return decode_json_text(_get_mapping(span, "attributes").get(name))


def _get_parent(span: Row) -> Any:
    return span.get("parent_span_id") or span.get("parent_id")


def convert_trulens_record(row: Row) -> dict[str, Any]:
    """A record of TruLens: texts are stored as JSON, contexts in the calls of feedback functions, or in those of the app."""
    row = {
        name: _decode_quoted(value) if name in _TRULENS_TEXTS else value
        for name, value in row.items()
    }
    if any(row.get(name) is not None for name in ("contexts", "retrieved_contexts", "context")):
        return dict(row)
    contexts = _find_feedback_contexts(row) or _find_call_contexts(
        decode_json_text(row.get("record_json"))
    )
    kept = {name: value for name, value in row.items() if not name.endswith(("_calls", "_json"))}
    return {**kept, "contexts": contexts} if contexts else kept


def _decode_quoted(value: Any) -> Any:
    """Decode a text that is stored as JSON, in quotes."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return reparse_json(value)
        except ValueError:
            return value
    return value


def _find_feedback_contexts(row: Row) -> list[str]:
    for name, value in row.items():
        calls = _list_mappings(decode_json_text(value)) if name.endswith("_calls") else []
        texts: dict[str, None] = {}
        for call in calls:
            arguments = _get_mapping(call, "args")
            given = next(
                (arguments[key] for key in ("context", "contexts", "source") if key in arguments),
                None,
            )
            texts |= dict.fromkeys(
                text
                for text in (given if isinstance(given, list) else [given])
                if isinstance(text, str)
            )
        if texts:
            return list(texts)
    return []


def _find_call_contexts(record: Any) -> list[Any]:
    """What the last call that returned a list of documents returned."""
    for call in reversed(_list_mappings(record.get("calls")) if isinstance(record, dict) else []):
        returned = call.get("rets")
        if isinstance(returned, list) and returned and all(map(_is_document, returned)):
            return returned
    return []


def _is_document(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, dict) and any(isinstance(value.get(name), str) for name in _TEXT_NAMES)
    )


def convert_langfuse_trace(row: Row) -> dict[str, Any]:
    """A trace of Langfuse: contexts of its retriever observations, calls of tools as steps, scores as meta."""
    observations = sorted(
        _list_mappings(decode_json_text(row.get("observations"))),
        key=lambda item: str(item.get("startTime") or ""),
    )
    retrieved = [
        output
        for item in observations
        if _is_langfuse_kind(item, "RETRIEVER") and isinstance(output := _find_list(item), list)
    ]
    question, history = _split_messages(decode_json_text(row.get("input")))
    steps = [_to_langfuse_step(item) for item in observations if _is_langfuse_kind(item, "TOOL")]
    contexts = next((documents for documents in reversed(retrieved) if documents), None)
    converted = {
        "id": row.get("id"),
        "question": question,
        "answer": decode_json_text(row.get("output")),
        "messages": history or None,
        "contexts": [] if contexts is None and retrieved else contexts,
        "steps": steps or None,
        "group": row.get("sessionId"),
        "latency": row.get("latency"),
        "cost": row.get("totalCost"),
        "meta": {**_get_mapping(row, "metadata"), **_read_langfuse_scores(row)},
    }
    return {name: value for name, value in converted.items() if value not in (None, {})}


def _read_langfuse_scores(row: Row) -> dict[str, Any]:
    scores = {}
    for score in _list_mappings(decode_json_text(row.get("scores"))):
        value = score.get("value")
        scores[str(score.get("name"))] = score.get("stringValue") if value is None else value
    return scores


def _is_langfuse_kind(item: Row, kind: str) -> bool:
    """By the type of an observation; older exports only have spans, named after what they do."""
    if item.get("type") == kind:
        return True
    return item.get("type") == "SPAN" and kind.lower() in str(item.get("name")).lower().split()


def _find_list(item: Row) -> list[Any] | None:
    """The documents that an observation returned: its output, or the list inside it."""
    output = decode_json_text(item.get("output"))
    if isinstance(output, dict):
        output = next((value for value in output.values() if isinstance(value, list)), None)
    return output if isinstance(output, list) else None


def _to_langfuse_step(item: Row) -> dict[str, Any]:
    failed = item.get("level") == "ERROR"
    step = {
        "tool": item.get("name"),
        "arguments": decode_json_text(item.get("input")),
        "result": None if failed else decode_json_text(item.get("output")),
        "error": (item.get("statusMessage") or "the call failed") if failed else None,
        "seconds": item.get("latency"),
    }
    return {name: value for name, value in step.items() if value is not None}


def _split_messages(value: Any) -> tuple[Any, list[Any]]:
    """The question of an input, and the messages before it where the input is a conversation."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        return value, []
    users = [at for at, item in enumerate(messages) if item.get("role") in ("user", "human")]
    return (messages[users[-1]], messages[: users[-1]]) if users else (value, [])


def convert_inspect_sample(row: Row) -> dict[str, Any]:
    """A sample of an Inspect log: its output, its scores as meta, and its epoch in the id."""
    output = _get_mapping(row, "output")
    answer = output.get("completion") or _get_mapping(_first(output.get("choices")), "message").get(
        "content"
    )
    scores = {
        name: score.get("value") if isinstance(score, dict) else score
        for name, score in _get_mapping(row, "scores").items()
    }
    metadata = _get_mapping(row, "metadata")
    epoch = row.get("epoch")
    context_names = ("contexts", "context", "documents", "retrieved_contexts")
    return {
        "id": row.get("id") if epoch in (None, 1) else f"{row.get('id')} (epoch {epoch})",
        "question": row.get("input"),
        "answer": answer or None,
        "reference": row.get("target") or None,
        "contexts": next((metadata[name] for name in context_names if name in metadata), None),
        "error": _get_mapping(row, "error").get("message"),
        "latency": row.get("total_time"),
        "meta": {**{k: v for k, v in metadata.items() if k not in context_names}, **scores},
    }


def is_haystack_result(row: Row) -> bool:
    """Whether a row is what a Haystack pipeline returned: the outputs of components, an answer or documents among them."""
    outputs = [value for value in row.values() if isinstance(value, dict)]
    names = {name for output in outputs for name in output}
    return bool(outputs) and bool({"replies", "answers"} & names or names == {"documents"})


def convert_haystack_result(row: Row) -> dict[str, Any]:
    """The outputs of a Haystack pipeline: documents, and the first reply or generated answer."""
    converted: dict[str, Any] = {
        name: value for name, value in row.items() if not isinstance(value, dict)
    }
    for output in row.values():
        if not isinstance(output, dict):
            continue
        if isinstance(output.get("documents"), list):
            converted["contexts"] = output["documents"]
        candidate = _first(output.get("replies")) or _first(output.get("answers"))
        if candidate is not None:
            _add_haystack_answer(converted, candidate)
        for name in ("query", "question"):
            if isinstance(output.get(name), str):
                converted.setdefault("question", output[name])
    return converted


def _add_haystack_answer(converted: dict[str, Any], candidate: Any) -> None:
    """Add a reply, or a generated answer with its query and documents."""
    inner = _get_mapping(candidate, "init_parameters") or candidate
    if not isinstance(inner, dict) or "data" not in inner:
        converted["answer"] = inner
        return
    converted["answer"] = inner["data"]
    if inner.get("query"):
        converted.setdefault("question", inner["query"])
    if inner.get("documents"):
        converted["contexts"] = inner["documents"]


def _choose(*values: Any) -> Any:
    """The first that is not None, decoded."""
    return next((decode_json_text(value) for value in values if value is not None), None)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _get_mapping(row: Any, name: str) -> dict[str, Any]:
    value = decode_json_text(row.get(name)) if isinstance(row, Mapping) else None
    return value if isinstance(value, dict) else {}


def _list_mappings(value: Any) -> list[Row]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
