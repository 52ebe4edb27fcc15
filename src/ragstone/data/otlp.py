"""Parser of OTLP/HTTP request bodies, JSON or protobuf, into spans."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ragstone.data.spans import ATTRIBUTE_PREFIXES, TraceSpan
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.errors import MissingExtra

MAX_VALUE_DEPTH = 20
"""How deep an attribute's value may nest."""


def parse_json_spans(body: bytes) -> list[TraceSpan]:
    """The spans of an ExportTraceServiceRequest in JSON; BadRow says what is wrong."""
    try:
        tree = parse_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadRow("the body is not UTF-8") from None
    return list_spans(tree)


def list_spans(tree: Any) -> list[TraceSpan]:
    """The spans of a parsed ExportTraceServiceRequest; BadRow says what is wrong."""
    if not isinstance(tree, dict):
        raise BadRow("the body is not an object with resourceSpans")
    spans = []
    for resource in _iter_objects(tree, "resourceSpans"):
        resource_attributes = _parse_attributes(resource.get("resource") or {})
        for scope in _iter_objects(resource, "scopeSpans"):
            for span in _iter_objects(scope, "spans"):
                spans.append(_parse_span(span, resource_attributes))
    return spans


def parse_protobuf_spans(body: bytes) -> list[TraceSpan]:
    """The spans of an ExportTraceServiceRequest in protobuf (extra `otel`)."""
    try:
        from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
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
    return list_spans(MessageToDict(request))


def _parse_span(row: dict[str, Any], resource_attributes: dict[str, Any]) -> TraceSpan:
    status = row.get("status") or {}
    if not isinstance(status, dict):
        raise BadRow("a span's status is not an object")
    parent = row.get("parentSpanId") or ""
    return TraceSpan(
        trace=_format_id(_parse_id(row.get("traceId"), "traceId"), 16),
        id=_format_id(_parse_id(row.get("spanId"), "spanId"), 8),
        parent=_parse_id(parent, "parentSpanId").hex() if parent else "",
        name=_to_text(row.get("name") or ""),
        start=_parse_nanos(row, "startTimeUnixNano") // 1000,
        end=_parse_nanos(row, "endTimeUnixNano") // 1000,
        attributes=_select_attributes(resource_attributes, _parse_attributes(row)),
        error=_to_text(status.get("message") or "the span failed")
        if status.get("code") in (2, "STATUS_CODE_ERROR")
        else None,
    )


def _select_attributes(
    resource_attributes: dict[str, Any], attributes: dict[str, Any]
) -> dict[str, Any]:
    """The attributes of a resource and a span that the conventions define; others are not stored."""
    merged = {**resource_attributes, **attributes}
    return {name: value for name, value in merged.items() if name.startswith(ATTRIBUTE_PREFIXES)}


def _iter_objects(tree: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    items = tree.get(key)
    if items is None:
        return
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadRow(f'"{key}" is not a list of objects')
    yield from items


def _parse_attributes(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadRow("a resource is not an object")
    attributes = {}
    for item in _iter_objects(row, "attributes"):
        key, value = item.get("key"), item.get("value")
        if not isinstance(key, str):
            raise BadRow('an attribute has no "key"')
        attributes[key] = _parse_any_value(value, 0)
    return attributes


def _parse_any_value(value: Any, depth: int) -> Any:
    """The value of an AnyValue in JSON."""
    if value is None:
        return None
    if not isinstance(value, dict) or depth > MAX_VALUE_DEPTH:
        raise BadRow('an attribute\'s value is not an object such as {"stringValue": …}')
    if "stringValue" in value:
        return _to_text(value["stringValue"])
    if "boolValue" in value:
        return bool(value["boolValue"])
    if "intValue" in value:
        return _parse_int(value["intValue"], "intValue")
    if "doubleValue" in value:
        return _parse_double(value["doubleValue"])
    if "arrayValue" in value:
        return [_parse_any_value(item, depth + 1) for item in _iter_values(value, "arrayValue")]
    if "kvlistValue" in value:
        return {
            str(item.get("key")): _parse_any_value(item.get("value"), depth + 1)
            for item in _iter_values(value, "kvlistValue")
        }
    return None


def _iter_values(value: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The members of an arrayValue or a kvlistValue."""
    inner = value[key] or {}
    if not isinstance(inner, dict):
        article = "an" if key.startswith("a") else "a"
        raise BadRow(f"{article} {key} is not an object with values")
    return iter(_iter_objects(inner, "values"))


def _format_id(raw: bytes, length: int) -> str:
    if len(raw) != length or not any(raw):
        kind = "trace" if length == 16 else "span"
        raise BadRow(f"a {kind} id is not {length} bytes that are not all zero")
    return raw.hex()


def _parse_id(value: Any, key: str) -> bytes:
    """An id in JSON: hexadecimal by the OTLP specification, base64 from generic protobuf-to-JSON writers."""
    if not isinstance(value, str) or not value:
        raise BadRow(f'a span has no "{key}"')
    # 8 or 16 bytes in hexadecimal; in base64 they take 12 or 24 characters, so the length decides
    if len(value) in (16, 32):
        with suppress(ValueError):  # then it may be base64
            return bytes.fromhex(value)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadRow(f'"{key}" is {value[:40]!r}; give it in hexadecimal') from None


def _to_text(value: Any) -> str:
    """The text without NUL, which a text of protobuf may hold and no database."""
    return str(value).replace("\x00", "\ufffd")


def _parse_nanos(row: dict[str, Any], key: str) -> int:
    return max(0, _parse_int(row.get(key) or 0, key))


def _parse_double(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None  # also the strings "NaN" and "Infinity"
    try:
        return float(value)
    except OverflowError:
        raise BadRow(f'"doubleValue" is {str(value)[:40]!r}…, beyond every float') from None


def _parse_int(value: Any, key: str) -> int:
    # OTLP writes 64-bit integers as strings in JSON; 20 characters hold every one of them
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 21:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**64:
        raise BadRow(f'"{key}" is {str(value)[:40]!r}; give a whole number')
    return value
