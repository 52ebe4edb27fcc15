"""The live page over HTTP: overview, single interactions, style and script; signing in where a token is set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from ragstone.errors import StoreError
from ragstone.monitor.interactions import micros
from ragstone.report.monitor import live
from ragstone.report.monitor.live import Frame
from ragstone.report.monitor.query import read_query
from ragstone.server.api import SERVICE
from ragstone.server.guard import COOKIE, equal, session_of, shows_token
from ragstone.server.responses import Refused

PAGES = ("/", "/interaction", "/login", "/logout", "/page.css", "/page.js")
"""What the guard lets pass: a page without the token shows the form for it instead of a refusal."""

DAYS = 7
"""How long a sign-in lasts."""
LARGEST_FORM = 10_000


def mount(app: web.Application, prefix: str) -> None:
    """Add the pages under a prefix; every link on them is relative, so that they work under any."""
    for path, handler in _GETS.items():
        app.router.add_get(prefix + path, handler)
    app.router.add_post(f"{prefix}/login", post_login)
    app.router.add_post(f"{prefix}/logout", post_logout)
    if prefix:
        app.router.add_get(prefix, _with_slash)


async def get_overview(request: web.Request) -> web.Response:
    """`GET /`: everything at a glance."""
    frame = _frame(request)
    if not _may(request):
        return _ask(frame, request)
    archive = request.app[SERVICE].reading
    try:
        return _html(await asyncio.to_thread(live.overview, archive, frame))
    except StoreError as away:
        return _away(frame, away)


async def get_interaction(request: web.Request) -> web.Response:
    """`GET /interaction?id=…`: one with its claims and their evidence."""
    frame = _frame(request)
    if not _may(request):
        return _ask(frame, request)
    archive = request.app[SERVICE].reading
    id = request.query.get("id", "")
    page = None
    try:
        if id and "\x00" not in id:
            page = await asyncio.to_thread(live.interaction, archive, id, frame)
    except StoreError as away:
        return _away(frame, away)
    return _html(live.missing(frame), 404) if page is None else _html(page)


async def get_style(request: web.Request) -> web.Response:
    """`GET /page.css`."""
    return web.Response(text=live.style(), content_type="text/css", headers=_CACHED)


async def get_script(request: web.Request) -> web.Response:
    """`GET /page.js`."""
    return web.Response(text=live.script(), content_type="text/javascript", headers=_CACHED)


async def get_login(request: web.Request) -> web.Response:
    """`GET /login`: the form; for who is in already, the overview."""
    frame = _frame(request)
    return _html(live.login(frame, "./")) if not _may(request) else _to("./")


async def post_login(request: web.Request) -> web.Response:
    """The cookie for the token; it holds a code made from the token, and no script can read it."""
    service = request.app[SERVICE]
    token = service.settings.token
    if (request.content_length or 0) > LARGEST_FORM:
        raise Refused(413, "the form is too large", "refused_invalid")
    if request.content_type != "application/x-www-form-urlencoded":
        raise Refused(415, "the Content-Type must be application/x-www-form-urlencoded", "refused_invalid")  # fmt: skip
    form = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    to = _own(form.get("to", ""))
    if token is None:
        return _to(to)
    if not equal(form.get("token", "").strip(), token):
        service.intake.counts["refused_token"] += 1
        frame = _frame(request, form.get("lang", ""))
        return _html(live.login(frame, to, wrong=True), 401)
    answer = _to(to)
    answer.set_cookie(
        COOKIE,
        session_of(token),
        # no path: the browser takes the folder it sees, which a proxy's prefix is part of
        path="",
        max_age=DAYS * 86400,
        httponly=True,
        samesite="Strict",
        secure=request.headers.get("Origin", "").startswith("https:"),
    )
    return answer


async def post_logout(request: web.Request) -> web.Response:
    """Take the cookie back."""
    answer = _to("./")
    answer.set_cookie(COOKIE, "", path="", max_age=0, httponly=True, samesite="Strict")
    return answer


async def _with_slash(request: web.Request) -> web.Response:
    return _to(f"{request.path.rsplit('/', 1)[-1]}/", request.query_string)


_GETS: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
    "/": get_overview,
    "/interaction": get_interaction,
    "/page.css": get_style,
    "/page.js": get_script,
    "/login": get_login,
}

_CACHED = {"Cache-Control": "private, max-age=300"}


def _frame(request: web.Request, lang: str = "") -> Frame:
    now = micros()
    settings = request.app[SERVICE].settings
    query = read_query({"lang": lang, **request.query}, now, settings.zone)
    signed_in = settings.token is not None and _may(request)
    address = f"{request.url.origin()}{settings.prefix}/"
    say = live.language_of(query.lang, request.headers.get("Accept-Language", ""), query.zone)
    return Frame(say, query, now, signed_in, address)


def _may(request: web.Request) -> bool:
    token = request.app[SERVICE].settings.token
    return token is None or shows_token(request, token)


def _ask(frame: Frame, request: web.Request) -> web.Response:
    page = request.path.rsplit("/", 1)[-1] or "./"
    return _html(live.login(frame, _own(f"{page}?{request.query_string}")), 401)


def _away(frame: Frame, why: StoreError) -> web.Response:
    """What a person sees instead of the API's JSON while the store cannot be read."""
    answer = _html(live.away(frame, str(why)), 503)
    answer.headers["Retry-After"] = "5"
    return answer


def _own(to: str) -> str:
    """A place on these pages to go on to: nobody can send a visitor elsewhere."""
    page, _, query = to.partition("?")
    if page not in ("./", "interaction"):
        return "./"
    pairs = parse_qsl(query, max_num_fields=20) if query.count("&") < 20 else []
    return f"{page}?{urlencode(pairs)}" if pairs else page


def _to(place: str, query: str = "") -> web.Response:
    return web.Response(status=303, headers={"Location": f"{place}?{query}" if query else place})


def _html(text: str, status: int = 200) -> web.Response:
    return web.Response(
        body=text.encode("utf-8", "replace"),
        status=status,
        content_type="text/html",
        charset="utf-8",
        # with `no-referrer` a browser would send the forms of this page with `Origin: null`
        headers={"Referrer-Policy": "same-origin"},
    )
