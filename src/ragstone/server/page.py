"""The live page: overview, single interactions, style and script; sign-in where a token is set."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, unquote, urlencode

from aiohttp import web

from ragstone.errors import DataError, StoreError
from ragstone.monitor.alerts.handling import acknowledge_alert, add_note, mute_alert
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.statements import DAY_MICROS
from ragstone.report.monitor import live
from ragstone.report.monitor.live import Frame
from ragstone.report.monitor.query import read_query
from ragstone.report.monitor.traffic_comparison import render_traffic_comparison
from ragstone.report.view.frame import ViewFrame
from ragstone.server.api import SERVER_STATE
from ragstone.server.connections import read_chunks
from ragstone.server.guard import SESSION_COOKIE, build_session_value, equals_secret, has_token
from ragstone.server.responses import RequestError

HOME: web.AppKey[str] = web.AppKey("home", str)
"""Which page `/` shows: `monitor` or `runs`."""

SIGN_IN_TARGETS = (
    "./",
    "monitor",
    "interaction",
    "traffic",
    "runs",
    "v",
    "review",
    "figures",
    "calls",
    "experiments",
    "experiment",
    "label",
    "testsets",
    "testset",
)
"""Relative names of the pages that one can sign in from."""

TESTSET_COOKIE = "ragstone_testset"
SESSION_DAYS = 7
"""How long a sign-in lasts."""
MAX_FORM_BYTES = 10_000
MUTE_MICROS = DAY_MICROS
"""How long the button of the page mutes an alert."""


async def get_home(request: web.Request) -> web.Response:
    """`GET /`: the overview; where the runs are at home, they."""
    if request.app[HOME] == "runs":
        return redirect("runs", request.query_string)
    return await get_overview(request)


async def get_overview(request: web.Request) -> web.Response:
    """`GET /monitor`: the overview."""
    frame = build_frame(request)
    if not is_authorised(request):
        return show_login(frame, request)
    archive = request.app[SERVER_STATE].read_archive
    try:
        return build_html_response(await asyncio.to_thread(live.render_overview, archive, frame))
    except StoreError as error:
        return show_store_error(frame, error)


async def get_interaction(request: web.Request) -> web.Response:
    """`GET /interaction?id=…`: one interaction with its claims and their evidence."""
    frame = build_frame(request)
    if not is_authorised(request):
        return show_login(frame, request)
    archive = request.app[SERVER_STATE].read_archive
    id = request.query.get("id", "")
    page = None
    try:
        if id and "\x00" not in id:
            page = await asyncio.to_thread(live.render_interaction, archive, id, frame)
    except StoreError as error:
        return show_store_error(frame, error)
    return (
        build_html_response(live.render_missing(frame), 404)
        if page is None
        else build_html_response(page)
    )


async def get_traffic(request: web.Request) -> web.Response:
    """`GET /traffic?a=model:small&b=model:large`: two slices, or two windows, of live traffic compared."""
    frame = build_frame(request)
    if not is_authorised(request):
        return show_login(frame, request)
    archive = request.app[SERVER_STATE].read_archive
    try:
        page = await asyncio.to_thread(
            render_traffic_comparison, archive, frame, dict(request.query)
        )
    except StoreError as error:
        return show_store_error(frame, error)
    return build_html_response(page)


async def get_style(request: web.Request) -> web.Response:
    """`GET /page.css`."""
    return web.Response(text=live.build_style(), content_type="text/css", headers=_CACHE_HEADERS)


async def get_script(request: web.Request) -> web.Response:
    """`GET /page.js`."""
    return web.Response(
        text=live.build_script(), content_type="text/javascript", headers=_CACHE_HEADERS
    )


async def get_login(request: web.Request) -> web.Response:
    """`GET /login`: the sign-in form, or the overview for those who are signed in."""
    frame = build_frame(request)
    return (
        build_html_response(live.render_login(frame, "./"))
        if not is_authorised(request)
        else redirect("./")
    )


async def post_alert(request: web.Request) -> web.Response:
    """Acknowledge, mute or annotate an alert, by the forms of the overview."""
    frame = build_frame(request)
    if not is_authorised(request):
        return show_login(frame, request)
    form = await read_form(request)
    archive, id, now = request.app[SERVER_STATE].read_archive, form.get("id", ""), frame.now
    by, text = form.get("by", ""), form.get("text", "")

    def act() -> None:
        match form.get("act"):
            case "ack":
                acknowledge_alert(archive, id, by, text, now)
            case "note":
                add_note(archive, id, by, text, now)
            case "mute":
                mute_alert(archive, id, now + MUTE_MICROS, now)
            case _:
                raise DataError("the form says neither ack, note nor mute")

    try:
        await asyncio.to_thread(act)
    except DataError as error:
        raise RequestError(422, str(error), "refused_invalid") from None
    home = "monitor" if request.app[HOME] == "runs" else "./"
    query = f"?{request.query_string}" if request.query_string else ""
    return redirect(f"{home}{query}#a{id}")


async def read_form(request: web.Request, max_bytes: int = MAX_FORM_BYTES) -> dict[str, str]:
    """The texts of a form; RequestError if it is none, is too large or does not arrive in time."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise RequestError(415, "the Content-Type must be application/x-www-form-urlencoded", "refused_invalid")  # fmt: skip
    body = b""
    too_large = RequestError(413, "the form is too large", "refused_invalid")
    if (request.content_length or 0) > max_bytes:
        raise too_large
    async for chunk in read_chunks(request, request.app[SERVER_STATE].settings.body_seconds):
        body += chunk
        if len(body) > max_bytes:
            raise too_large
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


