"""What the server answers: interactions, feedback and traces in; interactions, windows and counters out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from ragstone._version import __version__
from ragstone.data.strict import BadRow, parse
from ragstone.errors import DataError, MissingExtra
from ragstone.monitor import Archive, Interaction
from ragstone.monitor.ingest.otlp import spans_of_json, spans_of_protobuf
from ragstone.monitor.ingest.redaction import (
    RedactionFailed,
    redacted,
    redacted_feedback,
    redacted_texts,
)
from ragstone.monitor.ingest.spans import Span
from ragstone.monitor.interactions import feedback_of, interaction_of, iso, micros, moment, row_of
from ragstone.server.ingest_queue import Intake
from ragstone.server.openapi import document
from ragstone.server.responses import Refused, reply
from ragstone.server.settings import Settings
from ragstone.store.codec import score_to_json

T = TypeVar("T")

MOST_LISTED = 500


@dataclass(slots=True)
class Service:
    """What the handlers share."""

    settings: Settings
    intake: Intake
    reading: Archive
    """A connection of its own: looking never waits for writing."""
    started: int
    status: Callable[[], dict[str, Any]] = dict
    """Further facts for `/v1/status`: those of the scorer and the watcher."""


SERVICE = web.AppKey("service", Service)


# ── in ────────────────────────────────────────────────────────────────────────────────────


async def post_interactions(request: web.Request) -> web.Response:
    """One interaction or a list of them; answered when the disk has them."""
    service = request.app[SERVICE]
    with service.intake.under_way():
        rows, size = await _rows(request, service)
        try:
            now = micros()
            hook = service.settings.redact
            found = _each(rows, lambda row: redacted(interaction_of(row, now), hook))
            added = await service.intake.put(interactions=found)
        finally:
            service.intake.release(size)
    ids = [one.id for one in found]
    return reply({"accepted": added.new, "repeated": added.repeated, "ids": ids})


async def post_feedback(request: web.Request) -> web.Response:
    """What people said of one interaction or several; the interactions may come later."""
    service = request.app[SERVICE]
    with service.intake.under_way():
        rows, size = await _rows(request, service)
        try:
            now = micros()
            hook = service.settings.redact
            found = _each(rows, lambda row: redacted_feedback(feedback_of(row, now), hook))
            await service.intake.put(feedback=found)
        finally:
            service.intake.release(size)
    return reply({"accepted": len(found)})


async def post_traces(request: web.Request) -> web.Response:
    """Spans by OTLP/HTTP; answered when the disk has them."""
    service = request.app[SERVICE]
    kind = request.content_type
    if kind not in ("application/json", "application/x-protobuf"):
        raise _wrong_type("application/json or application/x-protobuf")
    with service.intake.under_way():
        body, size = await service.intake.body(request)
        try:
            read = spans_of_json if kind == "application/json" else spans_of_protobuf
            spans = _redacted_spans(read(body), service.settings)
            await service.intake.put(spans=spans)
        except BadRow as bad:
            raise Refused(400, str(bad), "refused_invalid") from None
        except RedactionFailed as failed:
            raise Refused(500, str(failed), "refused_redaction") from None
        except MissingExtra as missing:
            raise Refused(415, str(missing), "refused_invalid") from None
        finally:
            service.intake.release(size)
    if kind == "application/json":
        return reply({})
    return web.Response(
        body=b"", content_type=kind
    )  # an ExportTraceServiceResponse with nothing to say


def _redacted_spans(spans: Sequence[Span], settings: Settings) -> Sequence[Span]:
    if settings.redact is None:
        return spans
    from dataclasses import replace

    return [
        replace(
            span,
            attributes={
                name: redacted_texts(value, settings.redact, name)
                for name, value in span.attributes.items()
            },
            error=redacted_texts(span.error, settings.redact, "error"),
        )
        for span in spans
    ]


async def _rows(request: web.Request, service: Service) -> tuple[list[Any], int]:
    """The rows of a JSON body: one object, or a list of them."""
    if request.content_type != "application/json":
        raise _wrong_type("application/json")
    body, size = await service.intake.body(request)
    try:
        try:
            tree = parse(body.decode("utf-8"))
        except UnicodeDecodeError:
            raise Refused(400, "the body is not UTF-8", "refused_invalid") from None
        except BadRow as bad:
            raise Refused(400, str(bad), "refused_invalid") from None
        rows = tree if isinstance(tree, list) else [tree]
        most = service.settings.batch
        if not 1 <= len(rows) <= most:
            why = f"the list has {len(rows)} rows; send 1 to {most}"
            raise Refused(422, why, "refused_invalid")
    except BaseException:
        service.intake.release(size)
        raise
    return rows, size


def _each(rows: Sequence[Any], read: Callable[[Any], T]) -> list[T]:
    """Every row read; when one is bad, nothing of the request is taken and each bad one is named."""
    found: list[T] = []
    bad: list[tuple[int, str]] = []
    for at, row in enumerate(rows):
        try:
            found.append(read(row))
        except BadRow as wrong:
            bad.append((at, str(wrong)))
        except RedactionFailed as failed:
            raise Refused(500, str(failed), "refused_redaction") from None
    if bad:
        what = "1 bad row" if len(bad) == 1 else f"{len(bad)} bad rows"
        raise Refused(422, f"{what}; nothing was stored", "refused_invalid", rows=bad[:100])
    return found


def _wrong_type(wanted: str) -> Refused:
    return Refused(415, f"the Content-Type must be {wanted}", "refused_invalid")


# ── out ───────────────────────────────────────────────────────────────────────────────────


async def get_interactions(request: web.Request) -> web.Response:
    """Interactions of a stretch of time and a slice."""
    service = request.app[SERVICE]
    query = _query(request, {"since", "until", "limit", "order", "slice"})
    now = micros()
    limit = _whole(query.get("limit", "50"), "limit", 1, MOST_LISTED)
    order = query.get("order", "newest")
    if order not in ("newest", "oldest"):
        raise _bad("order", order, "newest or oldest")
    slices = dict(_slice(text) for text in request.query.getall("slice", []))
    read = partial(
        service.reading.interactions,
        _time(query, "since", now),
        _time(query, "until", now),
        slice=slices,
        limit=limit,
        order=order,  # type: ignore[arg-type]
    )
    found = await asyncio.to_thread(lambda: list(read()))
    return reply({"interactions": [row_of(one) for one in found]})


async def get_interaction(request: web.Request) -> web.Response:
    """One interaction with its scores and their evidence."""
    service = request.app[SERVICE]
    _query(request, set())
    found = await asyncio.to_thread(_whole_interaction, service.reading, request.match_info["id"])
    if found is None:
        raise Refused(404, "no interaction has this id", "")
    return reply(found)


def _whole_interaction(archive: Archive, id: str) -> dict[str, Any] | None:
    if "\x00" in id:
        return None
    one: Interaction | None = archive.get(id)
    if one is None:
        return None
    scores = {name: score_to_json(score) for name, score in archive.scores(id).items()}
    return {**row_of(one), "scores": scores}


async def get_summary(request: web.Request) -> web.Response:
    """A window in figures, whole and by slice."""
    from ragstone.monitor.windows.summary import summary

    service = request.app[SERVICE]
    query = _query(request, {"window", "until", "by", "slice"})
    slices = [_slice(text) for text in request.query.getall("slice", [])]
    if len(slices) > 1:
        raise _bad("slice", "given twice", "one field:value")
    read = partial(
        summary,
        service.reading,
        query.get("window", "24h"),
        until=_time(query, "until", micros()),
        by=query.get("by"),
        where=slices[0] if slices else None,
    )
    try:
        found = await asyncio.to_thread(read)
    except DataError as bad:
        raise Refused(422, str(bad), "") from None
    return reply(found.to_dict())


async def get_status(request: web.Request) -> web.Response:
    """What came in, what was refused, what waits."""
    service = request.app[SERVICE]
    _query(request, set())
    counters = await asyncio.to_thread(service.reading.counters)
    for name, value in service.intake.counts.items():
        counters[name] = counters.get(name, 0) + value
    return reply(
        {
            "version": __version__,
            "started": iso(service.started),
            "counters": counters,
            "waiting": {"requests": service.intake.requests, "rows": service.intake.rows},
            **service.status(),
        }
    )


async def get_health(request: web.Request) -> web.Response:
    """That the server is there; needs no token."""
    return reply({"ok": True})


async def get_openapi(request: web.Request) -> web.Response:
    """This document."""
    return reply(document(request.app[SERVICE].settings))


# ── what a query says ─────────────────────────────────────────────────────────────────────


def _query(request: web.Request, known: set[str]) -> dict[str, str]:
    from ragstone.errors import nearest

    for name in request.query:
        if name not in known:
            hint = nearest(name, sorted(known)) if known else ""
            raise Refused(422, f"no parameter {name[:60]!r}{hint}", "")
    if any("\x00" in value for value in request.query.values()):
        raise Refused(422, "a parameter holds a NUL character", "")
    return dict(request.query)


def _time(query: dict[str, str], name: str, now: int) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        return moment(float(text) if text.replace(".", "", 1).isdecimal() else text, now)
    except BadRow:
        raise _bad(name, text, "ISO 8601 such as 2026-05-01T12:00:00Z, or seconds") from None


def _whole(text: str, name: str, low: int, high: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high:
        return int(text)
    raise _bad(name, text, f"a whole number from {low} to {high}")


def _slice(text: str) -> tuple[str, str]:
    field, colon, value = text.partition(":")
    if not colon or not field:
        raise _bad("slice", text, "field:value")
    return field, value


def _bad(name: str, text: str, wanted: str) -> Refused:
    return Refused(422, f"{name} is {text[:60]!r}; give {wanted}", "")
