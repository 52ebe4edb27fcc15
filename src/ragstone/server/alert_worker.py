"""Background worker that evaluates the alert rules periodically and delivers notifications; and the handler of `/metrics`."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from aiohttp import web

from ragstone.config.alerts import Alerts
from ragstone.errors import MissingExtra, RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.alerts.evaluation import evaluate_alerts, get_interval_seconds, load_status
from ragstone.monitor.alerts.outbox import deliver_due
from ragstone.monitor.exposition import CONTENT_TYPE, render_metrics
from ragstone.monitor.interactions import format_iso, now_micros
from ragstone.server.api import SERVER_STATE
from ragstone.server.responses import build_error_response
from ragstone.store import Store

log = logging.getLogger("ragstone.server")

DELIVERY_SECONDS = 15.0
"""Seconds between attempts to deliver due messages."""


class AlertWorker:
    """Evaluates the alert rules periodically and delivers their notifications."""

    name = "watching"  # its key in `/v1/status`

    def __init__(self, settings: Alerts, store: Store) -> None:
        self._settings = settings
        # separate connections: an evaluation reads many rows, and ingest must not wait for it
        self._archive = Archive(store.reopen())

    async def run(self) -> None:
        """Evaluate, then deliver due messages until the next evaluation."""
        while True:
            await self._run_in_thread(self._evaluate_and_deliver)
            waited = 0.0
            while waited < get_interval_seconds(self._settings):
                pause = min(DELIVERY_SECONDS, get_interval_seconds(self._settings) - waited)
                await asyncio.sleep(pause)
                waited += pause
                await self._run_in_thread(self._deliver_messages)

    async def _run_in_thread(self, work: Any) -> None:
        try:
            await asyncio.to_thread(work)
        except RagstoneError as error:  # an unavailable store may be back next time
            log.warning("evaluating alerts failed: %s", error)

    def _evaluate_and_deliver(self) -> None:
        evaluate_alerts(self._archive, self._settings, now_micros())
        self._deliver_messages()

    def _deliver_messages(self) -> None:
        deliver_due(self._archive, self._settings.channels)

    def get_status(self) -> dict[str, Any]:
        """The last evaluation's state and open alerts."""
        status = load_status(self._archive)
        if status is None:
            return {}
        return {
            "at": format_iso(status.at),
            "state": status.state,
            "alerts": [
                {"id": alert.id, "rule": alert.rule, "state": alert.state, "title": alert.title}
                for alert in status.open
            ],
        }


async def get_metrics(request: web.Request) -> web.StreamResponse:
    """`GET /metrics`: metrics for Prometheus."""
    archive = request.app[SERVER_STATE].read_archive
    try:
        text = await asyncio.to_thread(render_metrics, archive)
    except MissingExtra as error:
        return build_error_response(501, str(error))
    except RagstoneError as error:  # the store is unavailable, perhaps not for long
        return build_error_response(503, str(error), headers={"Retry-After": "5"})
    return web.Response(text=text, headers={"Content-Type": CONTENT_TYPE})
