"""What a format is: a file of `formats/` says which columns it has, and how its rows become samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ragstone.data.strict_json import decode_json_text

Row = Mapping[str, Any]
LocatedRows = Iterable[tuple[int | str, dict[str, Any]]]
"""Rows with their locations, for errors."""


@dataclass(frozen=True, slots=True)
class Format:
    """A row format: the columns that identify it, and the columns of each field."""

    name: str
    """As given to --format."""
    title: str
    """As shown: "read 120 samples as ragas columns"."""
    signatures: tuple[frozenset[str], ...]
    """Sets of columns; a row with all columns of any set may have this format.

    Every column named here counts as known: a long set beside a short one lets this format win over others that fit."""
    fields: Mapping[str, tuple[str, ...]]
    """Field → its possible columns, dotted when nested; the first with a value is used."""
    allows_nested_text: bool = False
    """Whether texts may be nested in messages or objects, as logging tools write them."""
    allows_single_context: bool = False
    """Whether the contexts may be one text instead of a list."""
    context_separator: str = ""
    """What separates the contexts in one CSV cell, if not a JSON list."""
    error_only_without_answer: bool = False
    """Whether the error column counts only without an answer (it also reports failed checks)."""
    convert: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    """Turns a row into a flat one before its columns are mapped; `fields` are then columns of the flat row."""
    matches: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether a row is of this format, where its columns alone cannot show it."""

    def count_known(self, columns: frozenset[str]) -> int:
        """Count the columns that the format knows."""
        return len(columns & self.columns)

    @property
    def columns(self) -> frozenset[str]:
        """Every top-level column that the format knows."""
        mapped = {path.split(".")[0] for paths in self.fields.values() for path in paths}
        return frozenset(mapped).union(*self.signatures)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A kind of source whose rows have to be grouped."""

    title: str
    matches: Callable[[Mapping[str, Any]], bool]
    """Whether the first row of a source is of this kind."""
    group: Callable[[LocatedRows, list[str]], Iterator[dict[str, Any]]]
    """Yields rows of ragstone columns; a sentence about what is skipped is appended to the list."""
    formats: tuple[str, ...] = ()
    """Row formats whose rows may be of this kind: naming one of them does not prevent the grouping."""


def build_format(
    name: str,
    title: str,
    signatures: tuple[str, ...],
    *,
    allows_nested_text: bool = False,
    allows_single_context: bool = False,
    context_separator: str = "",
    error_only_without_answer: bool = False,
    convert: Callable[[Row], dict[str, Any]] | None = None,
    matches: Callable[[Row], bool] | None = None,
    **columns: str,
) -> Format:
    """A Format whose signatures and columns of each field are written with blanks between the names."""
    return Format(
        name,
        title,
        tuple(frozenset(names.split()) for names in signatures),
        MappingProxyType({field: tuple(names.split()) for field, names in columns.items()}),
        allows_nested_text,
        allows_single_context,
        context_separator,
        error_only_without_answer,
        convert,
        matches,
    )


def nest_names(root: str, names: str) -> str:
    """The names as members of a column: `inputs.question inputs.query`."""
    return " ".join(f"{root}.{name}" for name in names.split())


QUESTION = "question query input user_input prompt messages"
ANSWER = "answer output response generated_answer result text content messages generations"
CONTEXTS = "contexts context documents retrieved_contexts retrieved_context source_documents docs"
REFERENCE = "reference expected expected_output expected_answer ground_truth reference_answer"

PLAIN_COLUMNS: dict[str, Any] = {
    name: name
    for name in ("id", "question", "answer", "contexts", "reference", "relevant", "meta", "error")
}
"""Columns of the flat rows that a converter returns."""


def first_item(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def get_mapping(row: Any, name: str) -> dict[str, Any]:
    """The object in a column, which may be a JSON text; empty where there is none."""
    value = decode_json_text(row.get(name)) if isinstance(row, Mapping) else None
    return value if isinstance(value, dict) else {}


def list_mappings(value: Any) -> list[Row]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
