"""Secrets of a config: `${NAME}` filled in from the environment, and the class Secret, which is never printed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ragstone.config.document import ConfigValue
from ragstone.errors import ConfigError

VARIABLE = re.compile(r"\$\{([^}]*)\}")
_PASSWORD = re.compile(r"(://[^/\s:]*:)[^/\s]*(?=@)")
SECRET_ADDRESSES = ("webhook", "slack", "apprise")
"""Channels of alerts that have an address, whose path or query lets anyone in who knows it: never shown."""
SECRET_KEYS = ("store", "api_key", "secret", *SECRET_ADDRESSES)
"""Keys whose value may come from the environment."""


class Secret:
    """A text that prints as `***`; `reveal()` is called only where it is used.

    With a reference (`${NAME}`) it can be stored: the text is then read from the environment when it is needed."""

    __slots__ = ("_text", "reference")

    def __init__(self, text: str | None = None, reference: str | None = None) -> None:
        self._text = text
        self.reference = reference

    def reveal(self) -> str:
        if self._text is not None:
            return self._text
        errors: list[str] = []
        text = _fill_variables(self.reference or "", errors)
        if errors:
            raise ConfigError(errors)
        return text

    def __repr__(self) -> str:
        return "'***'"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return False
        # a plan loaded from the store has the reference alone, and must equal the one that was
        # stored
        if self.reference is not None and other.reference is not None:
            return self.reference == other.reference
        return self._text == other._text

    def __hash__(self) -> int:
        return hash("Secret")  # equal secrets may hold a text, a reference or both


def mask_password(text: str) -> str:
    """A text whose URLs show `***` for their password."""
    return _PASSWORD.sub(r"\1***", text)


def reveal(value: Any) -> Any:
    """A value with its secrets as plain text, for the one call that needs them."""
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, Mapping):
        return {key: reveal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [reveal(item) for item in value]
    return value


def expand_variables(
    value: ConfigValue, errors: list[str], key: str = "", missing_keys: list[str] | None = None
) -> ConfigValue:
    """The tree with variables filled in where secrets may stand; elsewhere each one is an error.

    `key` is the key that holds the value. With `missing_keys` an API key that is not set is noted there instead of in
    `errors`: a dry run needs none."""
    inner = value.value
    if isinstance(inner, dict):
        # an HTTP system fills in the variables of its headers itself: the plan keeps `${NAME}`, and
        # its identity holds the names of the headers alone
        if key == "headers":
            return value
        filled = {
            name: expand_variables(item, errors, name, missing_keys) for name, item in inner.items()
        }
        return ConfigValue(value.location, filled)
    if isinstance(inner, list):
        return ConfigValue(
            value.location, [expand_variables(item, errors, key, missing_keys) for item in inner]
        )
    if not isinstance(inner, str):
        return value
    names = VARIABLE.findall(inner)
    if key in ("api_key", "secret"):
        return ConfigValue(
            value.location, Secret(_expand_api_key(key, value, names, errors, missing_keys), inner)
        )
    if key in SECRET_ADDRESSES:
        return ConfigValue(
            value.location, Secret(_fill_value(value, errors), inner if names else None)
        )
    if key == "store":
        # only a store with a password or a variable is a secret; others are shown in messages
        return ConfigValue(value.location, _expand_store(value, names, errors))
    if names:
        errors.append(
            f"{value.location}: {key!r} holds {inner!r}; variables are for secrets only "
            f"({', '.join(SECRET_KEYS)}): write the value itself"
        )
    return value


def _expand_api_key(
    key: str,
    value: ConfigValue,
    names: list[str],
    errors: list[str],
    missing_keys: list[str] | None,
) -> str:
    if not names:
        errors.append(
            f"{value.location}: {key!r} is written out; keep it in the environment and write ${{NAME}}"
        )
        return ""
    return _fill_value(value, errors if missing_keys is None else missing_keys)


def _expand_store(value: ConfigValue, names: list[str], errors: list[str]) -> str | Secret:
    text = _fill_value(value, errors)
    hidden = bool(names) or _PASSWORD.search(text) is not None
    return Secret(text, value.value if names else None) if hidden else text


def _fill_value(value: ConfigValue, errors: list[str]) -> str:
    return _fill_variables(value.value, errors, f"{value.location}: ")


def _fill_variables(text: str, errors: list[str], at: str = "") -> str:
    """The text with its variables from the environment; those that are not set go to the errors."""

    def look_up(match: re.Match[str]) -> str:
        name = match[1]
        value = os.environ.get(name)
        if not value:
            state = "not set" if value is None else "empty"
            errors.append(f"{at}the environment variable {name!r} is {state}; export {name}=...")
        return value or ""

    return VARIABLE.sub(look_up, text)
