"""The settings of a cascade as a user writes them: `first`, `then`, `unsure` or `agree`, `check`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ragstone.errors import RagstoneError

CASCADE_SETTINGS = ("first", "then", "unsure", "agree", "check")
MEASURED = "measured"
"""Instead of bounds: those that `ragstone judge measure --save-scale` stored for the first judge."""
DEFAULT_UNSURE = (0.2, 0.8)
DEFAULT_CHECK = 0.05
"""Share of the sure items that the second judge is asked about as well."""
DEFAULT_AGREE = 0.95
"""Share of verdicts that are to be the second judge's, where the settings give none."""
CASCADE_NAME = "cascade("
"""What the name of every cascade starts with; runs keep it."""


def check_cascade(spec: Mapping[str, Any]) -> None:
    """Raise for settings of a cascade that make no sense, or are given without its judges."""
    given = [name for name in CASCADE_SETTINGS if name in spec]
    if given and not {"first", "then"} <= set(given):
        raise RagstoneError(
            f"a judge with {given[0]!r} needs both judges of a cascade; write first: offline, then: openai:MODEL"
        )
    if "unsure" in spec and "agree" in spec:
        raise RagstoneError("'unsure' and 'agree' are two ways to say the same; give one of them")
    if spec.get("unsure") != MEASURED:
        read_bounds(spec)
    read_check(spec)


def read_bounds(spec: Mapping[str, Any]) -> tuple[float, float]:
    """The chances between which the first judge is unsure."""
    if spec.get("unsure") == MEASURED:
        raise RagstoneError(
            "no measured bounds for the first judge; measure it on labels: "
            "ragstone judge measure --labels … --save-scale, or give unsure: 0.2..0.8"
        )
    if "unsure" in spec:
        return parse_bounds(spec["unsure"])
    if "agree" not in spec:
        return DEFAULT_UNSURE
    # each sure item agrees with at least this chance, as far as the first judge's chances can be
    # believed; the checked share of them says how far
    agree = max(0.5, parse_share(spec["agree"], "agree", DEFAULT_AGREE))
    return round(1 - agree, 6), agree


def read_check(spec: Mapping[str, Any]) -> float:
    """The share of the sure items that is checked."""
    return parse_share(spec.get("check", DEFAULT_CHECK), "check", DEFAULT_CHECK)


def parse_bounds(value: Any) -> tuple[float, float]:
    """Read bounds of the unsure chances: `0.2..0.8` or two numbers."""
    parts = value.split("..") if isinstance(value, str) else value
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise RagstoneError(
            f"'unsure' is {value!r}; write the chances of which the first judge is unsure as 0.2..0.8, or {MEASURED}"
        )
    return low, high


def parse_share(value: Any, name: str, example: float) -> float:
    """Read a share: 0.95 or `95 %`."""
    text = str(value).strip()
    percent = re.fullmatch(r"([\d.]+)\s*%", text)
    try:
        share = float(percent[1]) / 100 if percent else float(text)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise RagstoneError(f"{name!r} is {value!r}; give a share such as {example:g}")
    return share
