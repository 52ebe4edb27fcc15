"""Results of Haystack pipelines."""

from __future__ import annotations

from typing import Any

from ragstone.data.row_format import PLAIN_COLUMNS, Row, build_format, first_item, get_mapping


def is_haystack_result(row: Row) -> bool:
    """Whether a row is what a Haystack pipeline returned: outputs of components, an answer or documents among them."""
    outputs = [value for value in row.values() if isinstance(value, dict)]
    names = {name for output in outputs for name in output}
    return bool(outputs) and bool({"replies", "answers"} & names or names == {"documents"})


def convert_haystack_result(row: Row) -> dict[str, Any]:
    """The outputs of a Haystack pipeline: documents, and the first reply or generated answer."""
    converted: dict[str, Any] = {
        name: value for name, value in row.items() if not isinstance(value, dict)
    }
    for output in row.values():
        if not isinstance(output, dict):
            continue
        if isinstance(output.get("documents"), list):
            converted["contexts"] = output["documents"]
        candidate = first_item(output.get("replies")) or first_item(output.get("answers"))
        if candidate is not None:
            _add_haystack_answer(converted, candidate)
        for name in ("query", "question"):
            if isinstance(output.get(name), str):
                converted.setdefault("question", output[name])
    return converted


def _add_haystack_answer(converted: dict[str, Any], candidate: Any) -> None:
    """Add a reply, or a generated answer with its query and documents."""
    inner = get_mapping(candidate, "init_parameters") or candidate
    if not isinstance(inner, dict) or "data" not in inner:
        converted["answer"] = inner
        return
    converted["answer"] = inner["data"]
    if inner.get("query"):
        converted.setdefault("question", inner["query"])
    if inner.get("documents"):
        converted["contexts"] = inner["documents"]


FORMATS = (
    build_format(
        "haystack",
        "Haystack results",
        (),
        allows_nested_text=True,
        convert=convert_haystack_result,
        matches=is_haystack_result,
        **PLAIN_COLUMNS,
    ),
)