async def post_login(request: web.Request) -> web.Response:
    """Exchange the token for a session cookie; its value is derived from the token, and scripts cannot read it."""
    state = request.app[SERVER_STATE]
    token = state.settings.token
    form = await read_form(request)
    target = _restrict_target(form.get("to", ""))
    if token is None:
        return redirect(target)
    if not equals_secret(form.get("token", "").strip(), token):
        state.queue.counts["refused_token"] += 1
        frame = build_frame(request, form.get("lang", ""))
        return build_html_response(live.render_login(frame, target, wrong=True), 401)
    response = redirect(target)
    response.set_cookie(
        SESSION_COOKIE,
        build_session_value(token),
        # Without a path the browser uses the directory it sees, including a proxy's prefix.
        path="",
        max_age=SESSION_DAYS * 86400,
        httponly=True,
        samesite="Strict",
        # the server itself speaks http, behind a proxy that may speak https: the browser's Origin
        # tells
        secure=request.headers.get("Origin", "").startswith("https:"),
    )
    return response


async def post_logout(request: web.Request) -> web.Response:
    """Delete the session cookie."""
    response = redirect("./")
    response.set_cookie(SESSION_COOKIE, "", path="", max_age=0, httponly=True, samesite="Strict")
    return response


async def redirect_to_slash(request: web.Request) -> web.Response:
    """The address of the home page with its slash."""
    # without the slash, the page's relative links would be resolved one level too high
    return redirect(f"{request.path.rsplit('/', 1)[-1]}/", request.query_string)


_CACHE_HEADERS = {"Cache-Control": "private, max-age=300"}


def build_frame(request: web.Request, lang: str = "") -> Frame:
    """What a page of the monitor has around it; `lang` is what the sign-in form sent."""
    now = now_micros()
    settings = request.app[SERVER_STATE].settings
    # `lang` is what the sign-in form sent; a language in the address goes first
    home = "monitor" if settings.home == "runs" else "./"
    query = read_query({"lang": lang, **request.query}, now, settings.zone, home)
    signed_in = settings.token is not None and is_authorised(request)
    # a viewer takes no interactions: there is no address to send one to
    address = f"{request.url.origin()}{settings.prefix}/" if settings.ingest else ""
    words = live.choose_words(query.lang, request.headers.get("Accept-Language", ""), query.zone)
    nav = ViewFrame(words, "monitor", {}, query.lang, monitor_page=home).build_nav()
    testset = unquote(request.cookies.get(TESTSET_COOKIE, ""))[:80]
    theme = read_theme(request)
    return Frame(
        words, query, now, signed_in, address, tuple(nav), theme, settings.editing, testset
    )


def read_theme(request: web.Request) -> str:
    """`light` or `dark` where the reader has chosen; the script of the pages keeps it."""
    theme = request.cookies.get("ragstone_theme", "")
    return theme if theme in ("light", "dark") else ""


def is_authorised(request: web.Request) -> bool:
    """Whether a request has the token, where one is set."""
    token = request.app[SERVER_STATE].settings.token
    return token is None or has_token(request, token)


def show_login(frame: Frame, request: web.Request) -> web.Response:
    """The sign-in form in the place of a page."""
    page = request.path.rsplit("/", 1)[-1] or "./"
    return build_html_response(
        live.render_login(frame, _restrict_target(f"{page}?{request.query_string}")), 401
    )


def show_store_error(frame: Frame, error: StoreError) -> web.Response:
    """The page, instead of the API's JSON, while the store cannot be read."""
    response = build_html_response(live.render_away(frame, str(error)), 503)
    response.headers["Retry-After"] = "5"
    return response


def _restrict_target(target: str) -> str:
    """The target if it is one of these pages, else the overview: prevents open redirects."""
    page, _, query = target.partition("?")
    if page not in SIGN_IN_TARGETS:
        return "./"
    pairs = parse_qsl(query, max_num_fields=60) if query.count("&") < 60 else []
    return f"{page}?{urlencode(pairs)}" if pairs else page


def redirect(target: str, query: str = "") -> web.Response:
    """A redirection by GET; `target` is relative, so that it works under any prefix of a proxy."""
    return web.Response(status=303, headers={"Location": f"{target}?{query}" if query else target})


def build_html_response(text: str, status: int = 200) -> web.Response:
    """A page as a response."""
    return web.Response(
        body=text.encode("utf-8", "replace"),
        status=status,
        content_type="text/html",
        charset="utf-8",
        # With `no-referrer` browsers submit the forms of this page with `Origin: null`, which the guard refuses.
        headers={"Referrer-Policy": "same-origin"},
    )
