"""Background worker that writes a report for each complete day, week or month, once."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from ragstone import report
from ragstone.config.reports import ReportSchedule
from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.interactions import from_micros, now_micros
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.monitor.windows.period_report import find_last_complete_period
from ragstone.store import Store

log = logging.getLogger("ragstone.server")

PAUSE_SECONDS = 300.0
"""Seconds between two checks."""
REPORT_DELAY_MICROS = HOUR_MICROS
"""How long after its end a period is reported on: its last interactions are scored by then."""


class ReportWorker:
    """Checks periodically whether a period is complete whose report does not exist yet."""

    name = "reporting"  # its key in `/v1/status`

    def __init__(self, settings: ReportSchedule, store: Store) -> None:
        self._settings = settings
        self._archive = Archive(store.reopen())
        self._last_day = ""  # the first day of the period last reported on, ISO 8601

    async def run(self) -> None:
        """Write missing reports, periodically."""
        while True:
            try:
                await asyncio.to_thread(self.write_missing, now_micros())
            # the disk or store may be available next time
            except (RagstoneError, OSError) as error:
                log.warning("writing a report failed: %s", error)
            await asyncio.sleep(PAUSE_SECONDS)

    def write_missing(self, now: int) -> list[Path]:
        """Write the files of the last complete period that do not exist yet; a file that exists is never rewritten."""
        settings = self._settings
        since, _ = find_last_complete_period(
            settings.period, now - REPORT_DELAY_MICROS, settings.zone
        )
        day = from_micros(since).astimezone(get_time_zone(settings.zone)).date().isoformat()
        folder = Path(settings.folder).expanduser()
        paths = [folder / f"ragstone-{settings.period}-{day}.{kind}" for kind in settings.formats]
        # the files themselves are the memory of what was written: no state to lose, and deleting a
        # file asks for it again
        missing = [path for path in paths if not path.exists()]
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            analysis = analyse_period(
                self._archive, settings.period, now - REPORT_DELAY_MICROS, settings.zone
            )
            for path in missing:
                report.write(analysis, path, language=settings.language)
        self._last_day = day
        return missing

    def get_status(self) -> dict[str, Any]:
        """The first day of the period that was last reported on."""
        return {"period": self._settings.period, "last": self._last_day}
