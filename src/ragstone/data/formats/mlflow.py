"""MLflow: evaluation tables of versions 2 and 3, and traces."""

from __future__ import annotations

from typing import Any

from ragstone.data.row_format import (
    ANSWER,
    CONTEXTS,
    PLAIN_COLUMNS,
    QUESTION,
    REFERENCE,
    Row,
    build_format,
    get_mapping,
    list_mappings,
    nest_names,
)
from ragstone.data.strict_json import decode_json_text

_REFERENCE_NAMES = (
    "expected_response",
    "expected_answer",
    "ground_truth",
    "reference",
    "expected_facts",
)
_RELEVANT_NAMES = ("expected_retrieved_context", "expected_context", "relevant_doc_ids")


def convert_mlflow_trace(row: Row) -> dict[str, Any]:
    """A trace of MLflow 2 or 3: contexts of its retriever spans, expectations as reference, feedback as meta."""
    trace = decode_json_text(row.get("trace"))
    whole: Row = trace if isinstance(trace, dict) else row
    info, data = get_mapping(whole, "info"), get_mapping(whole, "data")
    spans = list_mappings(decode_json_text(row.get("spans"))) or list_mappings(data.get("spans"))
    root = next((span for span in spans if not _get_parent(span)), {})
    converted: dict[str, Any] = {
        "id": row.get("trace_id")
        or row.get("request_id")
        or info.get("trace_id")
        or info.get("request_id"),
        "question": _choose(
            row.get("request"),
            data.get("request"),
            _get_attribute(root, "mlflow.spanInputs"),
            info.get("request_preview"),
        ),
        "answer": _choose(
            row.get("response"),
            data.get("response"),
            _get_attribute(root, "mlflow.spanOutputs"),
            info.get("response_preview"),
        ),
        "contexts": _find_retrieved(spans),
        "latency_ms": _choose(
            row.get("execution_duration"),
            row.get("execution_time_ms"),
            info.get("execution_duration_ms"),
            info.get("execution_time_ms"),
        ),
        "meta": {},
    }
    state = _choose(row.get("state"), row.get("status"), info.get("state"), info.get("status"))
    if state == "ERROR":
        converted["error"] = "the trace failed"
    assessments = list_mappings(decode_json_text(row.get("assessments")))
    for item in assessments or list_mappings(info.get("assessments")):
        _add_assessment(converted, item)
    # an empty list of contexts stays: the retriever found nothing
    return {name: value for name, value in converted.items() if value not in (None, {})}


def _add_assessment(converted: dict[str, Any], item: Row) -> None:
    """Add an expectation as reference or relevant documents; any other assessment goes to meta."""
    name = item.get("assessment_name") or item.get("name")
    value = get_mapping(item, "expectation").get("value")
    if value is not None and name in _REFERENCE_NAMES:
        converted["reference"] = value
    elif value is not None and name in _RELEVANT_NAMES:
        converted["relevant"] = value
    else:
        feedback = get_mapping(item, "feedback").get("value")
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
    return decode_json_text(get_mapping(span, "attributes").get(name))


def _get_parent(span: Row) -> Any:
    return span.get("parent_span_id") or span.get("parent_id")


def _choose(*values: Any) -> Any:
    """The first that is not None, decoded."""
    return next((decode_json_text(value) for value in values if value is not None), None)


FORMATS = (
    build_format(
        "mlflow",
        "MLflow (inputs, outputs, expectations)",
        ("inputs outputs", "inputs expectations"),
        allows_nested_text=True,
        allows_single_context=True,
        id="id dataset_record_id trace_id",
        question=f"{nest_names('inputs', QUESTION)} inputs",
        answer=f"{nest_names('outputs', ANSWER)} outputs",
        contexts=nest_names("outputs", CONTEXTS),
        reference=nest_names(
            "expectations", f"expected_response {REFERENCE} answer expected_facts"
        ),
        relevant=nest_names("expectations", "expected_retrieved_context relevant_doc_ids"),
        meta="tags metadata",
        error="error",
    ),
    build_format(
        "mlflow2",
        "MLflow 2 (request, response, retrieved_context)",
        ("request response", "request expected_response", "request retrieved_context"),
        allows_nested_text=True,
        id="request_id id",
        question="request",
        answer="response",
        contexts="retrieved_context",
        reference="expected_response expected_facts",
        relevant="expected_retrieved_context",
        meta="tags metadata",
        error="error",
    ),
    build_format(
        "mlflow-traces",
        "MLflow traces",
        (
            "request response spans",
            "request response trace",
            "info data",
            "trace_id trace state request_time execution_duration request response spans "
            "trace_metadata assessments tags",
            "request_id trace timestamp_ms status execution_time_ms request response spans "
            "request_metadata assessments tags",
        ),
        allows_nested_text=True,
        convert=convert_mlflow_trace,
        **PLAIN_COLUMNS,
    ),
)
