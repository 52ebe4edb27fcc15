"""The OpenAPI document: every endpoint, what it takes and all that it may answer."""

from __future__ import annotations

from typing import Any

from ragstone._version import __version__
from ragstone.monitor.interactions import LONGEST_ID, LONGEST_META, MOST_CHUNKS, MOST_META
from ragstone.server.settings import Settings

Schema = dict[str, Any]


def document(settings: Settings) -> Schema:
    """The document for a server that is set up like this."""
    shown: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "ragstone monitor",
            "version": __version__,
            "description": "Interactions of a live RAG system in, quality by window out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": settings.prefix or "/"}],
        "paths": paths(settings),
        "components": {"schemas": schemas(settings)},
    }
    if settings.token is not None:
        shown["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        shown["security"] = [{"token": []}]
    return shown


def paths(settings: Settings) -> Schema:
    """Every endpoint."""
    every = own_paths()
    for path, item in every.items():
        for operation in item.values():
            codes = operation["responses"]
            open_to_all = path == "/healthz"
            if open_to_all:
                operation["security"] = []
            for code in ("403",) if settings.token is None or open_to_all else ("401", "403"):
                codes[code] = refusal(_WHY[code])
    return every


def own_paths() -> Schema:
    """The endpoints of this room."""
    return {
        "/v1/interactions": {
            "post": posting(
                "Store one interaction or a list of them",
                "Answered when the disk has them. Idempotent by id: what is sent again is not stored again. "
                "When one row is bad, none is stored.",
                one_or_many("Interaction"),
                "Accepted",
            ),
            "get": getting(
                "List interactions",
                [
                    parameter("since", {"type": "string"}, "ISO 8601, or seconds since 1970"),
                    parameter("until", {"type": "string"}, "Not included"),
                    parameter("limit", {"type": "integer", "minimum": 1, "maximum": 500}, ""),
                    parameter("order", {"enum": ["newest", "oldest"]}, ""),
                    parameter(
                        "slice", {"type": "array", "items": {"type": "string"}}, "field:value"
                    ),
                ],
                "Interactions",
            ),
        },
        "/v1/interactions/{id}": {
            "get": getting(
                "One interaction with its scores",
                [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string", "minLength": 1},
                    }
                ],
                "ScoredInteraction",
                missing=True,
            )
        },
        "/v1/feedback": {
            "post": posting(
                "Store what people said of interactions",
                "The interaction may come later. The latest word counts.",
                one_or_many("Feedback"),
                "FeedbackAccepted",
            )
        },
        "/v1/traces": {"post": traces()},
        "/v1/summary": {
            "get": getting(
                "A window in figures",
                [
                    parameter(
                        "window", {"type": "string"}, "5m, 1h, 24h, 7d … up to now or `until`"
                    ),
                    parameter("until", {"type": "string"}, "ISO 8601, or seconds since 1970"),
                    parameter("by", {"type": "string"}, "Also for each value of this field"),
                    parameter("slice", {"type": "string"}, "Only field:value"),
                ],
                "Summary",
            )
        },
        "/v1/status": {"get": getting("Counters, and what waits", [], "Status")},
        "/metrics": {"get": metrics()},
        "/healthz": {"get": plain("Whether the server is there", "Health")},
        "/openapi.json": {"get": plain("This document", "Document")},
    }


def metrics() -> Schema:
    """What Prometheus scrapes."""
    text = {"schema": {"type": "string"}}
    return {
        "summary": "Figures for Prometheus",
        "responses": {
            "200": {"description": "Done", "content": {"text/plain": text}},
            "501": refusal("The extra `prometheus` is not installed"),
            "503": refusal(_WHY["503"]),
        },
    }


def traces() -> Schema:
    """OTLP/HTTP."""
    operation = posting(
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


def posting(summary: str, description: str, body: Schema, answer: str) -> Schema:
    """An endpoint that stores."""
    return {
        "summary": summary,
        "description": description,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": ok(answer),
            **{code: refusal(_WHY[code]) for code in ("400", "413", "415", "422", "500")},
            **{
                code: {**refusal(_WHY[code]), "headers": {"Retry-After": retry()}}
                for code in ("429", "503")
            },
        },
    }


