"""Checks of the plain values of a config file: each says what is wanted instead of a value that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], str | None]
"""What is wanted instead of a value, or None when it fits."""


def text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "give a text"


def flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "give true or false"


def count(value: Any) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return None if fits else "give a whole number from 1"


def share(value: Any) -> str | None:
    return None if _number(value) and 0 <= value <= 1 else "give a number from 0 to 1"


def amount(value: Any) -> str | None:
    return None if _number(value) and value >= 0 else "give a number from 0"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SCALARS: Mapping[str, Check] = {
    "name": text,
    "language": text,
    "floor": share,
    "concurrency": count,
    "resume": flag,
    "retry_errors": flag,
    "max_usd": amount,
    "max_calls": count,
    "format": text,
    "limit": count,
    "on": text,
    "partition": text,
    "account": text,
    "qos": text,
    "nodes": count,
    "workers": count,
    "cpus": count,
    "gpus": count,
    "memory": text,
    "time": text,
    "environment": text,
    "interface": text,
    "mail": text,
    "tls": flag,
    "skip_bad_rows": flag,
}
"""Keys that hold one plain value, with what it must be."""
