"""What no sample holds of a source: columns and parts are named, so that nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.data.formats import Format, map_fields
from ragstone.data.rows import MEASURE_COLUMNS
from ragstone.locale.catalogue import fill_phrase


def list_left_over(
    rows: Iterable[Mapping[str, Any]], row_format: Format, fields: Mapping[str, str] | None
) -> tuple[str, ...]:
    """The columns with values that the format does not read; small ones are still in a sample's meta."""
    known = {
        path.split(".")[0] for names in map_fields(row_format, fields).values() for path in names
    }
    known |= row_format.columns | set(MEASURE_COLUMNS)
    # a table may have a column whose name is the whole dotted path
    known |= {name for names in map_fields(row_format, fields).values() for name in names}
    found = {
        column: None for row in rows for column, value in row.items() if value not in (None, "")
    }
    return (
        ()
        if row_format.matches is not None
        else tuple(column for column in found if column not in known)
    )


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
