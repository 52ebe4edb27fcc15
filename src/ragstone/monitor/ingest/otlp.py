"""The body of an OTLP/HTTP request, JSON or protobuf, as spans."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ragstone.data.strict import BadRow, mend, parse
from ragstone.errors import MissingExtra
from ragstone.monitor.ingest.spans import WANTED, Span

DEEPEST = 20
"""How deep an attribute's value may nest."""


def spans_of_json(body: bytes) -> list[Span]:
    """The spans of an ExportTraceServiceRequest written as JSON; BadRow says what is wrong."""
    try:
        tree = parse(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadRow("the body is not UTF-8") from None
    if not isinstance(tree, dict):
        raise BadRow("the body is not an object with resourceSpans")
    found = []
    for resource in _objects(tree, "resourceSpans"):
        about = _attributes(resource.get("resource") or {})
        for scope in _objects(resource, "scopeSpans"):
            for span in _objects(scope, "spans"):
                found.append(_span(span, about))
    return found


def spans_of_protobuf(body: bytes) -> list[Span]:
    """The spans of an ExportTraceServiceRequest in protobuf (extra `otel`)."""
    try:
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )
    except ImportError:
        raise MissingExtra("OTLP in protobuf", "otel") from None
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError:
        raise BadRow("the body is not an ExportTraceServiceRequest in protobuf") from None
    found = []
    for resource in request.resource_spans:
        about = {item.key: _any_value(item.value) for item in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                own = {item.key: _any_value(item.value) for item in span.attributes}
                failed = span.status.message or "the span failed"
                found.append(
                    Span(
                        trace=_id(span.trace_id, 16),
                        id=_id(span.span_id, 8),
                        parent=span.parent_span_id.hex(),
                        name=mend(span.name),
                        start=span.start_time_unix_nano // 1000,
                        end=span.end_time_unix_nano // 1000,
                        attributes=_kept(about, own),
                        error=failed if span.status.code == 2 else None,
                    )
                )
    return found


def _span(row: dict[str, Any], about: dict[str, Any]) -> Span:
    status = row.get("status") or {}
    if not isinstance(status, dict):
        raise BadRow("a span's status is not an object")
    parent = row.get("parentSpanId") or ""
    return Span(
        trace=_id(_bytes(row.get("traceId"), "traceId"), 16),
        id=_id(_bytes(row.get("spanId"), "spanId"), 8),
        parent=_bytes(parent, "parentSpanId").hex() if parent else "",
        name=str(row.get("name") or ""),
        start=_nanos(row, "startTimeUnixNano") // 1000,
        end=_nanos(row, "endTimeUnixNano") // 1000,
        attributes=_kept(about, _attributes(row)),
        error=(str(status.get("message") or "") or "the span failed")
        if status.get("code") in (2, "STATUS_CODE_ERROR")
        else None,
    )


def _kept(about: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Of what a resource and a span say, the part that the conventions define; the rest is not ours to keep."""
    every = {**about, **own}
    return {name: value for name, value in every.items() if name.startswith(WANTED)}


def _objects(tree: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    items = tree.get(key)
    if items is None:
        return
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadRow(f'"{key}" is not a list of objects')
    yield from items


def _attributes(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadRow("a resource is not an object")
    found = {}
    for item in _objects(row, "attributes"):
        key, value = item.get("key"), item.get("value")
        if not isinstance(key, str):
            raise BadRow('an attribute has no "key"')
        found[key] = _value(value, 0)
    return found


def _value(value: Any, depth: int) -> Any:
    """What an AnyValue in JSON holds."""
    if value is None:
        return None
    if not isinstance(value, dict) or depth > DEEPEST:
        raise BadRow('an attribute\'s value is not an object such as {"stringValue": …}')
    if "stringValue" in value:
        return str(value["stringValue"])
    if "boolValue" in value:
        return bool(value["boolValue"])
    if "intValue" in value:
        return _whole(value["intValue"], "intValue")
    if "doubleValue" in value:
        return _double(value["doubleValue"])
    if "arrayValue" in value:
        inner = value["arrayValue"] or {}
        if not isinstance(inner, dict):
            raise BadRow("an arrayValue is not an object with values")
        return [_value(item, depth + 1) for item in _objects(inner, "values")]
    if "kvlistValue" in value:
        inner = value["kvlistValue"] or {}
        if not isinstance(inner, dict):
            raise BadRow("a kvlistValue is not an object with values")
        return {
            str(item.get("key")): _value(item.get("value"), depth + 1)
            for item in _objects(inner, "values")
        }
    return None


def _any_value(value: Any, depth: int = 0) -> Any:
    """What an AnyValue in protobuf holds."""
    which = value.WhichOneof("value")
    if which is None or depth > DEEPEST or which == "bytes_value":
        return None
    if which == "array_value":
        return [_any_value(item, depth + 1) for item in value.array_value.values]
    if which == "kvlist_value":
        return {item.key: _any_value(item.value, depth + 1) for item in value.kvlist_value.values}
    found = getattr(value, which)
    if isinstance(found, float) and found - found != 0:  # not finite
        return None
    return mend(found) if isinstance(found, str) else found


def _id(raw: bytes, length: int) -> str:
    if len(raw) != length or not any(raw):
        what = "trace" if length == 16 else "span"
        raise BadRow(f"a {what} id is not {length} bytes that are not all zero")
    return raw.hex()


def _bytes(value: Any, key: str) -> bytes:
    """An id in JSON: hexadecimal by the OTLP specification, base64 from plain protobuf writers."""
    if not isinstance(value, str) or not value:
        raise BadRow(f'a span has no "{key}"')
    if len(value) in (16, 32):
        with suppress(ValueError):  # then it may be base64
            return bytes.fromhex(value)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadRow(f'"{key}" is {value[:40]!r}; give it in hexadecimal') from None


def _nanos(row: dict[str, Any], key: str) -> int:
    return max(0, _whole(row.get(key) or 0, key))


def _double(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None  # "NaN" and "Infinity" say nothing
    try:
        return float(value)
    except OverflowError:
        raise BadRow(f'"doubleValue" is {str(value)[:40]!r}…, beyond every float') from None


def _whole(value: Any, key: str) -> int:
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 21:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**64:
        raise BadRow(f'"{key}" is {str(value)[:40]!r}; give a whole number')
    return value
