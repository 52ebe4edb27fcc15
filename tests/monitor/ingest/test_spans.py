"""Traces by both conventions, as JSON and as protobuf, become one interaction each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragstone.data.otlp import parse_json_spans, parse_protobuf_spans
from ragstone.data.spans import TraceSpan
from ragstone.data.strict_json import BadRow
from ragstone.monitor import Archive
from ragstone.monitor.ingest.traces import assemble_traces, build_interaction
from ragstone.monitor.interactions import Interaction, now_micros
from ragstone.store import Store

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_780_000_000_000_000_000


def value(item: Any) -> dict[str, Any]:
    if isinstance(item, bool):
        return {"boolValue": item}
    if isinstance(item, int):
        return {"intValue": str(item)}
    if isinstance(item, float):
        return {"doubleValue": item}
    if isinstance(item, list):
        return {"arrayValue": {"values": [value(one) for one in item]}}
    if isinstance(item, dict):
        return {"kvlistValue": {"values": [{"key": k, "value": value(v)} for k, v in item.items()]}}
    return {"stringValue": item}


def span(
    number: int, parent: int, seconds: float, attributes: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(START + number * 1000),
        "endTimeUnixNano": str(START + int(seconds * 1e9)),
        "attributes": [{"key": k, "value": value(v)} for k, v in attributes.items()],
        **more,
    }


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": value("shop")}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


OPENINFERENCE = [
    span(1, 0, 2.5, {
        "openinference.span.kind": "CHAIN", "input.value": "Where is Paris?",
        "output.value": "In France.", "session.id": "s1", "metadata": '{"tenant": "t", "x": [1]}',
    }),
    span(2, 1, 0.5, {
        "openinference.span.kind": "RETRIEVER", "input.value": "paris location",
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.content": "Paris is in France.",
        "retrieval.documents.0.document.score": 0.75,
        "retrieval.documents.10.document.content": "Last.",
        "retrieval.documents.2.document.id": 7,
    }),
    span(3, 1, 2.0, {
        "openinference.span.kind": "LLM", "llm.model_name": "small",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be brief.",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "In France, I think.",
        "llm.token_count.prompt": 100, "llm.token_count.completion": 20, "llm.cost.total": 0.01,
        "http.secret": "never kept",
    }),
]  # fmt: skip

GENAI = [
    span(1, 0, 2.5, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bot"}),
    span(2, 1, 0.5, {
        "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Where is Paris?",
        "gen_ai.retrieval.documents": json.dumps(
            [{"id": "d1", "content": "Paris is in France.", "score": 0.75}, {"id": "d2", "score": 0.5}]
        ),
    }),
    span(3, 1, 2.0, {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "small",
        "gen_ai.conversation.id": "s1",
        "gen_ai.input.messages": [
            {"role": "user", "parts": [{"type": "text", "content": "Context … Where is Paris?"}]}
        ],
        "gen_ai.output.messages": json.dumps([
            {"role": "assistant", "parts": [
                {"type": "reasoning", "content": "hm"}, {"type": "text", "content": "In France."}
            ], "finish_reason": "stop"}
        ]),
        "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20,
    }),
]  # fmt: skip


def read(spans: list[dict[str, Any]]) -> list[TraceSpan]:
    return parse_json_spans(json.dumps(request(*spans)).encode())


def one(spans: list[dict[str, Any]]) -> Interaction:
    interaction = build_interaction(read(spans), now_micros())
    assert interaction is not None
    return interaction


def test_openinference() -> None:
    found = one(OPENINFERENCE)
    assert (found.id, found.question, found.answer) == (TRACE, "Where is Paris?", "In France.")
    assert found.contexts is not None
    assert [(c.id, c.text, c.score) for c in found.contexts] == [
        ("d1", "Paris is in France.", 0.75),
        ("7", "", None),
        ("", "Last.", None),
    ]
    assert found.at == START // 1000 + 1
    assert (found.tokens, found.cost) == (120, 0.01)
    assert found.latency == pytest.approx(2.5, abs=0.001)
    assert found.meta == {"tenant": "t", "service": "shop", "session": "s1", "model": "small"}


def test_genai() -> None:
    found = one(GENAI)
    assert (found.question, found.answer) == ("Where is Paris?", "In France.")
    assert found.contexts is not None
    assert found.contexts.ids == ["d1", "d2"]
    assert found.tokens == 120
    assert found.meta == {"service": "shop", "model": "small", "session": "s1", "agent": "bot"}


@pytest.mark.parametrize("spans", [OPENINFERENCE, GENAI])
def test_protobuf_says_the_same_as_json(spans: list[dict[str, Any]]) -> None:
    json_format = pytest.importorskip("google.protobuf.json_format")
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    import base64

    def raw(item: dict[str, Any]) -> dict[str, Any]:
        ids = {
            key: base64.b64encode(bytes.fromhex(item[key])).decode()
            for key in ("traceId", "spanId", "parentSpanId")
        }
        return {**item, **ids}

    message = json_format.ParseDict(request(*map(raw, spans)), service.ExportTraceServiceRequest())
    assert parse_protobuf_spans(message.SerializeToString()) == read(spans)
    assert parse_json_spans(json.dumps(request(*map(raw, spans))).encode()) == read(spans)
    with pytest.raises(BadRow):
        parse_protobuf_spans(b"\xff\xff\xff")


def test_a_text_of_protobuf_may_hold_what_no_database_stores() -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    message = service.ExportTraceServiceRequest()
    span = (
        message.resource_spans.add()
        .scope_spans.add()
        .spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name="a\x00b")
    )
    span.attributes.add(key="input.value").value.string_value = "x\x00y"
    span.attributes.add(key="llm.cost.total").value.double_value = float("nan")
    (found,) = parse_protobuf_spans(message.SerializeToString())
    assert (found.name, found.attributes) == (
        "a\ufffdb",
        {"input.value": "x\ufffdy", "llm.cost.total": None},
    )


def test_only_what_the_conventions_define_is_kept() -> None:
    assert all("http.secret" not in found.attributes for found in read(OPENINFERENCE))


def test_a_failed_trace_is_an_error_and_a_foreign_one_is_nothing() -> None:
    failed = [{**OPENINFERENCE[0], "status": {"code": 2, "message": "timed out"}}]
    assert one(failed).error == "timed out"
    assert build_interaction(read([span(1, 0, 1, {"http.method": "GET"})]), now_micros()) is None
    assert build_interaction([], now_micros()) is None


def test_older_names_and_json_values_are_understood() -> None:
    older = one([span(1, 0, 1, {
        "gen_ai.system": "x", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "q?",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "a!",
        "gen_ai.usage.prompt_tokens": 3,
    })])  # fmt: skip
    assert (older.question, older.answer, older.tokens) == ("q?", "a!", 3)
    chain = one([span(1, 0, 1, {
        "openinference.span.kind": "CHAIN", "input.value": '{"query": "q?"}',
        "output.value": '{"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a!"}]}',
    })])  # fmt: skip
    assert (chain.question, chain.answer) == ("q?", "a!")


def test_a_reranker_has_the_last_word_on_the_order() -> None:
    found = one([*OPENINFERENCE, span(4, 1, 0.6, {
        "openinference.span.kind": "RERANKER",
        "reranker.output_documents.0.document.id": "best",
        "reranker.output_documents.0.document.content": "Best.",
    })])  # fmt: skip
    assert found.contexts is not None
    assert found.contexts.ids == ["best"]


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{", b'{"resourceSpans": {}}', b'{"resourceSpans": [1]}',
     b'{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}',
     b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "00", "spanId": "1"}]}]}]}',
     b'{"resourceSpans": [{"resource": 3}]}', b"\xff"],
)  # fmt: skip
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(BadRow):
        parse_json_spans(body)


def test_spans_of_several_posts_wait_for_the_root(place: str) -> None:
    archive = Archive(Store.open(place))
    root, retriever, model = read(OPENINFERENCE)
    archive.add((), (), [retriever]).result()
    archive.add((), (), [model, retriever]).result()
    assert assemble_traces(archive, grace=0, timeout=60_000_000) == 0
    assert archive.get(TRACE) is None
    archive.add((), (), [root]).result()
    assert (
        assemble_traces(archive, grace=60_000_000, timeout=60_000_000) == 0
    )  # stragglers may come
    assert assemble_traces(archive, grace=0, timeout=60_000_000) == 1
    assert archive.get(TRACE) == one(OPENINFERENCE)
    assert archive.store.read("SELECT bucket FROM monitor_dirty")
    archive.add((), (), [retriever]).result()  # far too late: it changes nothing
    assert assemble_traces(archive, grace=0, timeout=0) == 1
    assert archive.get(TRACE) == one(OPENINFERENCE)
    assert archive.store.read("SELECT COUNT(*) FROM monitor_spans") == [(0,)]


def test_a_trace_without_its_root_is_complete_after_a_while(place: str) -> None:
    archive = Archive(Store.open(place))
    archive.add((), (), read(OPENINFERENCE)[1:]).result()
    assert assemble_traces(archive, grace=0, timeout=60_000_000) == 0
    assert assemble_traces(archive, grace=0, timeout=0) == 1
    found = archive.get(TRACE)
    assert found is not None
    assert (found.question, found.answer) == ("paris location", "In France, I think.")


HUGE = 10**400
"""A whole number that no float can hold."""


def huge_span(trace: str, **more: Any) -> TraceSpan:
    attributes = {
        "openinference.span.kind": "LLM",
        "input.value": "q?",
        "output.value": "a",
        **more,
    }
    return TraceSpan(trace, "1", start=START // 1000, end=START // 1000 + 5, attributes=attributes)


@pytest.mark.parametrize(
    "odd",
    [
        {"llm.cost.total": HUGE},
        {"llm.token_count.total": HUGE},
        {"llm.token_count.prompt": HUGE},
        {"metadata": f'{{"n": {HUGE}}}'},
        {"metadata": '{"n": Infinity}'},
        {"session.id": HUGE},
        {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.score": HUGE},
    ],
)
def test_a_number_beyond_every_float_costs_no_interaction(odd: dict[str, Any]) -> None:
    interaction = build_interaction([huge_span(TRACE, **odd)], now_micros())
    assert interaction is not None
    assert interaction.question == "q?"
    assert interaction.cost is None
    assert interaction.contexts is None or [chunk.score for chunk in interaction.contexts] == [None]


def test_a_double_beyond_every_float_is_refused_at_the_door() -> None:
    row = span(1, 0, 0, {})
    row["attributes"] = [{"key": "llm.cost.total", "value": {"doubleValue": HUGE}}]
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [row]}]}]}
    with pytest.raises(BadRow, match="doubleValue"):
        parse_json_spans(json.dumps(body).encode())


def test_a_trace_that_cannot_be_read_is_set_aside_and_holds_up_no_other(
    place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def read(spans: list[TraceSpan], now: int) -> Interaction | None:
        if spans[0].trace == "bad":
            raise ZeroDivisionError("nobody thought of this")
        return build_interaction(spans, now)

    monkeypatch.setattr("ragstone.monitor.ingest.traces.build_interaction", read)
    archive = Archive(Store.open(place))
    archive.add([], spans=[huge_span(trace) for trace in ("bad", "first", "second")]).result()
    assert assemble_traces(archive, grace=0, timeout=60_000_000) == 3
    assert {interaction.id for interaction in archive.interactions()} == {"first", "second"}
    assert archive.counters()["broken_traces"] == 1
    assert "nobody thought of this" in caplog.text
    assert assemble_traces(archive, grace=0, timeout=60_000_000) == 0
