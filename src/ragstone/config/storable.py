"""Values of a plan as JSON that may be stored: secrets become their `${NAME}` or are left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.config.secrets import VARIABLE, Secret, mask_password

SECRET_NAMES = ("api_key", "secret", "password", "token")
"""Keys whose text is a secret even when it is given as plain text."""


_INNER_KEYS = {"headers": "header", "gates": "gates", "fields": "fields", "metrics": "metrics"}
"""Mappings whose keys are chosen by users and do not show whether a value is a secret → the key to go by instead."""


class NotStorable(TypeError):
    """A value that only this process has: a function, an open client."""


def to_storable(value: Any, key: str = "", lost: list[str] | None = None) -> Any:
    """The value as plain JSON; what is left out of it is named in `lost`, what cannot be JSON raises NotStorable."""
    if isinstance(value, Secret):
        if value.reference is None:
            _note_lost(key, lost)
        return value.reference
    if isinstance(value, str):
        return _store_text(value, key, lost)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        stored = {}
        for name, item in value.items():
            inner = _INNER_KEYS.get(key, str(name))
            plain = to_storable(item, inner, lost)
            if plain is not None or item is None:
                stored[str(name)] = plain
        return stored
    if isinstance(value, list | tuple):
        return [to_storable(item, key, lost) for item in value]
    raise NotStorable(f"{key}: a {type(value).__name__} cannot be stored")


def is_storable(value: Any) -> bool:
    """Whether a value is text, numbers, lists and mappings all the way down."""
    try:
        to_storable(value)
    except NotStorable:
        return False
    return True


def from_storable(value: Any, key: str = "") -> Any:
    """The value that `to_storable` wrote; references to the environment are read when they are used."""
    if isinstance(value, str):
        is_secret = key in ("api_key", "secret", "store") and VARIABLE.search(value)
        return Secret(reference=value) if is_secret else value
    if isinstance(value, Mapping):
        return {name: from_storable(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [from_storable(item, key) for item in value]
    return value


def _store_text(text: str, key: str, lost: list[str] | None) -> str | None:
    if VARIABLE.search(text):
        return text
    if key in SECRET_NAMES or key == "header":
        _note_lost(key, lost)
        return None
    if "://" not in text:
        return text
    if key == "base_url":  # its query may hold a key as well
        from ragstone.judges.secrets import parse_base_url

        shown = parse_base_url(text).url
    else:
        shown = mask_password(text)
    if shown.rstrip("/") != text.rstrip("/"):
        _note_lost(key, lost)
        # a store without its password would be another one; other addresses still say where they
        # point
        return None if key == "store" else shown
    return text


def _note_lost(key: str, lost: list[str] | None) -> None:
    if lost is not None:
        lost.append(key)
