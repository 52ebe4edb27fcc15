"""Citation markers in a text: [1], [2, 3], [1-3], [^4]."""

from __future__ import annotations

import re

_NUMBER = r"\^?[0-9]{1,3}"
_MARKER = re.compile(rf"\[{_NUMBER}(?:\s*[-–—,;]\s*{_NUMBER})*\]")


def blank_markers(text: str) -> str:
    """Return the text with spaces in place of its markers, so that offsets stay what they are."""
    if "[" not in text:
        return text
    return _MARKER.sub(lambda match: " " * len(match[0]), text)