def getting(
    summary: str, parameters: list[Schema], answer: str, *, missing: bool = False
) -> Schema:
    """An endpoint that looks something up."""
    codes = ("404", "422", "503") if missing else ("422", "503")
    return {
        "summary": summary,
        "parameters": parameters,
        "responses": {"200": ok(answer), **{code: refusal(_WHY[code]) for code in codes}},
    }


def plain(summary: str, answer: str) -> Schema:
    """An endpoint that always answers."""
    return {"summary": summary, "responses": {"200": ok(answer)}}


_WHY = {
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


def ok(name: str) -> Schema:
    return {"description": "Done", "content": {"application/json": {"schema": ref(name)}}}


def refusal(why: str) -> Schema:
    return {"description": why, "content": {"application/json": {"schema": ref("Error")}}}


def retry() -> Schema:
    return {"description": "Seconds to wait", "required": True, "schema": {"type": "integer"}}


def parameter(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema,
            **({"description": description} if description else {})}  # fmt: skip


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def one_or_many(name: str) -> Schema:
    many = {"type": "array", "items": ref(name), "minItems": 1, "maxItems": 1000}
    return {"oneOf": [ref(name), many]}


def schemas(settings: Settings) -> Schema:
    """What goes in and comes out."""
    text = {"type": ["string", "null"]}
    count = {"type": "integer", "minimum": 0}
    amount = {"type": ["number", "null"], "minimum": 0, "maximum": 1e15}
    id = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": r"^[!-~]+$"}
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
            "maxItems": MOST_CHUNKS,
            "items": {"anyOf": [{"type": "string"}, ref("Chunk")]},
        },
        "answer": text,
        "reference": text,
        "feedback": feedback,
        "comment": text,
        "latency": {**amount, "description": "Seconds"},
        "cost": {**amount, "description": "US dollars"},
        "tokens": {"type": ["integer", "null"], "minimum": 0, "maximum": 10**15},
        "language": {"type": ["string", "null"], "maxLength": LONGEST_META},
        "error": {**text, "description": "Why there is no answer"},
        "meta": {
            "type": ["object", "null"],
            "maxProperties": MOST_META,
            "propertyNames": {"pattern": r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"},
            "additionalProperties": {
                "type": ["string", "number", "boolean", "null"],
                "maxLength": LONGEST_META,
                "minimum": -1e15,
                "maximum": 1e15,
            },
        },
    }
    stored = {**fields, "id": {"type": "string"}, "at": {"type": "string"},
              "feedback": {"type": "number", "minimum": 0, "maximum": 1}}  # fmt: skip
    some = [{"required": [name], "properties": {name: {"type": "string"}}}
            for name in ("question", "answer", "error")]  # fmt: skip
    said = [{"required": ["feedback"], "properties": {"feedback": {"not": {"type": "null"}}}},
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
            "anyOf": some,
        },
        "Feedback": {
            "type": "object",
            "properties": {"id": id, "at": at, "feedback": feedback, "comment": text},
            "required": ["id"],
            "additionalProperties": False,
            "anyOf": said,
        },
        "Accepted": closed(
            accepted=count, repeated=count, ids={"type": "array", "items": {"type": "string"}}
        ),
        "FeedbackAccepted": closed(accepted=count),
        "Nothing": {"type": "object", "maxProperties": 0},
        "StoredInteraction": {
            "type": "object",
            "properties": stored,
            "required": ["id", "at"],
            "additionalProperties": False,
        },
        "Interactions": closed(
            interactions={"type": "array", "items": ref("StoredInteraction"), "maxItems": 500}
        ),
        "ScoredInteraction": {
            "type": "object",
            "properties": {
                **stored,
                "scores": {"type": "object", "additionalProperties": ref("Score")},
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
                "waiting": closed(requests=count, rows=count),
            },
            "required": ["version", "started", "counters", "waiting"],
        },
        "Health": closed(ok={"const": True}),
        "Document": {"type": "object", "required": ["openapi", "paths"]},
        "Error": {
            "type": "object",
            "properties": {
                "error": {"type": "string"},
                "rows": {
                    "type": "array",
                    "items": closed(row=count, why={"type": "string"}),
                },
            },
            "required": ["error"],
            "additionalProperties": False,
        },
    }


def closed(**properties: Schema) -> Schema:
    """An object with these properties, all of them and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
