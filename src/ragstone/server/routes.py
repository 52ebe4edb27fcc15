"""Every route of the app, declared once: path, handler, whether it needs the token, and its schema for OpenAPI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from ragstone.server import api, page, view_pages
from ragstone.server.alert_worker import get_metrics
from ragstone.server.api import SERVER_STATE
from ragstone.server.openapi import (
    Schema,
    build_document,
    build_one_or_many,
    build_parameter,
    describe_get,
    describe_metrics,
    describe_plain_get,
    describe_post,
    describe_traces,
)
from ragstone.server.responses import build_json_response
from ragstone.server.settings import MAX_LISTED, ServerSettings

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]
Describe = Callable[[ServerSettings], Schema]


@dataclass(frozen=True, slots=True)
class Route:
    """One route."""

    method: Literal["get", "post"]
    path: str
    handle: Handle
    describe: Describe | None = None
    """Its operation in the OpenAPI document; None for a page."""
    is_open: bool = False
    """Whether the guard admits it without the token: its handler asks for it by a form, or it tells nothing."""
    is_ingest: bool = False
    """Whether it stores traffic, which a viewer does not."""


def list_routes(settings: ServerSettings) -> list[Route]:
    """The routes of an app with these settings, without its prefix."""
    pages = [*API_ROUTES, *PAGE_ROUTES]
    return [route for route in pages if settings.ingest or not route.is_ingest]


async def get_openapi(request: web.Request) -> web.Response:
    """The OpenAPI document."""
    return build_json_response(describe_app(request.app[SERVER_STATE].settings))


def describe_app(settings: ServerSettings) -> Schema:
    """The OpenAPI document of an app with these settings."""
    return build_document(
        settings,
        (
            (route.path, route.method, route.describe(settings), route.is_open)
            for route in list_routes(settings)
            if route.describe is not None
        ),
    )


# ── the API ───────────────────────────────────────────────────────────────────────────────


def describe_post_interactions(settings: ServerSettings) -> Schema:
    """`POST /v1/interactions`."""
    return describe_post(
        "Store one interaction or a list of them",
        "Answered when the disk has them. Idempotent by id: what is sent again is not stored again. "
        "When one row is bad, none is stored.",
        build_one_or_many("Interaction", settings.batch),
        "Accepted",
    )


def describe_interactions(settings: ServerSettings) -> Schema:
    """`GET /v1/interactions`."""
    return describe_get(
        "List interactions",
        [
            build_parameter("since", {"type": "string"}, "ISO 8601, or seconds since 1970"),
            build_parameter("until", {"type": "string"}, "Not included"),
            build_parameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_LISTED}, ""),
            build_parameter("order", {"enum": ["newest", "oldest"]}, ""),
            build_parameter("slice", {"type": "array", "items": {"type": "string"}}, "field:value"),
        ],
        "Interactions",
    )


def describe_interaction(settings: ServerSettings) -> Schema:
    """`GET /v1/interactions/ID`."""
    id = {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
    }
    return describe_get("One interaction with its scores", [id], "ScoredInteraction", missing=True)


def describe_post_feedback(settings: ServerSettings) -> Schema:
    """`POST /v1/feedback`."""
    return describe_post(
        "Store what people said of interactions",
        "The interaction may come later. The latest word counts.",
        build_one_or_many("Feedback", settings.batch),
        "FeedbackAccepted",
    )


def describe_summary(settings: ServerSettings) -> Schema:
    """`GET /v1/summary`."""
    return describe_get(
        "A window in figures",
        [
            build_parameter("window", {"type": "string"}, "5m, 1h, 24h, 7d … up to now or `until`"),
            build_parameter("until", {"type": "string"}, "ISO 8601, or seconds since 1970"),
            build_parameter("by", {"type": "string"}, "Also for each value of this field"),
            build_parameter("slice", {"type": "string"}, "Only field:value"),
        ],
        "Summary",
    )


API_ROUTES = (
    Route(
        "post",
        "/v1/interactions",
        api.post_interactions,
        describe_post_interactions,
        is_ingest=True,
    ),
    Route("get", "/v1/interactions", api.get_interactions, describe_interactions),
    Route("get", "/v1/interactions/{id}", api.get_interaction, describe_interaction),
    Route("post", "/v1/feedback", api.post_feedback, describe_post_feedback, is_ingest=True),
    Route("post", "/v1/traces", api.post_traces, lambda _: describe_traces(), is_ingest=True),
    Route("get", "/v1/summary", api.get_summary, describe_summary),
    Route(
        "get",
        "/v1/status",
        api.get_status,
        lambda _: describe_get("Counters, and what waits", [], "Status"),
    ),
    Route("get", "/metrics", get_metrics, lambda _: describe_metrics()),
    Route(
        "get",
        "/healthz",
        api.get_health,
        lambda _: describe_plain_get("Whether the server is there", "Health"),
        is_open=True,
    ),
    Route(
        "get",
        "/openapi.json",
        get_openapi,
        lambda _: describe_plain_get("This document", "Document"),
    ),
)

# ── the pages ─────────────────────────────────────────────────────────────────────────────


def _page(method: Literal["get", "post"], path: str, handle: Handle) -> Route:
    return Route(method, path, handle, is_open=True)


PAGE_ROUTES = (
    _page("get", "/", page.get_home),
    _page("get", "/monitor", page.get_overview),
    _page("get", "/interaction", page.get_interaction),
    _page("get", "/traffic", page.get_traffic),
    _page("get", "/page.css", page.get_style),
    _page("get", "/page.js", page.get_script),
    _page("get", "/login", page.get_login),
    _page("post", "/login", page.post_login),
    _page("post", "/logout", page.post_logout),
    _page("post", "/alerts", page.post_alert),
    *(
        _page("get", f"/{name}", view_pages.build_handler(name, render))
        for name, render in view_pages.RENDERERS.items()
    ),
    *(_page("get", f"/{name}", view_pages.get_moved) for name in view_pages.MOVED),
    _page("get", "/view.css", view_pages.get_view_style),
    _page("get", "/view.js", view_pages.get_view_script),
    _page("get", "/export", view_pages.get_export),
    _page("get", "/v", view_pages.get_short),
    _page("get", "/testset.jsonl", view_pages.get_testset_file),
    _page("post", "/views", view_pages.post_views),
    _page("post", "/testset", view_pages.post_testset),
    _page("post", "/again", view_pages.post_again),
    _page("post", "/notes", view_pages.post_notes),
    _page("post", "/labels", view_pages.post_labels),
)
"""Handlers that show data call `is_authorised`, and show the sign-in form if it is False."""
