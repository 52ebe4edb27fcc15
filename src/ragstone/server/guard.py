"""Who may ask: host names, origins, the token; and the headers that every reply carries."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from ragstone.server.responses import refuse
from ragstone.server.settings import Settings, is_address, is_loopback

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

COOKIE = "ragstone_session"

HEADERS = {
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


def guard(settings: Settings, open_paths: frozenset[str], count: Callable[[str], None]) -> Any:
    """The middleware that lets a request in or answers why not."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = _refusal(request, settings, open_paths)
        if refusal is not None:
            count("refused_" + refusal[0])
            return refuse(refusal[1], refusal[2], **refusal[3])
        return await handler(request)

    return check


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Put the headers on a reply that has none of its own."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if "Server" in response.headers:
        response.headers["Server"] = "ragstone"


Refusal = tuple[str, int, str, dict[str, Any]]


def _refusal(
    request: web.Request, settings: Settings, open_paths: frozenset[str]
) -> Refusal | None:
    hosts = request.headers.getall("Host", [])
    if len(hosts) != 1 or not known_host(hosts[0], settings):
        what = "the Host header names a host that this server is not; add it with --name"
        return ("host", 403, what, {})
    origin = request.headers.get("Origin")
    if origin is not None and not same_site(origin, hosts[0], settings):
        return ("origin", 403, "requests from pages of other sites are not taken", {})
    if request.headers.get("Sec-Fetch-Site") == "cross-site" and not _follows(request, open_paths):
        return ("origin", 403, "requests from pages of other sites are not taken", {})
    if settings.token is None or request.path in open_paths:
        return None
    if shows_token(request, settings.token):
        return None
    return (
        "token",
        401,
        "show the token: Authorization: Bearer …",
        {"headers": {"WWW-Authenticate": 'Bearer realm="ragstone"'}},
    )


def _follows(request: web.Request, open_paths: frozenset[str]) -> bool:
    """Whether someone follows a link to a page, from a chat say: the site it stands on sees nothing of the answer."""
    how = request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Dest")
    return (
        request.method == "GET" and request.path in open_paths and how == ("navigate", "document")
    )


def known_host(value: str, settings: Settings) -> bool:
    """Whether a Host header is one of ours: nobody can point a name of theirs at us and be obeyed."""
    found = _HOST.fullmatch(value)
    if found is None:
        return False
    host = found["host"].lower()
    if host in (name.lower() for name in settings.names) or is_loopback(host):
        return True
    return not settings.loopback and is_address(host)


_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


def same_site(origin: str, host: str, settings: Settings) -> bool:
    """Whether a page of this origin is one of ours; a proxy may speak https where we speak http."""
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


def shows_token(request: web.Request, token: str) -> bool:
    """Whether a request carries the token, or the cookie that was given for it; compared in constant time."""
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return equal(given.strip(), token)
    cookie = request.cookies.get(COOKIE)
    return cookie is not None and equal(cookie, session_of(token))


def session_of(token: str) -> str:
    """What the cookie of a page holds: tells nobody the token."""
    return hmac.new(token.encode(), b"ragstone session", hashlib.sha256).hexdigest()


def equal(given: str, wanted: str) -> bool:
    """Whether two texts are the same, in a time that does not tell where they differ."""
    # hashed first: neither length nor odd characters may matter
    one, other = (
        hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest() for text in (given, wanted)
    )
    return hmac.compare_digest(one, other)
