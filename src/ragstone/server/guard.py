"""Access control: host names, origins and the token; and the security headers of every response."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from ragstone.judges.secrets import is_loopback
from ragstone.server.responses import build_error_response
from ragstone.server.settings import ServerSettings, is_address

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SESSION_COOKIE = "ragstone_session"

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def build_guard(
    settings: ServerSettings, open_paths: frozenset[str], count: Callable[[str], None]
) -> Any:
    """The middleware that admits a request or answers why not.

    `open_paths` need no token; `count` is called with the name of the counter of a refusal."""

    @web.middleware
    async def check_request(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = _find_refusal(request, settings, open_paths)
        if refusal is not None:
            name, status, reason, more = refusal
            count("refused_" + name)
            return build_error_response(status, reason, **more)
        return await handler(request)

    return check_request


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the security headers that a response does not set itself."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    if "Server" in response.headers:  # aiohttp's default names its version and Python's
        response.headers["Server"] = "ragstone"


Refusal = tuple[str, int, str, dict[str, Any]]
"""Suffix of the counter `refused_…`, HTTP status, reason, and further arguments of `build_error_response`."""


def _find_refusal(
    request: web.Request, settings: ServerSettings, open_paths: frozenset[str]
) -> Refusal | None:
    hosts = request.headers.getall("Host", [])
    # first of all: the checks below trust the host
    if len(hosts) != 1 or not is_known_host(hosts[0], settings):
        reason = "the Host header names a host that this server is not; add it with --name"
        return ("host", 403, reason, {})
    origin = request.headers.get("Origin")
    if origin is not None and not is_same_site(origin, hosts[0], settings):
        return ("origin", 403, "requests from pages of other sites are not taken", {})
    # browsers send no Origin with some requests of other sites, but this header with all of them
    if request.headers.get("Sec-Fetch-Site") == "cross-site" and not _is_link_navigation(
        request, open_paths
    ):
        return ("origin", 403, "requests from pages of other sites are not taken", {})
    if settings.token is None or request.path in open_paths:
        return None
    if has_token(request, settings.token):
        return None
    return (
        "token",
        401,
        "show the token: Authorization: Bearer …",
        {"headers": {"WWW-Authenticate": 'Bearer realm="ragstone"'}},
    )


def _is_link_navigation(request: web.Request, open_paths: frozenset[str]) -> bool:
    """Whether the request follows a link to a page, from a chat for instance: the linking site cannot read the response."""
    mode = request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Dest")
    return (
        request.method == "GET" and request.path in open_paths and mode == ("navigate", "document")
    )


def is_known_host(value: str, settings: ServerSettings) -> bool:
    """Whether a Host header names this server. It prevents DNS rebinding: an attacker's host name that resolves to this server."""
    match = _HOST.fullmatch(value)
    if match is None:
        return False
    host = match["host"].lower()
    if host in (name.lower() for name in settings.names) or is_loopback(host):
        return True
    # a server on loopback has no other address: a request with one comes from a rebound name
    return not settings.is_loopback and is_address(host)


_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


def is_same_site(origin: str, host: str, settings: ServerSettings) -> bool:
    """Whether an origin is this server; the scheme may differ, because a proxy may terminate https."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.path or parts.query or parts.username:
        return False
    return parts.netloc.lower() == host.lower() or (
        parts.hostname is not None
        and parts.hostname.lower() in (name.lower() for name in settings.names)
    )


def has_token(request: web.Request, token: str) -> bool:
    """Whether a request has the token or the session cookie for it; compared in constant time."""
    kind, _, token_sent = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return equals_secret(token_sent.strip(), token)
    cookie = request.cookies.get(SESSION_COOKIE)
    return cookie is not None and equals_secret(cookie, build_session_value(token))


def build_session_value(token: str) -> str:
    """The value of the session cookie: derived from the token, which it does not reveal."""
    return hmac.new(token.encode(), b"ragstone session", hashlib.sha256).hexdigest()


def equals_secret(value: str, secret: str) -> bool:
    """Whether two texts are equal, in a time that does not depend on where they differ."""
    # Hashed first: compare_digest needs equal lengths to be constant-time, and ASCII if given str.
    left, right = (
        hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest() for text in (value, secret)
    )
    return hmac.compare_digest(left, right)
