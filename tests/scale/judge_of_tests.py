"""A judge for workers: keeps a count of its calls on disk, and dies, fails or dawdles when the text says so."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from ragstone.asks import Ask

COUNTS = "RAGSTONE_TEST_CALLS"


def judge(ask: Ask) -> Any:
    """Verdicts by the length of the claim, the same for the same text on any worker."""
    folder = os.environ.get(COUNTS)
    if folder:
        with (Path(folder) / f"{os.getpid()}").open("a", encoding="utf-8") as file:
            file.write(f"{time.time()} {ask.key}\n")
    text = str(ask.values)
    if folder and "moody" in text and (Path(folder) / "moody").exists():
        raise ValueError("not today")
    if "poison" in text:
        os._exit(9)
    if "dawdle" in text:
        time.sleep(0.05)
    if ask.kind == "rate":
        level = len(text) % len(ask.values["levels"])
        return {"level": level, "reason": "by length"}
    raise AssertionError(f"not asked here: {ask.kind}")


async def slow_judge(ask: Ask) -> Any:
    """The same verdicts with a wait, so that others get their turn; keeps note of the process it lives in."""
    with (Path(os.environ[COUNTS]) / "lives").open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    while (Path(os.environ[COUNTS]) / "hold").exists():  # noqa: ASYNC110 - a file of another process
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.02)
    return judge(ask)
