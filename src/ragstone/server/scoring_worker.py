"""Background worker that runs the scorer as a separate process, so that scoring never slows ingest."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from ragstone.monitor import Archive
from ragstone.monitor.state import load_state
from ragstone.store import Store


class ScoringWorker:
    """Keeps `ragstone monitor score --follow` running. That process exits when its standard input, a pipe from here, closes.

    `config` is the path of the configuration file; `place` the path or URL of the store, with its password: `store.place`
    leaves that out."""

    name = "scoring"  # its key in `/v1/status`

    def __init__(self, config: str | None, place: str, store: Store) -> None:
        self._config = config
        self._store_path = place
        self._archive = Archive(store)

    async def run(self) -> None:
        """Start the process, and again whenever it exits; cancelling this ends it."""
        command = [sys.executable, "-m", "ragstone", "monitor", "score", "--follow"]
        if self._config is not None:
            command += ["-c", self._config]
        # By environment: a URL may hold a password, and arguments are visible to every user.
        environment = {**os.environ, "RAGSTONE_STORE": self._store_path}
        while True:
            # the pipe closes when this process dies, however it dies
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, env=environment
            )
            try:
                await process.wait()
            finally:
                if process.returncode is None:
                    assert process.stdin is not None
                    process.stdin.close()  # it exits at once and without a word
                    await process.wait()
            await asyncio.sleep(5)

    def get_status(self) -> dict[str, Any]:
        """The status that the scorer saved."""
        body = load_state(self._archive, "scoring")
        return {} if body is None else dict(json.loads(body))
