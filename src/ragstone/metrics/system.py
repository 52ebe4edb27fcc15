"""System metrics: latency, tokens and cost as recorded with the sample, so that they can be compared and gated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.errors import MissingField
from ragstone.registry import metric
from ragstone.types import Score


@metric(higher_is_better=False, bounds=None)
def latency(meta: Mapping[str, Any]) -> Score:
    """Seconds the system took to answer, as recorded with the sample (`latency`)."""
    return _read_measure(meta, "latency")


@metric(higher_is_better=False, bounds=None)
def first_token(meta: Mapping[str, Any]) -> Score:
    """Seconds until the first text of a streamed answer, as recorded with the sample (`first_token`)."""
    return _read_measure(meta, "first_token")


@metric(higher_is_better=False, bounds=None)
def tokens(meta: Mapping[str, Any]) -> Score:
    """Tokens the system used to answer, as recorded with the sample (`tokens`)."""
    return _read_measure(meta, "tokens")


@metric(higher_is_better=False, bounds=None)
def cost(meta: Mapping[str, Any]) -> Score:
    """Money the system spent on the answer, as recorded with the sample (`cost`)."""
    return _read_measure(meta, "cost")


def _read_measure(meta: Mapping[str, Any], name: str) -> Score:
    value = meta.get(name)
    if value is None:
        raise MissingField("not_recorded", name=name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MissingField("recorded_not_number", name=name, value=repr(value))
    if not 0 <= value <= 1e300:
        raise MissingField("recorded_not_positive", name=name, value=repr(value))
    return Score(float(value))
