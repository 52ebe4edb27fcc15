"""The server application: routes, access control, background workers, and an orderly shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from aiohttp import web

from ragstone.errors import RagstoneError, StoreError
from ragstone.monitor import Archive
from ragstone.monitor.ingest.traces import assemble_traces
from ragstone.monitor.interactions import now_micros
from ragstone.server import page
from ragstone.server.api import SERVER_STATE, ServerState
from ragstone.server.connections import (
    CONNECTIONS,
    KEEPALIVE_SECONDS,
    ConnectionTable,
    accept_connections,
    close_overdue_forever,
    limit_log_lines,
    open_listeners,
    track_connection,
)
from ragstone.server.guard import Handler, add_headers, build_guard
from ragstone.server.ingest_queue import IngestQueue
from ragstone.server.responses import RequestError, build_error_response
from ragstone.server.routes import list_routes
from ragstone.server.settings import ServerSettings, check_settings
from ragstone.server.view_state import VIEW_STATE, ViewState
from ragstone.store import Store

log = logging.getLogger("ragstone.server")
RESTART_SECONDS = 5
"""Between the failure of a worker and its next start."""

FLUSH_COUNTS_SECONDS = 1.0
"""Seconds between two writes of the refusal counters."""
PURGE_SECONDS = 3600.0
"""Seconds between two deletions of interactions beyond the retention time."""


class BackgroundWorker(Protocol):
    """A task beside the server: scoring, alerts, reports."""

    name: str

    async def run(self) -> None:
        """Work until cancelled."""

    def get_status(self) -> dict[str, Any]:
        """The worker's facts for `/v1/status`, where they stand under its name."""


def make_app(
    settings: ServerSettings, store: Store, workers: Sequence[BackgroundWorker] = ()
) -> web.Application:
    """The application on a store; `workers` run as long as it does."""
    settings = check_settings(settings)
    prefixes = ("", settings.prefix) if settings.prefix else ("",)
    routes = list_routes(settings)
    open_paths = frozenset(
        prefix + route.path for prefix in prefixes for route in routes if route.is_open
    )
    app = web.Application(
        middlewares=[
            track_connection,
            # around the guard, so that a refusal of the guard is answered and counted like any other
            handle_errors,
            # a lambda, because `app` is assigned only after this call
            build_guard(settings, open_paths, lambda name: _count_refusal(app, name)),
        ],
        client_max_size=settings.body_bytes,
    )
    app[page.HOME] = settings.home
    app[CONNECTIONS] = ConnectionTable(settings)
    for prefix in prefixes:
        # With and without the prefix: a proxy may strip it or not.
        for route in routes:
            app.router.add_route(route.method, prefix + route.path, route.handle)
        if prefix:
            app.router.add_get(prefix, page.redirect_to_slash)
    app.on_response_prepare.append(add_headers)
    app.cleanup_ctx.append(lambda app: _run_background(app, settings, store, workers))
    return app


def _count_refusal(app: web.Application, name: str) -> None:
    app[SERVER_STATE].queue.counts[name] += 1


