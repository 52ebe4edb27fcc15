"""The scorer beside the server: a process of its own, so that judging never slows taking."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from ragstone.monitor import Archive
from ragstone.store import Store


class ScoringPart:
    """Keeps `ragstone monitor score --follow` running; it ends when its parent does, however that ends."""

    name = "scoring"

    def __init__(self, config: str | None, place: str, store: Store) -> None:
        self._config = config
        self._place = place
        self._archive = Archive(store)

    async def run(self) -> None:
        """Start it again when it ends."""
        command = [sys.executable, "-m", "ragstone", "monitor", "score", "--follow"]
        if self._config is not None:
            command += ["-c", self._config]
        # by the environment: a URL may hold a password, and arguments are seen by everyone
        environment = {**os.environ, "RAGSTONE_STORE": self._place}
        while True:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, env=environment
            )
            try:
                await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    await process.wait()
            await asyncio.sleep(5)

    def facts(self) -> dict[str, Any]:
        """The word that the scorer left."""
        rows = self._archive.store.read(
            "SELECT body FROM monitor_state WHERE name = ?", ("scoring",)
        )
        return dict(json.loads(rows[0][0])) if rows else {}
