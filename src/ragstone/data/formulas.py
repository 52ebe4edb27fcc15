"""Cells of CSV that a spreadsheet would execute: written as text, and read back as they were."""

from __future__ import annotations

import re

# Spreadsheets trim what is invisible and take full-width signs for their ASCII ones. Quotes are passed over
# too, so that a cell which already starts with our own quote gets a second one and is read back whole.
_FORMULA = re.compile(
    r"[\s\x00-\x20\ufeff\u200b-\u200f\u2060\"']*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]"
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def escape_formula(cell: str) -> str:
    """The cell with a quote in front if a spreadsheet would execute it; numbers stay numbers."""
    return f"'{cell}" if _is_formula(cell) else cell


def unescape_formula(cell: str) -> str:
    """The cell that `escape_formula` was given."""
    return cell[1:] if cell[:1] == "'" and _is_formula(cell[1:]) else cell


def _is_formula(cell: str) -> bool:
    return _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None
