"""Handlers of the JSON API: interactions, feedback and traces in; interactions, summaries and counters out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from ragstone._version import __version__
from ragstone.data.otlp import parse_json_spans, parse_protobuf_spans
from ragstone.data.spans import TraceSpan
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.errors import DataError, MissingExtra
from ragstone.monitor import Archive, Interaction
from ragstone.monitor.ingest.redaction import (
    RedactionError,
    redact_feedback,
    redact_interaction,
    redact_texts,
)
from ragstone.monitor.interactions import (
    format_iso,
    interaction_to_json,
    now_micros,
    parse_feedback,
    parse_interaction,
    parse_time,
)
from ragstone.server.ingest_queue import IngestQueue
from ragstone.server.responses import RequestError, build_json_response
from ragstone.server.settings import MAX_LISTED, ServerSettings
from ragstone.store.score_json import score_to_json

T = TypeVar("T")


@dataclass(slots=True)
class ServerState:
    """What the handlers share."""

    settings: ServerSettings
    queue: IngestQueue
    read_archive: Archive
    """An archive with separate connections, so that reads never wait for writes."""
    started: int
    """When the server started, in microseconds since 1970."""
    status: Callable[[], dict[str, Any]] = dict
    """Further facts for `/v1/status`, those of the background workers."""


SERVER_STATE = web.AppKey("service", ServerState)


# ── handlers that store ───────────────────────────────────────────────────────────────────


async def post_interactions(request: web.Request) -> web.Response:
    """Store one interaction or a list; answered when they are on disk."""
    state = request.app[SERVER_STATE]
    async with _admit_rows(request, state) as rows:
        now, hook = now_micros(), state.settings.redact
        interactions = _parse_rows(
            rows, lambda row: redact_interaction(parse_interaction(row, now), hook)
        )
        added = await state.queue.add(interactions=interactions)
    ids = [interaction.id for interaction in interactions]
    return build_json_response({"accepted": added.new, "repeated": added.repeated, "ids": ids})


async def post_feedback(request: web.Request) -> web.Response:
    """Store feedback on one interaction or several; the interactions may arrive later."""
    state = request.app[SERVER_STATE]
    async with _admit_rows(request, state) as rows:
        now, hook = now_micros(), state.settings.redact
        feedback = _parse_rows(rows, lambda row: redact_feedback(parse_feedback(row, now), hook))
        await state.queue.add(feedback=feedback)
    return build_json_response({"accepted": len(feedback)})


async def post_traces(request: web.Request) -> web.Response:
    """Store spans by OTLP/HTTP; answered when they are on disk."""
    state = request.app[SERVER_STATE]
    kind = request.content_type
    if kind not in ("application/json", "application/x-protobuf"):
        raise _build_type_error("application/json or application/x-protobuf")
    with state.queue.admit_request():
        body, size = await state.queue.read_body(request)
        try:
            parse_spans = parse_json_spans if kind == "application/json" else parse_protobuf_spans
            spans = _redact_spans(parse_spans(body), state.settings)
            await state.queue.add(spans=spans)
        except BadRow as error:
            raise RequestError(400, str(error), "refused_invalid") from None
        except RedactionError as error:
            raise RequestError(500, str(error), "refused_redaction") from None
        except MissingExtra as error:
            raise RequestError(415, str(error), "refused_invalid") from None
        finally:
            state.queue.release_bytes(size)
    if kind == "application/json":
        return build_json_response({})
    # no bytes are an empty ExportTraceServiceResponse in protobuf
    return web.Response(body=b"", content_type=kind)


def _redact_spans(spans: Sequence[TraceSpan], settings: ServerSettings) -> Sequence[TraceSpan]:
    if settings.redact is None:
        return spans
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


@asynccontextmanager
async def _admit_rows(request: web.Request, state: ServerState) -> AsyncIterator[list[Any]]:
    """The rows of a request, whose bytes count against the limit of the queue until they are stored."""
    # counted from before the body is read: slow uploads are a load as well
    with state.queue.admit_request():
        rows, size = await _read_rows(request, state)
        try:
            yield rows
        finally:
            state.queue.release_bytes(size)


async def _read_rows(request: web.Request, state: ServerState) -> tuple[list[Any], int]:
    """The rows of a JSON body (one object, or a list of them), and its size in bytes.

    The caller must pass the size to `queue.release_bytes` when it is done; after an error there is nothing to release."""
    if request.content_type != "application/json":
        raise _build_type_error("application/json")
    body, size = await state.queue.read_body(request)
    try:
        try:
            tree = parse_json(body.decode("utf-8"))
        except UnicodeDecodeError:
            raise RequestError(400, "the body is not UTF-8", "refused_invalid") from None
        except BadRow as error:
            raise RequestError(400, str(error), "refused_invalid") from None
        rows = tree if isinstance(tree, list) else [tree]
        limit = state.settings.batch
        if not 1 <= len(rows) <= limit:
            reason = f"the list has {len(rows)} rows; send 1 to {limit}"
            raise RequestError(422, reason, "refused_invalid")
    # also when the client goes away: the bytes would count against the limit for ever
    except BaseException:
        state.queue.release_bytes(size)
        raise
    return rows, size


def _parse_rows(rows: Sequence[Any], parse: Callable[[Any], T]) -> list[T]:
    """Every row parsed; when one is bad, none is stored and each bad row is named."""
    parsed: list[T] = []
    bad: list[tuple[int, str]] = []
    for index, row in enumerate(rows):
        try:
            parsed.append(parse(row))
        except BadRow as error:
            bad.append((index, str(error)))
        except RedactionError as error:
            raise RequestError(500, str(error), "refused_redaction") from None
    if bad:
        count = "1 bad row" if len(bad) == 1 else f"{len(bad)} bad rows"
        raise RequestError(422, f"{count}; nothing was stored", "refused_invalid", rows=bad[:100])
    return parsed


def _build_type_error(expected: str) -> RequestError:
    return RequestError(415, f"the Content-Type must be {expected}", "refused_invalid")


# ── handlers that read ────────────────────────────────────────────────────────────────────


async def get_interactions(request: web.Request) -> web.Response:
    """Interactions of a time range and slice."""
    state = request.app[SERVER_STATE]
    query = _parse_query(request, {"since", "until", "limit", "order", "slice"})
    now = now_micros()
    limit = _parse_int(query.get("limit", "50"), "limit", 1, MAX_LISTED)
    order = query.get("order", "newest")
    if order not in ("newest", "oldest"):
        raise _build_parameter_error("order", order, "newest or oldest")
    slices = dict(_parse_slice(text) for text in request.query.getall("slice", []))
    read = partial(
        state.read_archive.interactions,
        _parse_time(query, "since", now),
        _parse_time(query, "until", now),
        slice=slices,
        limit=limit,
        order=order,  # type: ignore[arg-type]
    )
    # the list is made inside the thread: `read` returns an iterator that queries as it is consumed
    interactions = await asyncio.to_thread(lambda: list(read()))
    return build_json_response(
        {"interactions": [interaction_to_json(interaction) for interaction in interactions]}
    )


async def get_interaction(request: web.Request) -> web.Response:
    """One interaction with its scores and their evidence."""
    state = request.app[SERVER_STATE]
    _parse_query(request, set())
    id = request.match_info["id"]
    interaction = await asyncio.to_thread(_load_interaction, state.read_archive, id)
    if interaction is None:
        raise RequestError(404, "no interaction has this id")
    return build_json_response(interaction)


def _load_interaction(archive: Archive, id: str) -> dict[str, Any] | None:
    # PostgreSQL refuses NUL in a text with an error; such an id cannot exist
    if "\x00" in id:
        return None
    interaction: Interaction | None = archive.get(id)
    if interaction is None:
        return None
    scores = {name: score_to_json(score) for name, score in archive.scores(id).items()}
    return {**interaction_to_json(interaction), "scores": scores}


async def get_summary(request: web.Request) -> web.Response:
    """Statistics of a window, whole and by slice."""
    from ragstone.monitor.windows.summary import summarise_window

    state = request.app[SERVER_STATE]
    query = _parse_query(request, {"window", "until", "by", "slice"})
    slices = [_parse_slice(text) for text in request.query.getall("slice", [])]
    if len(slices) > 1:
        raise _build_parameter_error("slice", "given twice", "one field:value")
    read = partial(
        summarise_window,
        state.read_archive,
        query.get("window", "24h"),
        until=_parse_time(query, "until", now_micros()),
        by=query.get("by"),
        where=slices[0] if slices else None,
    )
    try:
        summary = await asyncio.to_thread(read)
    except DataError as error:
        raise RequestError(422, str(error)) from None
    return build_json_response(summary.to_dict())


async def get_status(request: web.Request) -> web.Response:
    """Counters of accepted and refused rows, and what is queued."""
    state = request.app[SERVER_STATE]
    _parse_query(request, set())
    counters = await asyncio.to_thread(state.read_archive.counters)
    for name, value in state.queue.counts.items():
        # refusals that are not flushed yet are added, so that the figures do not lag
        counters[name] = counters.get(name, 0) + value
    return build_json_response(
        {
            "version": __version__,
            "started": format_iso(state.started),
            "counters": counters,
            "waiting": {"requests": state.queue.requests, "rows": state.queue.rows},
            **state.status(),
        }
    )


async def get_health(request: web.Request) -> web.Response:
    """Liveness check; needs no token."""
    return build_json_response({"ok": True})


# ── query parameters ──────────────────────────────────────────────────────────────────────


def _parse_query(request: web.Request, known: set[str]) -> dict[str, str]:
    """The parameters of the address; one that is not known is refused, so that a misspelt filter is not ignored."""
    from ragstone.errors import suggest_nearest

    for name in request.query:
        if name not in known:
            hint = suggest_nearest(name, sorted(known)) if known else ""
            raise RequestError(422, f"no parameter {name[:60]!r}{hint}")
    if any("\x00" in value for value in request.query.values()):
        raise RequestError(422, "a parameter holds a NUL character")
    return dict(request.query)


def _parse_time(query: dict[str, str], name: str, now: int) -> int | None:
    """The time in a parameter, in microseconds; None when it is not given."""
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
    # checked before `int`, which takes long for thousands of digits and also reads "١" or "1_0"
    if text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high:
        return int(text)
    raise _build_parameter_error(name, text, f"a whole number from {low} to {high}")


def _parse_slice(text: str) -> tuple[str, str]:
    field, colon, value = text.partition(":")
    if not colon or not field:
        raise _build_parameter_error("slice", text, "field:value")
    return field, value


def _build_parameter_error(name: str, text: str, expected: str) -> RequestError:
    return RequestError(422, f"{name} is {text[:60]!r}; give {expected}")
