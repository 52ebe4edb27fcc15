"""Phoenix: a span for each sample in OpenInference's words, and an annotation for each metric with the evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ragstone.report.trackers.contents import RunContents, list_contexts, to_iso
from ragstone.store import StoredRow

SPANS_AT_ONCE = 200


def send(run: RunContents, project: str) -> str:
    """Send a run to a project; server and key are PHOENIX_COLLECTOR_ENDPOINT and PHOENIX_API_KEY."""
    from phoenix.client import Client

    client = Client()
    judged = {str(metric["name"]) for metric in run.stored.info.metrics if metric["judged"]}
    rows, count = run.iter_samples(), 0
    while part := list(islice(rows, SPANS_AT_ONCE)):
        _log_new_spans(client, project, [_build_span(run, row) for row in part])
        annotations = [item for row in part for item in _list_annotations(run, row, judged)]
        if annotations:
            client.spans.log_span_annotations(span_annotations=annotations, sync=False)
        count += len(part)
    return f"{count} spans in the Phoenix project {project}"


def _log_new_spans(client: Any, project: str, spans: list[Any]) -> None:
    """Log the spans; of a run that is sent again they are there already, and only its annotations are renewed."""
    from phoenix.client.exceptions import SpanCreationError

    try:
        client.spans.log_spans(project_identifier=project, spans=spans)
    except SpanCreationError as refused:
        if refused.invalid_spans:
            raise
        known = {span.get("span_id") for span in refused.duplicate_spans}
        new = [span for span in spans if span["context"]["span_id"] not in known]
        if new:
            client.spans.log_spans(project_identifier=project, spans=new)


def _build_span(run: RunContents, row: StoredRow) -> dict[str, Any]:
    sample, (start, end) = row.sample, run.find_times(row)
    attributes: dict[str, Any] = {
        "openinference.span.kind": "CHAIN",
        "input.value": sample.question or "",
        "output.value": sample.answer or "",
        "session.id": run.stored.id,
        "metadata": json.dumps({"sample": row.id, "run": run.name, "reference": sample.reference}),
    }
    for n, chunk in enumerate(list_contexts(sample)):
        attributes[f"retrieval.documents.{n}.document.id"] = chunk["id"]
        attributes[f"retrieval.documents.{n}.document.content"] = chunk["text"]
    return {
        "name": "sample",
        "context": {
            "trace_id": run.make_id(row.id, length=32),
            "span_id": run.make_id(row.id, length=16),
        },
        "span_kind": "CHAIN",
        "start_time": to_iso(start),
        "end_time": to_iso(end),
        "status_code": "ERROR" if sample.error else "OK",
        "status_message": sample.error or "",
        "attributes": attributes,
    }


def _list_annotations(run: RunContents, row: StoredRow, judged: set[str]) -> Iterator[Any]:
    for name, score in row.scores.items():
        result: dict[str, Any] = {"label": score.outcome, "explanation": run.explain(score)}
        if score.value is not None:
            result["score"] = score.value
        yield {
            "span_id": run.make_id(row.id, length=16),
            "name": name,
            "annotator_kind": "LLM" if name in judged else "CODE",
            "result": {key: value for key, value in result.items() if value != ""},
            # the same run sent again replaces its annotations
            "identifier": run.stored.id,
        }
