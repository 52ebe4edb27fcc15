"""Reports beside the server: one for each day, week or month that is over, written once."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from ragstone.config.reports import Reports
from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.interactions import from_micros, micros
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.period_report import last_complete
from ragstone.monitor.windows.summary import time_zone
from ragstone.report.files import write_text
from ragstone.report.monitor.period import read, rendered
from ragstone.store import Store

log = logging.getLogger("ragstone.server")

PAUSE_SECONDS = 300.0
LATE = HOUR
"""How long after its end a period is reported on: its last interactions are judged by then."""


class ReportingPart:
    """Looks now and then whether a period is over whose report is not there yet."""

    name = "reporting"

    def __init__(self, settings: Reports, store: Store) -> None:
        self._settings = settings
        self._archive = Archive(store.again())
        self._last = ""

    async def run(self) -> None:
        """Write what is missing, again and again."""
        while True:
            try:
                await asyncio.to_thread(self.write_missing, micros())
            except (RagstoneError, OSError) as broken:  # a disk or store may be back the next time
                log.warning("writing a report failed: %s", broken)
            await asyncio.sleep(PAUSE_SECONDS)

    def write_missing(self, now: int) -> list[Path]:
        """The files of the last period that is over, unless they are there; a file says that it is done."""
        settings = self._settings
        since, _ = last_complete(settings.period, now - LATE, settings.zone)
        day = from_micros(since).astimezone(time_zone(settings.zone)).date().isoformat()
        folder = Path(settings.folder).expanduser()
        wanted = [folder / f"ragstone-{settings.period}-{day}.{kind}" for kind in settings.formats]
        missing = [path for path in wanted if not path.exists()]
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            whole = read(self._archive, settings.period, now - LATE, settings.zone)
            for path in missing:
                write_text(path, rendered(whole, path.suffix, settings.language))
        self._last = day
        return missing

    def facts(self) -> dict[str, Any]:
        """The first day of the period that was last reported on."""
        return {"period": self._settings.period, "last": self._last}