@web.middleware
async def handle_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal as JSON, and counted; an internal error is logged and not shown to the caller."""
    try:
        return await handler(request)
    except RequestError as error:
        if error.counter is not None:
            _count_refusal(request.app, error.counter)
        return error.to_response()
    except StoreError as error:
        return build_error_response(503, str(error), headers={"Retry-After": "5"})
    except web.HTTPException as answer:
        if answer.status < 400:  # a redirection is no error; aiohttp answers with what is raised
            raise
        allowed = answer.headers.get("Allow")
        return build_error_response(
            answer.status, answer.reason, headers={"Allow": allowed} if allowed else None
        )
    # the client went away in the middle of its body, or sent one that is framed wrongly; nobody
    # may read the answer, but what is raised here would be logged with its traceback
    except (ConnectionResetError, web.RequestPayloadError):
        _count_refusal(request.app, "refused_incomplete")
        return build_error_response(400, "the request ended before its body was complete")
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return build_error_response(500, "this is a fault in ragstone; its log has the traceback")


async def _run_background(
    app: web.Application,
    settings: ServerSettings,
    store: Store,
    workers: Sequence[BackgroundWorker],
) -> AsyncIterator[None]:
    """Start background work; at shutdown, write everything that was accepted."""
    archive = Archive(store)
    queue = IngestQueue(archive, settings)
    # separate connections, also for background writes: ingest must not wait for them
    read_archive = Archive(store.reopen())
    app[SERVER_STATE] = ServerState(
        settings,
        queue,
        read_archive,
        now_micros(),
        lambda: {worker.name: worker.get_status() for worker in workers},
    )
    view = app[VIEW_STATE] = ViewState(store.reopen())
    queue.start()
    tasks = [asyncio.create_task(_restart_on_error(worker)) for worker in workers]
    if settings.ingest:
        tasks += _start_ingest_tasks(settings, queue, read_archive)
    yield
    # in a thread: it waits for what is being read of a run
    await asyncio.to_thread(view.close)
    view.store.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    # after the other tasks, and before the store goes: every accepted row is on disk before its
    # request is answered
    await queue.close()
    with suppress(StoreError):
        if settings.ingest:  # a viewer writes nothing by itself
            await _flush_counts(queue)
    read_archive.store.close()


def _start_ingest_tasks(
    settings: ServerSettings, queue: IngestQueue, read_archive: Archive
) -> list[asyncio.Task[None]]:
    """Count refusals, assemble traces and delete old interactions, periodically."""
    tasks = [
        asyncio.create_task(
            _repeat_forever(FLUSH_COUNTS_SECONDS, lambda: _flush_counts(queue), "counting")
        ),
        asyncio.create_task(
            _repeat_forever(
                max(0.2, settings.grace / 2),
                lambda: _in_thread(
                    assemble_traces,
                    read_archive,
                    grace=round(settings.grace * 1e6),
                    timeout=round(settings.timeout * 1e6),
                ),
                "assembling traces",
            )
        ),
    ]
    if settings.retention is not None:
        age = settings.retention
        tasks.append(
            asyncio.create_task(
                _repeat_forever(
                    PURGE_SECONDS,
                    lambda: _in_thread(lambda: read_archive.purge(before=now_micros() - age)),
                    "deleting old interactions",
                )
            )
        )
    return tasks


async def _flush_counts(queue: IngestQueue) -> None:
    """Move counts of refusals to the store; they are subtracted only once it has them, so that none is missing meanwhile."""
    counts = queue.counts.copy()
    if counts:
        await asyncio.wrap_future(queue.archive.count(counts))
        # Counter's -= also drops names that reach zero
        queue.counts -= counts


async def _in_thread(function: Callable[..., Any], *args: Any, **more: Any) -> None:
    await asyncio.to_thread(function, *args, **more)


async def _repeat_forever(seconds: float, work: Callable[[], Awaitable[None]], name: str) -> None:
    """Run a task periodically; an unavailable store may be back next time."""
    while True:
        try:
            await work()
        except (RagstoneError, OSError) as error:  # OSError: out of files, a full disk
            log.warning("%s failed: %s", name, error)
        except Exception:
            log.exception("%s failed", name)
        await asyncio.sleep(seconds)


async def _restart_on_error(worker: BackgroundWorker) -> None:
    while True:
        try:
            await worker.run()
            return  # it ended by itself, without an error
        except OSError as error:  # out of files, a full disk: nothing to be found in a traceback
            log.warning("%s failed and is restarted: %s", worker.name, error)
        except Exception:  # one worker's fault must not stop the others
            log.exception("%s failed and is restarted", worker.name)
        await asyncio.sleep(RESTART_SECONDS)


async def serve(
    settings: ServerSettings,
    store: Store,
    workers: Sequence[BackgroundWorker] = (),
    *,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Listen until SIGTERM or SIGINT; then accept nothing more, answer requests in progress, write their rows, and return."""
    # The writing thread must not wait 5 ms for the event loop to release the GIL after each statement under load.
    sys.setswitchinterval(0.0005)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(
        make_app(settings, store, workers),
        access_log=None,
        # `read_body` decompresses itself, in bounded steps: aiohttp would unpack a gzip bomb whole
        auto_decompress=False,
        keepalive_timeout=KEEPALIVE_SECONDS,
        shutdown_timeout=10,
        # the handlers above end the wait below, so that `cleanup` writes what was accepted
        handle_signals=False,
    )
    await runner.setup()
    try:
        async with listen(runner, settings) as url:
            if ready is not None:
                ready(url)
            await stop.wait()
    finally:
        await runner.cleanup()


@asynccontextmanager
async def listen(runner: web.AppRunner, settings: ServerSettings) -> AsyncIterator[str]:
    """Accept connections for an application as long as the context lasts; its URL."""
    try:
        listeners = open_listeners(settings.host, settings.port)
    except OSError as error:
        raise RagstoneError(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror}); name another with --port"
        ) from None
    table, server = runner.app[CONNECTIONS], runner.server
    assert server is not None, "the runner was not set up"
    table.fit_limit()
    tasks = [asyncio.create_task(close_overdue_forever(table))]
    tasks += [asyncio.create_task(accept_connections(each, server, table)) for each in listeners]
    host, port = listeners[0].getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    try:
        with limit_log_lines():
            yield f"http://{shown}:{port}{settings.prefix}"
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for listener in listeners:
            listener.close()
