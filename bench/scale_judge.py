"""A judge that does nothing but work the CPU, so that the engine's own share shows."""

from __future__ import annotations

import hashlib
from typing import Any

from ragstone.asks import Ask

ROUNDS = 1500


async def judge(ask: Ask) -> Any:
    """A level by a hash of many rounds, about a millisecond of CPU."""
    state = ask.key.encode()
    for _ in range(ROUNDS):
        state = hashlib.sha256(state).digest()
    return {"level": state[0] % len(ask.values["levels"]), "reason": "by hash"}
