"""The OpenAPI document of the endpoints in `server/routes.py`, and the parts that their descriptions are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragstone._version import __version__
from ragstone.monitor.interactions import MAX_CHUNKS, MAX_ID_CHARS, MAX_META_CHARS, MAX_META_FIELDS
from ragstone.server.settings import MAX_LISTED, ServerSettings

Schema = dict[str, Any]
Operation = tuple[str, str, Schema, bool]
"""Path, method, description, and whether it needs no token."""


def build_document(settings: ServerSettings, operations: Iterable[Operation]) -> Schema:
    """The document of these endpoints under these settings."""
    paths: dict[str, Schema] = {}
    for path, method, schema, is_public in operations:
        codes = schema["responses"]
        if is_public:
            schema["security"] = []
        for code in ("403",) if settings.token is None or is_public else ("401", "403"):
            codes[code] = build_error_response(_STATUS_TEXT[code])
        paths.setdefault(path, {})[method] = schema
    document: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "ragstone monitor",
            "version": __version__,
            "description": "Interactions of a live RAG system in, quality by window out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": settings.prefix or "/"}],
        "paths": paths,
        "components": {"schemas": build_schemas()},
    }
    if settings.token is not None:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def describe_metrics() -> Schema:
    """The Prometheus endpoint."""
    text = {"schema": {"type": "string"}}
    return {
        "summary": "Figures for Prometheus",
        "responses": {
            "200": {"description": "Done", "content": {"text/plain": text}},
            "501": build_error_response("The extra `prometheus` is not installed"),
            "503": build_error_response(_STATUS_TEXT["503"]),
        },
    }


def describe_traces() -> Schema:
    """The OTLP/HTTP endpoint."""
    operation = describe_post(
        "Spans by OTLP/HTTP",
        "OpenInference and OpenTelemetry GenAI conventions. The spans of a trace become one interaction once its "
        "root ended, or after a time without further spans.",
        {"type": "object"},
        "Nothing",
    )
    content = operation["requestBody"]["content"]
    content["application/x-protobuf"] = {"schema": {"type": "string", "format": "binary"}}
    operation["responses"]["200"]["content"]["application/x-protobuf"] = {
        "schema": {"type": "string", "format": "binary"}
    }
    return operation


def describe_post(summary: str, description: str, body: Schema, answer: str) -> Schema:
    """An endpoint that stores rows; `answer` names the schema of its response."""
    return {
        "summary": summary,
        "description": description,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": build_ok_response(answer),
            **{
                code: build_error_response(_STATUS_TEXT[code])
                for code in ("400", "413", "415", "422", "500")
            },
            **{
                code: {
                    **build_error_response(_STATUS_TEXT[code]),
                    "headers": {"Retry-After": build_retry_header()},
                }
                for code in ("429", "503")
            },
        },
    }


def describe_get(
    summary: str, parameters: list[Schema], answer: str, *, missing: bool = False
) -> Schema:
    """An endpoint that reads from the store; `answer` names the schema of its response, `missing` adds a 404."""
    codes = ("404", "422", "503") if missing else ("422", "503")
    return {
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": build_ok_response(answer),
            **{code: build_error_response(_STATUS_TEXT[code]) for code in codes},
        },
    }


def describe_plain_get(summary: str, answer: str) -> Schema:
    """An endpoint that always succeeds."""
    return {"summary": summary, "responses": {"200": build_ok_response(answer)}}


_STATUS_TEXT = {
    "400": "The body cannot be read",
    "401": "No token, or not the right one",
    "403": "Not for this host or origin",
    "404": "Nothing has this name",
    "413": "The body is too large",
    "415": "Not a type or encoding that is read here",
    "422": "What is wrong with which row or parameter",
    "429": "Too much at once",
    "500": "The redaction hook failed; nothing was stored",
    "503": "The store cannot be reached, or the server is stopping",
}


def build_ok_response(name: str) -> Schema:
    return {"description": "Done", "content": {"application/json": {"schema": build_ref(name)}}}


def build_error_response(description: str) -> Schema:
    return {
        "description": description,
        "content": {"application/json": {"schema": build_ref("Error")}},
    }


def build_retry_header() -> Schema:
    return {"description": "Seconds to wait", "required": True, "schema": {"type": "integer"}}


def build_parameter(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema,
            **({"description": description} if description else {})}  # fmt: skip


def build_ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def build_one_or_many(name: str, most: int) -> Schema:
    many = {"type": "array", "items": build_ref(name), "minItems": 1, "maxItems": most}
    return {"oneOf": [build_ref(name), many]}


def build_schemas() -> Schema:
    """Schemas of requests and responses."""
    text = {"type": ["string", "null"]}
    count = {"type": "integer", "minimum": 0}
    amount = {"type": ["number", "null"], "minimum": 0, "maximum": 1e15}
    id = {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS, "pattern": r"^[!-~]+$"}
    at = {"type": ["string", "number", "null"], "description": "ISO 8601 or seconds since 1970; now if not given"}  # fmt: skip
    feedback = {
        "oneOf": [
            {"type": "number", "minimum": 0, "maximum": 1},
            {"type": "boolean"},
            {"enum": ["up", "down"]},
            {"type": "null"},
        ]
    }
    fields: Schema = {
        "id": {
            **id,
            "description": "Made here if not given; give one, so that sending again is safe",
        },
        "at": at,
        "question": text,
        "contexts": {
            "type": ["array", "null"],
            "maxItems": MAX_CHUNKS,
            "items": {"anyOf": [{"type": "string"}, build_ref("Chunk")]},
        },
        "answer": text,
        "reference": text,
        "feedback": feedback,
        "comment": text,
        "latency": {**amount, "description": "Seconds"},
        "cost": {**amount, "description": "US dollars"},
        "tokens": {"type": ["integer", "null"], "minimum": 0, "maximum": 10**15},
        "language": {**text, "description": "A language tag such as en or es-MX"},
        "error": {**text, "description": "Why there is no answer"},
        "meta": {
            "type": ["object", "null"],
            "maxProperties": MAX_META_FIELDS,
            "propertyNames": {"pattern": r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"},
            "additionalProperties": {
                "type": ["string", "number", "boolean", "null"],
                "maxLength": MAX_META_CHARS,
                "minimum": -1e15,
                "maximum": 1e15,
            },
        },
    }
    # what the server returns: texts and numbers only, where a request may write other forms
    stored = {**fields, "id": {"type": "string"}, "at": {"type": "string"},
              "feedback": {"type": "number", "minimum": 0, "maximum": 1}}  # fmt: skip
    # at least one of these must be there and not null, as `parse_interaction` and `parse_feedback` check
    any_text = [{"required": [name], "properties": {name: {"type": "string"}}}
            for name in ("question", "answer", "error")]  # fmt: skip
    any_feedback = [{"required": ["feedback"], "properties": {"feedback": {"not": {"type": "null"}}}},
            {"required": ["comment"], "properties": {"comment": {"type": "string"}}}]  # fmt: skip
    return {
        "Chunk": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "minLength": 1},
                "text": {"type": "string"},
                "score": {"type": ["number", "null"]},
            },
            "anyOf": [{"required": ["id"]}, {"required": ["text"]}],
        },
        "Interaction": {
            "type": "object",
            "properties": fields,
            "additionalProperties": False,
            "anyOf": any_text,
        },
        "Feedback": {
            "type": "object",
            "properties": {"id": id, "at": at, "feedback": feedback, "comment": text},
            "required": ["id"],
            "additionalProperties": False,
            "anyOf": any_feedback,
        },
        "Accepted": build_closed_object(
            accepted=count, repeated=count, ids={"type": "array", "items": {"type": "string"}}
        ),
        "FeedbackAccepted": build_closed_object(accepted=count),
        "Nothing": {"type": "object", "maxProperties": 0},
        "StoredInteraction": {
            "type": "object",
            "properties": stored,
            "required": ["id", "at"],
            "additionalProperties": False,
        },
        "Interactions": build_closed_object(
            interactions={
                "type": "array",
                "items": build_ref("StoredInteraction"),
                "maxItems": MAX_LISTED,
            }
        ),
        "ScoredInteraction": {
            "type": "object",
            "properties": {
                **stored,
                "scores": {"type": "object", "additionalProperties": build_ref("Score")},
            },
            "required": ["id", "at", "scores"],
            "additionalProperties": False,
        },
        "Score": {
            "type": "object",
            "description": "A value, or the outcome that says why there is none; and its evidence",
            "properties": {
                "value": {"type": "number"},
                "outcome": {"type": "string"},
                "reason": {"type": "string"},
                "findings": {"type": "array", "items": {"type": "object"}},
            },
        },
        "Summary": {
            "type": "object",
            "properties": {
                "whole": {"type": "object"},
                "slices": {"type": "array", "items": {"type": "object"}},
                "more": {
                    "type": "integer",
                    "description": "values of the field beyond these slices",
                },
            },
            "required": ["whole", "slices", "more"],
        },
        "Status": {
            "type": "object",
            "properties": {
                "version": {"type": "string"},
                "started": {"type": "string"},
                "counters": {"type": "object", "additionalProperties": count},
                "waiting": build_closed_object(requests=count, rows=count),
            },
            "required": ["version", "started", "counters", "waiting"],
        },
        "Health": build_closed_object(ok={"const": True}),
        "Document": {"type": "object", "required": ["openapi", "paths"]},
        "Error": {
            "type": "object",
            "properties": {
                "error": {"type": "string"},
                "rows": {
                    "type": "array",
                    "items": build_closed_object(row=count, why={"type": "string"}),
                },
            },
            "required": ["error"],
            "additionalProperties": False,
        },
    }


def build_closed_object(**properties: Schema) -> Schema:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
