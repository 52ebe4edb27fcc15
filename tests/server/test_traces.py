from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from live import in_thread
from ragstone.monitor import Archive
from ragstone.server import ServerSettings
from ragstone.store import Store
from waiting import wait_until


def trace(id: str, question: str) -> dict[str, Any]:
    def attribute(key: str, text: str) -> dict[str, Any]:
        return {"key": key, "value": {"stringValue": text}}

    span = {
        "traceId": id,
        "spanId": "00000000000000a1",
        "name": "answer",
        "startTimeUnixNano": str(time.time_ns()),
        "endTimeUnixNano": str(time.time_ns()),
        "attributes": [
            attribute("openinference.span.kind", "CHAIN"),
            attribute("input.value", question),
            attribute("output.value", "the answer"),
        ],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def wait_for(archive: Archive, *ids: str) -> None:
    wait_until(lambda: all(archive.get(id) is not None for id in ids), "every trace is stored")


def test_traces_over_http_in_every_form(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    archive = Archive(store)
    ids = [f"{n:032x}" for n in (1, 2, 3)]
    hook = lambda text, field: text.replace("hushed", "***")  # noqa: E731
    with in_thread(ServerSettings(grace=0.2, redact=hook), store) as server:
        assert server.post("/v1/traces", trace(ids[0], "hushed one?")).json == {}
        packed = gzip.compress(json.dumps(trace(ids[1], "two?")).encode())
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        assert server.ask("POST", "/v1/traces", headers=headers, raw=packed).status == 200
        json_format = pytest.importorskip("google.protobuf.json_format")
        service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        body = trace(ids[2], "three?")
        span = body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        message = service.ExportTraceServiceRequest()
        del span["traceId"], span["spanId"]
        json_format.ParseDict(body, message)
        found = message.resource_spans[0].scope_spans[0].spans[0]
        found.trace_id, found.span_id = bytes.fromhex(ids[2]), b"12345678"
        headers = {"Content-Type": "application/x-protobuf"}
        answer = server.ask("POST", "/v1/traces", headers=headers, raw=message.SerializeToString())
        assert (answer.status, answer.body) == (200, b"")
        assert answer.headers["Content-Type"] == "application/x-protobuf"
        assert server.ask("POST", "/v1/traces", headers=headers, raw=b"\xff").status == 400
        assert server.post("/v1/traces", []).status == 400
        wait_for(archive, *ids)
    questions = {interaction.id: interaction.question for interaction in archive.interactions()}
    assert questions == dict(zip(ids, ["*** one?", "two?", "three?"], strict=True))
    raw = b"".join(file.read_bytes() for file in tmp_path.glob("s.db*"))
    assert b"hushed" not in raw


def test_held_spans_outlive_the_server(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    archive = Archive(store)
    with in_thread(ServerSettings(grace=60), store) as server:
        server.post("/v1/traces", trace("a" * 32, "q?"))
    assert archive.get("a" * 32) is None
    with in_thread(ServerSettings(grace=0), store):
        wait_for(archive, "a" * 32)
    assert archive.get("a" * 32) is not None
