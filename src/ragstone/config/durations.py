"""Lengths of time as people write them: `5m`, `1h`, `7d`."""

from __future__ import annotations

import re

from ragstone.errors import DataError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", re.IGNORECASE)
LONGEST = 3660 * 86400
"""Seconds of the longest duration: ten years."""


def parse_duration(text: str | float) -> int:
    """Microseconds of `5m`, `1h`, `24h`, `7d`, `90s`, `2w`, or of a number of seconds."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        seconds = float(text)
    else:
        match = _DURATION.fullmatch(str(text))
        if match is None:
            raise DataError(f"{text!r} is no duration; write 5m, 1h, 24h, 7d or 2w")
        seconds = float(match[1]) * _UNITS[match[2].lower()]
    if not 1 <= seconds <= LONGEST:
        raise DataError(f"{text!r} is not between a second and ten years; write 5m, 1h, 24h or 7d")
    return round(seconds * 1_000_000)
