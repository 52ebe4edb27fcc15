"""What the server answers: interactions, feedback and traces in; interactions, windows and counters out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from ragstone._version import __version__
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.errors import DataError, MissingExtra
from ragstone.monitor import Archive, Interaction
from ragstone.monitor.ingest.otlp import parse_json_spans, parse_protobuf_spans
from ragstone.monitor.ingest.redaction import (
    RedactionError,
    redact_feedback,
    redact_interaction,
    redact_texts,
)
from ragstone.monitor.ingest.spans import TraceSpan
from ragstone.monitor.interactions import (
    format_iso,
    interaction_to_json,
    now_micros,
    parse_feedback,
    parse_interaction,
    parse_time,
)
from ragstone.server.ingest_queue import IngestQueue
from ragstone.server.openapi import build_document
from ragstone.server.responses import RequestError, build_json_response
from ragstone.server.settings import ServerSettings
from ragstone.store.codec import score_to_json

T = TypeVar("T")

MAX_LISTED = 500


@dataclass(slots=True)
class ServerState:
    """What the handlers share."""

    settings: ServerSettings
    queue: IngestQueue
    read_archive: Archive
    """A connection of its own: looking never waits for writing."""
    started: int
    status: Callable[[], dict[str, Any]] = dict
    """Further facts for `/v1/status`: those of the scorer and the watcher."""


SERVER_STATE = web.AppKey("service", ServerState)


# ── in ────────────────────────────────────────────────────────────────────────────────────


async def post_interactions(request: web.Request) -> web.Response:
    """One interaction or a list of them; answered when the disk has them."""
    service = request.app[SERVER_STATE]
    with service.queue.admit_request():
        rows, size = await _read_rows(request, service)
        try:
            now = now_micros()
            hook = service.settings.redact
            found = _parse_rows(
                rows, lambda row: redact_interaction(parse_interaction(row, now), hook)
            )
            added = await service.queue.add(interactions=found)
        finally:
            service.queue.release_bytes(size)
    ids = [one.id for one in found]
    return build_json_response({"accepted": added.new, "repeated": added.repeated, "ids": ids})


async def post_feedback(request: web.Request) -> web.Response:
    """What people said of one interaction or several; the interactions may come later."""
    service = request.app[SERVER_STATE]
    with service.queue.admit_request():
        rows, size = await _read_rows(request, service)
        try:
            now = now_micros()
            hook = service.settings.redact
            found = _parse_rows(rows, lambda row: redact_feedback(parse_feedback(row, now), hook))
            await service.queue.add(feedback=found)
        finally:
            service.queue.release_bytes(size)
    return build_json_response({"accepted": len(found)})


async def post_traces(request: web.Request) -> web.Response:
    """Spans by OTLP/HTTP; answered when the disk has them."""
    service = request.app[SERVER_STATE]
    kind = request.content_type
    if kind not in ("application/json", "application/x-protobuf"):
        raise _build_type_error("application/json or application/x-protobuf")
    with service.queue.admit_request():
        body, size = await service.queue.read_body(request)
        try:
            read = parse_json_spans if kind == "application/json" else parse_protobuf_spans
            spans = _redact_spans(read(body), service.settings)
            await service.queue.add(spans=spans)
        except BadRow as bad:
            raise RequestError(400, str(bad), "refused_invalid") from None
        except RedactionError as failed:
            raise RequestError(500, str(failed), "refused_redaction") from None
        except MissingExtra as missing:
            raise RequestError(415, str(missing), "refused_invalid") from None
        finally:
            service.queue.release_bytes(size)
    if kind == "application/json":
        return build_json_response({})
    return web.Response(
        body=b"", content_type=kind
    )  # an ExportTraceServiceResponse with nothing to say


def _redact_spans(spans: Sequence[TraceSpan], settings: ServerSettings) -> Sequence[TraceSpan]:
    if settings.redact is None:
        return spans
    from dataclasses import replace

    return [
        replace(
            span,
            attributes={
                name: redact_texts(value, settings.redact, name)
                for name, value in span.attributes.items()
            },
            error=redact_texts(span.error, settings.redact, "error"),
        )
        for span in spans
    ]


async def _read_rows(request: web.Request, service: ServerState) -> tuple[list[Any], int]:
    """The rows of a JSON body: one object, or a list of them."""
    if request.content_type != "application/json":
        raise _build_type_error("application/json")
    body, size = await service.queue.read_body(request)
    try:
        try:
            tree = parse_json(body.decode("utf-8"))
        except UnicodeDecodeError:
            raise RequestError(400, "the body is not UTF-8", "refused_invalid") from None
        except BadRow as bad:
            raise RequestError(400, str(bad), "refused_invalid") from None
        rows = tree if isinstance(tree, list) else [tree]
        most = service.settings.batch
        if not 1 <= len(rows) <= most:
            why = f"the list has {len(rows)} rows; send 1 to {most}"
            raise RequestError(422, why, "refused_invalid")
    except BaseException:
        service.queue.release_bytes(size)
        raise
    return rows, size


def _parse_rows(rows: Sequence[Any], read: Callable[[Any], T]) -> list[T]:
    """Every row read; when one is bad, nothing of the request is taken and each bad one is named."""
    found: list[T] = []
    bad: list[tuple[int, str]] = []
    for at, row in enumerate(rows):
        try:
            found.append(read(row))
        except BadRow as wrong:
            bad.append((at, str(wrong)))
        except RedactionError as failed:
            raise RequestError(500, str(failed), "refused_redaction") from None
    if bad:
        what = "1 bad row" if len(bad) == 1 else f"{len(bad)} bad rows"
        raise RequestError(422, f"{what}; nothing was stored", "refused_invalid", rows=bad[:100])
    return found


def _build_type_error(wanted: str) -> RequestError:
    return RequestError(415, f"the Content-Type must be {wanted}", "refused_invalid")


# ── out ───────────────────────────────────────────────────────────────────────────────────


async def get_interactions(request: web.Request) -> web.Response:
    """Interactions of a stretch of time and a slice."""
    service = request.app[SERVER_STATE]
    query = _parse_query(request, {"since", "until", "limit", "order", "slice"})
    now = now_micros()
    limit = _parse_int(query.get("limit", "50"), "limit", 1, MAX_LISTED)
    order = query.get("order", "newest")
    if order not in ("newest", "oldest"):
        raise _build_parameter_error("order", order, "newest or oldest")
    slices = dict(_parse_slice(text) for text in request.query.getall("slice", []))
    read = partial(
        service.read_archive.interactions,
        _parse_time(query, "since", now),
        _parse_time(query, "until", now),
        slice=slices,
        limit=limit,
        order=order,  # type: ignore[arg-type]
    )
    found = await asyncio.to_thread(lambda: list(read()))
    return build_json_response({"interactions": [interaction_to_json(one) for one in found]})


async def get_interaction(request: web.Request) -> web.Response:
    """One interaction with its scores and their evidence."""
    service = request.app[SERVER_STATE]
    _parse_query(request, set())
    found = await asyncio.to_thread(
        _load_interaction, service.read_archive, request.match_info["id"]
    )
    if found is None:
        raise RequestError(404, "no interaction has this id", "")
    return build_json_response(found)


def _load_interaction(archive: Archive, id: str) -> dict[str, Any] | None:
    if "\x00" in id:
        return None
    one: Interaction | None = archive.get(id)
    if one is None:
        return None
    scores = {name: score_to_json(score) for name, score in archive.scores(id).items()}
    return {**interaction_to_json(one), "scores": scores}


async def get_summary(request: web.Request) -> web.Response:
    """A window in figures, whole and by slice."""
    from ragstone.monitor.windows.summary import summarise_window

    service = request.app[SERVER_STATE]
    query = _parse_query(request, {"window", "until", "by", "slice"})
    slices = [_parse_slice(text) for text in request.query.getall("slice", [])]
    if len(slices) > 1:
        raise _build_parameter_error("slice", "given twice", "one field:value")
    read = partial(
        summarise_window,
        service.read_archive,
        query.get("window", "24h"),
        until=_parse_time(query, "until", now_micros()),
        by=query.get("by"),
        where=slices[0] if slices else None,
    )
    try:
        found = await asyncio.to_thread(read)
    except DataError as bad:
        raise RequestError(422, str(bad), "") from None
    return build_json_response(found.to_dict())


async def get_status(request: web.Request) -> web.Response:
    """What came in, what was refused, what waits."""
    service = request.app[SERVER_STATE]
    _parse_query(request, set())
    counters = await asyncio.to_thread(service.read_archive.counters)
    for name, value in service.queue.counts.items():
        counters[name] = counters.get(name, 0) + value
    return build_json_response(
        {
            "version": __version__,
            "started": format_iso(service.started),
            "counters": counters,
            "waiting": {"requests": service.queue.requests, "rows": service.queue.rows},
            **service.status(),
        }
    )


async def get_health(request: web.Request) -> web.Response:
    """That the server is there; needs no token."""
    return build_json_response({"ok": True})


async def get_openapi(request: web.Request) -> web.Response:
    """This document."""
    return build_json_response(build_document(request.app[SERVER_STATE].settings))


# ── what a query says ─────────────────────────────────────────────────────────────────────


def _parse_query(request: web.Request, known: set[str]) -> dict[str, str]:
    from ragstone.errors import suggest_nearest

    for name in request.query:
        if name not in known:
            hint = suggest_nearest(name, sorted(known)) if known else ""
            raise RequestError(422, f"no parameter {name[:60]!r}{hint}", "")
    if any("\x00" in value for value in request.query.values()):
        raise RequestError(422, "a parameter holds a NUL character", "")
    return dict(request.query)


def _parse_time(query: dict[str, str], name: str, now: int) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        return parse_time(float(text) if text.replace(".", "", 1).isdecimal() else text, now)
    except BadRow:
        raise _build_parameter_error(
            name, text, "ISO 8601 such as 2026-05-01T12:00:00Z, or seconds"
        ) from None


def _parse_int(text: str, name: str, low: int, high: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high:
        return int(text)
    raise _build_parameter_error(name, text, f"a whole number from {low} to {high}")


def _parse_slice(text: str) -> tuple[str, str]:
    field, colon, value = text.partition(":")
    if not colon or not field:
        raise _build_parameter_error("slice", text, "field:value")
    return field, value


def _build_parameter_error(name: str, text: str, wanted: str) -> RequestError:
    return RequestError(422, f"{name} is {text[:60]!r}; give {wanted}", "")
