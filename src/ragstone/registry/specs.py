"""Metric specs as text: `name@k(option=value, …)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from ragstone.errors import UnknownMetric


def parse_spec(text: str) -> tuple[str, dict[str, Any]]:
    """Parse `name@k(option=value, …)` into the name and the options of a metric."""
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise UnknownMetric(f"{text!r} is not a metric; write name, name@5 or name(option=value)")
    options: dict[str, Any] = {}
    if match["k"] is not None:
        options["k"] = int(match["k"])
    if match["options"]:
        options |= _parse_options(text, match["options"])
    return match["name"], options


def split_specs(text: str) -> list[str]:
    """Split specs at commas; commas inside brackets belong to a spec."""
    parts = _COMMA.split(text)
    return [part.strip() for part in parts if part and part.strip()]


_SPEC = re.compile(r"(?P<name>[^@()\s]+)(?:@(?P<k>\d{1,9}))?(?:\((?P<options>.*)\))?", re.DOTALL)
_COMMA = re.compile(r",(?![^(]*\))")

CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "none": None}
"""Bare words that are not read as strings."""


def _parse_options(text: str, options_text: str) -> dict[str, Any]:
    try:
        # Python's own parser, for strings with commas and brackets; nothing is evaluated but
        # literals
        call = ast.parse(f"f({options_text})", mode="eval").body
        # text such as `a=1)+(2` closes the bracket and is no call
        if (
            not isinstance(call, ast.Call)
            or call.args
            or any(keyword.arg is None for keyword in call.keywords)
        ):
            raise ValueError
        return {str(keyword.arg): _parse_literal(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnknownMetric(
            f"cannot read the options of {text!r}; write name(option=value, option=value)"
        ) from None


def _parse_literal(node: ast.expr) -> Any:
    """Parse a value: a bare word is a string, lists and scalars are Python literals."""
    if isinstance(node, ast.Name):
        return CONSTANTS.get(node.id.lower(), node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_parse_literal(item) for item in node.elts]
    return ast.literal_eval(node)
