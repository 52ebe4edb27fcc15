"""The server put together: routes, guards, background work, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from aiohttp import web

from ragstone.errors import RagstoneError, StoreError
from ragstone.monitor import Archive
from ragstone.monitor.ingest.traces import put_together
from ragstone.monitor.interactions import micros
from ragstone.server import api, page
from ragstone.server.alert_worker import get_metrics
from ragstone.server.api import SERVICE, Service
from ragstone.server.guard import Handler, add_headers, guard
from ragstone.server.ingest_queue import Intake
from ragstone.server.responses import Refused, refuse
from ragstone.server.settings import Settings, checked
from ragstone.store import Store

log = logging.getLogger("ragstone.server")

COUNT_SECONDS = 1.0
RETENTION_SECONDS = 3600.0

GETS: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
    "/v1/interactions": api.get_interactions,
    "/v1/interactions/{id}": api.get_interaction,
    "/v1/summary": api.get_summary,
    "/v1/status": api.get_status,
    "/healthz": api.get_health,
    "/metrics": get_metrics,
    "/openapi.json": api.get_openapi,
}

POSTS: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
    "/v1/interactions": api.post_interactions,
    "/v1/feedback": api.post_feedback,
    "/v1/traces": api.post_traces,
}

OPEN = ("/healthz", *page.PAGES)
"""What needs no token, or asks for it by a form."""


class Part(Protocol):
    """Something that works beside the server: the scorer, the watcher."""

    name: str

    async def run(self) -> None:
        """Work until cancelled."""

    def facts(self) -> dict[str, Any]:
        """What `/v1/status` says of it."""


def make_app(settings: Settings, store: Store, parts: Sequence[Part] = ()) -> web.Application:
    """The application on a store; `parts` work beside it as long as it runs."""
    settings = checked(settings)
    prefixes = ("", settings.prefix) if settings.prefix else ("",)
    open_paths = frozenset(prefix + path for prefix in prefixes for path in OPEN)
    app = web.Application(
        middlewares=[errors, guard(settings, open_paths, lambda name: _count(app, name))],
        client_max_size=settings.body_bytes,
    )
    for prefix in prefixes:
        # behind a proxy that strips the prefix or one that does not
        for path, handler in GETS.items():
            app.router.add_get(prefix + path, handler)
        for path, handler in POSTS.items():
            app.router.add_post(prefix + path, handler)
        page.mount(app, prefix)
    app.on_response_prepare.append(add_headers)
    app.cleanup_ctx.append(lambda app: _running(app, settings, store, parts))
    return app


def _count(app: web.Application, name: str) -> None:
    app[SERVICE].intake.counts[name] += 1


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal as JSON and counted; a fault of ours tells the log, not the caller."""
    try:
        return await handler(request)
    except Refused as refused:
        if refused.counted:
            _count(request.app, refused.counted)
        return refused.response()
    except StoreError as away:
        return refuse(503, str(away), headers={"Retry-After": "5"})
    except web.HTTPException as answer:
        if answer.status < 400:
            raise
        allowed = answer.headers.get("Allow")
        return refuse(answer.status, answer.reason, headers={"Allow": allowed} if allowed else None)
    except (asyncio.CancelledError, ConnectionResetError):
        raise
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return refuse(500, "this is a fault in ragstone; its log has the traceback")


async def _running(
    app: web.Application, settings: Settings, store: Store, parts: Sequence[Part]
) -> AsyncIterator[None]:
    """Background work from start to end; on the way out everything that was taken is written."""
    archive = Archive(store)
    intake = Intake(archive, settings)
    reading = Archive(store.again())
    app[SERVICE] = Service(
        settings, intake, reading, micros(), lambda: {part.name: part.facts() for part in parts}
    )
    intake.start()
    tasks = [
        asyncio.create_task(_every(COUNT_SECONDS, lambda: _note(intake), "counting")),
        asyncio.create_task(
            _every(
                max(0.2, settings.grace / 2),
                lambda: _in_thread(
                    put_together,
                    reading,
                    grace=round(settings.grace * 1e6),
                    timeout=round(settings.timeout * 1e6),
                ),
                "putting traces together",
            )
        ),
        *(asyncio.create_task(_kept_up(part)) for part in parts),
    ]
    if settings.retention is not None:
        age = settings.retention
        tasks.append(
            asyncio.create_task(
                _every(
                    RETENTION_SECONDS,
                    lambda: _in_thread(lambda: reading.purge(before=micros() - age)),
                    "forgetting what is old",
                )
            )
        )
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await intake.close()
    with suppress(StoreError):
        await _note(intake)
    reading.store.close()


async def _note(intake: Intake) -> None:
    """Move the counts of refusals into the store; until it has them they stay in sight."""
    counts = intake.counts.copy()
    if counts:
        await asyncio.wrap_future(intake.archive.count(counts))
        intake.counts -= counts


async def _in_thread(function: Callable[..., Any], *args: Any, **more: Any) -> None:
    await asyncio.to_thread(function, *args, **more)


async def _every(seconds: float, work: Callable[[], Awaitable[None]], what: str) -> None:
    """Do it again and again; a store that is away now may be back the next time."""
    while True:
        try:
            await work()
        except RagstoneError as broken:
            log.warning("%s failed: %s", what, broken)
        except Exception:
            log.exception("%s failed", what)
        await asyncio.sleep(seconds)


async def _kept_up(part: Part) -> None:
    while True:
        try:
            await part.run()
            return
        except Exception:  # one part's fault must not take the others along
            log.exception("%s failed and starts again", part.name)
            await asyncio.sleep(5)


async def serve(
    settings: Settings,
    store: Store,
    parts: Sequence[Part] = (),
    *,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Listen until SIGTERM or SIGINT; then take nothing more, answer what is under way, write it, and return."""
    # the thread that writes must not wait 5 ms for the loop after each statement when there is much to do
    sys.setswitchinterval(0.0005)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(
        make_app(settings, store, parts),
        access_log=None,
        auto_decompress=False,
        keepalive_timeout=75,
        shutdown_timeout=10,
        handle_signals=False,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, settings.host, settings.port, backlog=1024)
        try:
            await site.start()
        except OSError as taken:
            raise RagstoneError(
                f"cannot listen on {settings.host}:{settings.port} ({taken.strerror}); name another with --port"
            ) from None
        host, port = runner.addresses[0][:2]
        shown = f"[{host}]" if ":" in host else host
        if ready is not None:
            ready(f"http://{shown}:{port}{settings.prefix}")
        await stop.wait()
    finally:
        await runner.cleanup()
