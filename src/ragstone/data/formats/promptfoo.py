"""Results of promptfoo: its JSON and JSON lines, a row for each test and provider, and its CSV, a row for each test."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.row_format import (
    CONTEXTS,
    QUESTION,
    REFERENCE,
    Grouping,
    LocatedRows,
    Row,
    build_format,
    get_mapping,
    nest_names,
)


def convert_promptfoo_row(row: Row) -> dict[str, Any]:
    """A result with the provider by its name in the metadata, to slice by; without what concerns promptfoo alone."""
    provider = row.get("provider")
    name = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    given = row.get("metadata") or get_mapping(row.get("testCase"), "metadata")
    meta = {k: v for k, v in given.items() if k != "_promptfooFileMetadata"}
    plain = {k: v for k, v in row.items() if k not in ("provider", "metadata")}
    return {**plain, "meta": meta if name is None else {**meta, "provider": name}}


FORMATS = (
    build_format(
        "promptfoo",
        "promptfoo results",
        ("vars", "vars metadata testCase provider"),
        allows_nested_text=True,
        allows_single_context=True,
        error_only_without_answer=True,
        convert=convert_promptfoo_row,
        id="id",
        question=nest_names("vars", QUESTION),
        answer="response.output response.raw",
        contexts=f"{nest_names('vars', CONTEXTS)} response.metadata.context meta.context",
        reference=nest_names("vars", f"{REFERENCE} answer"),
        meta="meta",
        error="response.error error",
    ),
)

_OF_AN_OUTPUT = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")
"""Columns of a CSV that follow the output of each provider, by the same names for each."""
_REPEATED = re.compile(r"(Status|Score|Named Scores|Grader Reason|Comment|Metric: .+) \(\d+\)")


def is_promptfoo_table(names: list[str]) -> bool:
    """Whether the columns are those of promptfoo's CSV."""
    return set(names).issuperset(_OF_AN_OUTPUT)


def number_repeated(names: list[str]) -> list[str]:
    """The columns of a CSV, where those that stand twice have a number: `Status`, `Status (2)`."""
    return [
        name if name not in names[:at] else f"{name} ({names[:at].count(name) + 1})"
        for at, name in enumerate(names)
    ]


def _group_table(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """A row for each output: the columns before the first output are the variables of the test."""
    for _, row in rows:
        names = list(row)
        plain = [m[1] if (m := _REPEATED.fullmatch(name)) else name for name in names]
        starts = [at - 1 for at, name in enumerate(plain) if name == "Status"]
        variables = {name: row[name] for name in names[: starts[0]]}
        for start in starts:
            end = next((at for at in starts if at > start), len(names))
            yield _read_output(variables, names[start], _get_details(row, names, plain, start, end))


def _get_details(
    row: Row, names: list[str], plain: list[str], start: int, end: int
) -> dict[str, Any]:
    """What is said of one output, by the names without their number; the output itself as `output`."""
    details = {plain[at]: row[names[at]] for at in range(start + 1, end)}
    return {"output": row[names[start]], **details}


def _read_output(
    variables: Mapping[str, Any], title: str, details: Mapping[str, Any]
) -> dict[str, Any]:
    contexts = _choose(variables, CONTEXTS)
    failed = details["Status"] == "ERROR"
    provider, _, prompt = title.removeprefix("[").partition("] ")
    named = {"provider": provider} if prompt else {}
    metrics = {
        name.removeprefix("Metric: "): value
        for name, value in details.items()
        if name.startswith("Metric: ")
    }
    scores = {"score": details["Score"], **metrics}
    meta = {**named, "status": details["Status"], **{k: float(v) for k, v in scores.items() if v}}
    return {
        "question": _choose(variables, QUESTION),
        "answer": None if failed else _to_text(details["output"]),
        "contexts": contexts if contexts is None or isinstance(contexts, list) else [contexts],
        "reference": _choose(variables, f"{REFERENCE} answer"),
        "error": (details["Grader Reason"] or "the provider failed") if failed else None,
        "meta": meta,
    }


def _to_text(output: Any) -> str | None:
    """An output as text: one of JSON was parsed with the other cells."""
    if output is None or isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False)


def _choose(variables: Mapping[str, Any], names: str) -> Any:
    return next((variables[name] for name in names.split() if variables.get(name)), None)


GROUPINGS = (
    Grouping(
        "promptfoo results", lambda row: is_promptfoo_table(list(row)), _group_table, ("promptfoo",)
    ),
)
