"""The watcher beside the server: a round every few minutes, and the messages that follow from it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from aiohttp import web

from ragstone.config.alerts import Alerts
from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.alerts.evaluation import last_status, round_length, watch
from ragstone.monitor.alerts.outbox import deliver
from ragstone.monitor.exposition import CONTENT_TYPE, metrics_text
from ragstone.monitor.interactions import iso, micros
from ragstone.server.api import SERVICE
from ragstone.server.responses import refuse
from ragstone.store import Store

log = logging.getLogger("ragstone.server")

DELIVERY_SECONDS = 15.0
"""How often messages that did not arrive are looked at again."""


class WatchingPart:
    """Looks at everything again and again, with a writer of its own so that taking never waits for it."""

    name = "watching"

    def __init__(self, settings: Alerts, store: Store) -> None:
        self._settings = settings
        self._archive = Archive(store.again())

    async def run(self) -> None:
        """A round, then deliveries until the next."""
        while True:
            await self._step(self._round)
            waited = 0.0
            while waited < round_length(self._settings):
                pause = min(DELIVERY_SECONDS, round_length(self._settings) - waited)
                await asyncio.sleep(pause)
                waited += pause
                await self._step(self._deliver)

    async def _step(self, work: Any) -> None:
        try:
            await asyncio.to_thread(work)
        except RagstoneError as broken:  # a store that is away may be back the next time
            log.warning("watching failed: %s", broken)

    def _round(self) -> None:
        watch(self._archive, self._settings, micros())
        self._deliver()

    def _deliver(self) -> None:
        deliver(self._archive, self._settings.channels)

    def facts(self) -> dict[str, Any]:
        """The last round's state and open alerts."""
        status = last_status(self._archive)
        if status is None:
            return {}
        return {
            "at": iso(status.at),
            "state": status.state,
            "alerts": [
                {"id": one.id, "rule": one.rule, "state": one.state, "title": one.title}
                for one in status.open
            ],
        }


async def get_metrics(request: web.Request) -> web.StreamResponse:
    """`GET /metrics`: what Prometheus scrapes."""
    archive = request.app[SERVICE].reading
    try:
        text = await asyncio.to_thread(metrics_text, archive)
    except RagstoneError as missing:
        return refuse(501, str(missing))
    return web.Response(text=text, headers={"Content-Type": CONTENT_TYPE})
