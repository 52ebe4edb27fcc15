"""The formats that are read, a file each: its columns, and how its rows become samples; all are in one table here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragstone.data.formats import (
    answers,
    deepeval,
    haystack,
    inspect_log,
    langfuse,
    langsmith,
    mlflow,
    openai_evals,
    phoenix,
    promptfoo,
    query_context,
    ragas,
    ragstone,
    search,
    squad,
    trulens,
)
from ragstone.data.limits import shorten_names
from ragstone.data.row_format import Format as Format
from ragstone.errors import DataError, UnknownFormat, suggest_nearest
from ragstone.types import SAMPLE_FIELDS

FIELDS: tuple[str, ...] = (*SAMPLE_FIELDS, "context_ids")
"""Fields that a column can be mapped to: those of a Sample, and the ids of contexts kept in a separate column."""

FORMATS: dict[str, Format] = {
    row_format.name: row_format
    for tool in (
        ragstone,
        ragas,
        search,
        query_context,
        answers,
        deepeval,
        langsmith,
        mlflow,
        trulens,
        langfuse,
        squad,
        inspect_log,
        openai_evals,
        phoenix,
        haystack,
        promptfoo,
    )
    for row_format in tool.FORMATS
}
"""Every row format by name. TREC and BEIR files are converted to ragstone columns and need none."""

NATIVE_FORMAT = FORMATS["ragstone"]


def detect_format(columns: Iterable[str], where: str) -> Format:
    """Return the format that knows most of the columns; a tie or no match is an error."""
    names = frozenset(columns)
    # A table of nested records has columns like "inputs.question", which imply the column "inputs".
    roots = names | {name.split(".")[0] for name in names}
    fits = [
        row_format
        for row_format in FORMATS.values()
        if any(signature <= roots for signature in row_format.signatures)
    ]
    shown_columns = shorten_names(sorted(names)) or "none"
    if not fits:
        closest = max(
            FORMATS.values(),
            key=lambda row_format: (row_format.count_known(roots), row_format.name),
        )
        hint = (
            f"nearest is {closest.name!r} ({', '.join(sorted(closest.columns))})"
            if closest.count_known(roots)
            else f"known: {', '.join(FORMATS)}"
        )
        raise UnknownFormat(
            f"{where}: the columns ({shown_columns}) fit no known format; {hint}; choose one with "
            "--format, or name your columns: fields: {question: …, answer: …, contexts: …}"
        )
    # a signature says "may be", the number of known columns decides: many tools share `question`
    # and `answer`
    best_count = max(row_format.count_known(roots) for row_format in fits)
    best = [row_format for row_format in fits if row_format.count_known(roots) == best_count]
    if len(best) > 1:
        candidates = " or ".join(row_format.name for row_format in best)
        raise UnknownFormat(
            f"{where}: the columns ({shown_columns}) may be {candidates}; say which with --format, or name "
            "your columns: fields: {question: …, answer: …, contexts: …}"
        )
    return best[0]


def register_format(row_format: Format) -> None:
    """Add a row format to those that are detected and that --format names."""
    FORMATS[row_format.name] = row_format


def get_format(name: str) -> Format:
    """Look up a format by name."""
    if name not in FORMATS:
        raise UnknownFormat(f"no format {name!r}{suggest_nearest(name, list(FORMATS))}")
    return FORMATS[name]


def map_fields(row_format: Format, fields: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """Build field → columns of the format, where `fields` replaces the columns of single fields."""
    paths = dict(row_format.fields)
    for field, column in (fields or {}).items():
        if field not in FIELDS:
            raise DataError(
                f"fields: {field!r} is not a field of a sample{suggest_nearest(field, list(FIELDS))}"
            )
        if not isinstance(column, str) or not column:
            raise DataError(f"fields: {field} is {column!r}; give the name of a column")
        paths[field] = (column,)
    # ids of another column than the contexts would be attached to the wrong texts
    if fields and "contexts" in fields and "context_ids" not in fields:
        paths.pop("context_ids", None)
    return paths
