"""Builds the interaction that an OpenTelemetry trace describes."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.data.spans import TraceSpan, describe_trace
from ragstone.monitor.ingest.coercion import coerce_row
from ragstone.monitor.interactions import (
    EARLIEST_MICROS,
    MAX_CLOCK_SKEW_MICROS,
    Interaction,
    format_iso,
    parse_interaction,
)


def build_interaction(spans: Sequence[TraceSpan], now: int) -> Interaction | None:
    """The interaction that a trace describes; None when it is about no question."""
    row = describe_trace(spans)
    if row is None:
        return None
    start = row.pop("start")
    # a wrong clock must not lose the interaction: `parse_interaction` would refuse its time
    is_plausible = EARLIEST_MICROS <= start <= now + MAX_CLOCK_SKEW_MICROS
    return parse_interaction(
        coerce_row({**row, "at": format_iso(start if is_plausible else now)}), now
    )
