"""Building blocks of the JSON schemas of replies. Cached replies depend on them byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def enum_of(*words: str) -> dict[str, Any]:
    """Return the schema of a text that is one of these words."""
    return {"type": "string", "enum": list(words)}


def array_of(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": dict(items)}


def object_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these fields, all required."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
QUOTES = array_of(object_of(source=STRING, quote=STRING))
