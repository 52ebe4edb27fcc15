"""Checks of the plain values of a config file: each says what is wanted instead of a value that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.locale.tags import TAG_HINT, to_language_tag

Check = Callable[[Any], str | None]
"""What is wanted instead of a value, or None when it fits."""


def check_text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "give a text"


def check_language(value: Any) -> str | None:
    return check_text(value) or (None if to_language_tag(value) else TAG_HINT)


def check_flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "give true or false"


def check_count(value: Any) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return None if fits else "give a whole number from 1"


def check_share(value: Any) -> str | None:
    return None if _is_number(value) and 0 <= value <= 1 else "give a number from 0 to 1"


def check_amount(value: Any) -> str | None:
    return None if _is_number(value) and value >= 0 else "give a number from 0"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SCALAR_CHECKS: Mapping[str, Check] = {
    "name": check_text,
    "language": check_language,
    "floor": check_share,
    "explain": check_flag,
    "labels": check_text,
    "concurrency": check_count,
    "resume": check_flag,
    "restart": check_flag,
    "retry_errors": check_flag,
    "max_usd": check_amount,
    "max_calls": check_count,
    "format": check_text,
    "limit": check_count,
    "on": check_text,
    "partition": check_text,
    "account": check_text,
    "qos": check_text,
    "nodes": check_count,
    "workers": check_count,
    "cpus": check_count,
    "gpus": check_count,
    "memory": check_text,
    "time": check_text,
    "environment": check_text,
    "interface": check_text,
    "mail": check_text,
    "tls": check_flag,
    "skip_bad_rows": check_flag,
}
"""Keys that hold one plain value, with what it must be."""
