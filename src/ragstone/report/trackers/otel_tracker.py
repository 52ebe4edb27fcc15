"""OpenTelemetry: a trace for each run, a span for each sample, an event for each score (`gen_ai.evaluation.result`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ragstone._version import __version__
from ragstone.errors import RagstoneError
from ragstone.report.trackers.contents import RunContents, list_contexts
from ragstone.store import StoredRow

SPANS_AT_ONCE = 200


def send(run: RunContents, project: str) -> str:
    """Send a run over OTLP/HTTP to OTEL_EXPORTER_OTLP_ENDPOINT, with OTEL_EXPORTER_OTLP_HEADERS; `project` is the service's name."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import SpanExportResult
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    exporter = OTLPSpanExporter()
    trace = int(run.make_id("trace", length=32), 16)
    root = _make_context(trace, run.make_id("root", length=16))
    shared = {
        "resource": Resource.create({"service.name": project}),
        "instrumentation_scope": InstrumentationScope("ragstone", __version__),
    }
    spans, count = _iter_spans(run, root, shared), 0
    try:
        while part := list(islice(spans, SPANS_AT_ONCE)):
            if exporter.export(part) is not SpanExportResult.SUCCESS:
                raise RagstoneError(
                    "the collector took no spans; set OTEL_EXPORTER_OTLP_ENDPOINT to its address (OTLP over HTTP)"
                )
            count += len(part)
    finally:
        exporter.shutdown()
    return f"{count} spans of the trace {trace:032x}"


def _iter_spans(run: RunContents, root: Any, shared: dict[str, Any]) -> Iterator[Any]:
    """The span of the run, which has the figures, and below it one for each sample."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace.status import Status, StatusCode

    first = last = 0
    for row in run.iter_samples():
        start, end = run.find_times(row)
        first, last = first or start, max(last, end)
        sample = row.sample
        attributes: dict[str, Any] = {
            "ragstone.sample": row.id,
            "input.value": sample.question or "",
            "output.value": sample.answer or "",
            "retrieval.documents": [chunk["text"] for chunk in list_contexts(sample)],
        }
        yield ReadableSpan(
            "sample",
            _make_context(root.trace_id, run.make_id(row.id, length=16)),
            parent=root,
            attributes=attributes,
            events=[_build_event(run, row, name, end) for name in row.scores],
            status=Status(StatusCode.ERROR, sample.error) if sample.error else Status(),
            start_time=start,
            end_time=end,
            **shared,
        )
    figures = {f"ragstone.{name}": value for name, value in run.collect_figures().items()}
    facts = {f"ragstone.{name}": value for name, value in run.collect_facts().items()}
    yield ReadableSpan(
        f"ragstone {run.name}", root, attributes={**facts, **figures}, status=Status(),
        start_time=first, end_time=last, **shared,
    )  # fmt: skip


def _build_event(run: RunContents, row: StoredRow, name: str, at: int) -> Any:
    from opentelemetry.sdk.trace import Event

    score = row.scores[name]
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.label": score.outcome,
        "gen_ai.evaluation.explanation": run.explain(score),
    }
    if score.value is not None:
        attributes["gen_ai.evaluation.score.value"] = score.value
    return Event("gen_ai.evaluation.result", attributes, at)


def _make_context(trace: int, span: str) -> Any:
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(trace, int(span, 16), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))  # fmt: skip
