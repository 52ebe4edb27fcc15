"""Sentences about what a source passed over or left out, so that nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragstone.locale.catalogue import fill_phrase


class SourceNote(str):
    """A sentence about what a source passed over; the command line says it in its language by template and values."""

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> SourceNote:
        """Fill the template."""
        note = super().__new__(cls, fill_phrase(template, values))
        note.template, note.values = template, values
        return note


def describe_left_over(names: Iterable[str]) -> SourceNote:
    """The sentence that names the columns left over."""
    listed = ", ".join(names)
    return SourceNote("columns left over (in meta where they are short): {names}", names=listed)
