"""LangSmith: examples and runs; those below a root run, in rows of their own or nested, bring documents and tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ragstone.data.field_values import parse_cell
from ragstone.data.messages import get_message_text
from ragstone.data.row_format import (
    ANSWER,
    CONTEXTS,
    QUESTION,
    REFERENCE,
    LocatedRows,
    build_format,
    nest_names,
)
from ragstone.data.source_notes import SourceNote
from ragstone.data.strict_json import BadRow

FORMATS = (
    build_format(
        "langsmith-runs",
        "LangSmith runs",
        (
            "inputs outputs",
            "inputs run_type",
            "inputs reference_example_id",
            "inputs outputs reference_outputs",
            "inputs outputs reference",
            "inputs outputs run_type reference_example_id",
        ),
        allows_nested_text=True,
        allows_single_context=True,
        id="id run_id",
        question=f"{nest_names('inputs', QUESTION)} inputs",
        answer=f"{nest_names('outputs', ANSWER)} outputs",
        contexts=f"{nest_names('outputs', CONTEXTS)} {nest_names('inputs', CONTEXTS)} contexts",
        steps="steps",
        reference=" ".join(
            f"{nest_names(root, f'{ANSWER} {REFERENCE}')} {root}"
            for root in ("reference_outputs", "reference")
        ),
        meta="metadata extra.metadata",
        error="error",
    ),
    build_format(
        "langsmith-examples",
        "LangSmith examples",
        ("inputs outputs", "inputs dataset_id", "inputs outputs dataset_id source_run_id"),
        allows_nested_text=True,
        allows_single_context=True,
        id="id",
        question=f"{nest_names('inputs', QUESTION)} inputs",
        reference=f"{nest_names('outputs', f'{ANSWER} {REFERENCE}')} outputs",
        contexts=nest_names("inputs", CONTEXTS),
        meta="metadata",
    ),
)


TraceRun = dict[str, Any]


def is_run_in_trace(row: Mapping[str, Any]) -> bool:
    """Whether a row is a run with its place in a trace."""
    places = {"trace_id", "parent_run_id", "parent_run_ids", "child_runs"}
    return "run_type" in row and not places.isdisjoint(row)


def join_runs(rows: LocatedRows, notes: list[str]) -> list[tuple[int | str, TraceRun]]:
    """A row for each root run, with what the runs below it found and did."""
    located = [(location, run) for location, row in rows for run in _list_nested(row)]
    known = {str(run.get("id")) for _, run in located}
    # the run above may not be in the file, as when only retrievers were exported
    roots = [pair for pair in located if _get_parent(pair[1]) not in known]
    children: dict[str, list[TraceRun]] = {}
    for _, run in located:
        children.setdefault(_get_parent(run), []).append(run)
    parts = len(located) - len(roots)
    if parts:
        notes.append(
            SourceNote("read {n} {n:run as a part|runs as parts} of the runs above", n=parts)
        )
    return [(location, _add_parts(root, children)) for location, root in roots]


def _get_parent(run: TraceRun) -> str:
    """The id of the run above; the second version of the API lists all of them, from the root down."""
    above = run.get("parent_run_ids")
    last = above[-1] if isinstance(above, list) and above else None
    return str(run.get("parent_run_id") or last)


def _list_nested(run: TraceRun) -> Iterator[TraceRun]:
    """A run, and those nested in it as `child_runs`."""
    children = run.get("child_runs")
    yield {name: value for name, value in run.items() if name != "child_runs"}
    for child in children if isinstance(children, list) else ():
        if isinstance(child, dict):
            yield from _list_nested({**child, "parent_run_id": run.get("id")})


def _add_parts(root: TraceRun, children: Mapping[str, list[TraceRun]]) -> TraceRun:
    """The root with the documents of its last retriever that has some, its tool calls and its duration."""
    runs = sorted(_list_below(root, children), key=lambda run: str(run.get("start_time") or ""))
    retrieved = [_list_documents(run) for run in runs if run.get("run_type") == "retriever"]
    steps = [_to_step(run) for run in runs if run.get("run_type") == "tool"]
    # the last retriever, as for the spans of other tracers (`spans.py`): an agent that searches again answers from that
    documents = next((chunks for chunks in reversed(retrieved) if chunks), None)
    seconds = _count_seconds(root)
    row = dict(root)
    if retrieved:
        row["contexts"] = documents or []
    if steps:
        row["steps"] = steps
    if seconds is not None:
        row.setdefault("latency", seconds)
    return row


def _list_below(run: TraceRun, children: Mapping[str, list[TraceRun]]) -> Iterator[TraceRun]:
    for child in children.get(str(run.get("id")), ()):
        yield child
        yield from _list_below(child, children)


def _list_documents(run: TraceRun) -> list[Any]:
    outputs = run.get("outputs")
    lists = outputs.values() if isinstance(outputs, dict) else [outputs]
    return next((value for value in lists if isinstance(value, list)), [])


def _to_step(run: TraceRun) -> dict[str, Any]:
    error = run.get("error")
    step = {
        "tool": run.get("name"),
        "arguments": _parse_arguments(run.get("inputs")),
        "result": None if error else _get_output_text(run.get("outputs")),
        "error": error or None,
        "seconds": _count_seconds(run),
    }
    return {name: value for name, value in step.items() if value is not None}


def _parse_arguments(inputs: Any) -> Any:
    """The arguments of a call; LangChain writes them as one text in the form of Python."""
    if isinstance(inputs, dict) and inputs.keys() == {"input"}:
        try:
            parsed = parse_cell(inputs["input"], "input")
        except BadRow:
            return inputs
        return parsed if isinstance(parsed, dict) else inputs
    return inputs


def _get_output_text(outputs: Any) -> Any:
    """What a tool returned, without the message around it."""
    value = outputs
    if isinstance(outputs, dict) and len(outputs) == 1:
        (value,) = outputs.values()
    return (get_message_text(value) or value) if isinstance(value, dict) else value


def _count_seconds(run: TraceRun) -> float | None:
    start, end = (_parse_seconds(run.get(name)) for name in ("start_time", "end_time"))
    return None if start is None or end is None or end < start else round(end - start, 6)


def _parse_seconds(value: Any) -> float | None:
    if isinstance(value, int | float):  # pandas writes times to JSON as milliseconds
        return value / 1000
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except ValueError:
        return None
