"""Samples of Inspect logs."""

from __future__ import annotations

from typing import Any

from ragstone.data.row_format import PLAIN_COLUMNS, Row, build_format, first_item, get_mapping


def convert_inspect_sample(row: Row) -> dict[str, Any]:
    """A sample of an Inspect log: its output, its scores as meta, and its epoch in the id."""
    output = get_mapping(row, "output")
    answer = output.get("completion") or get_mapping(
        first_item(output.get("choices")), "message"
    ).get("content")
    scores = {
        name: score.get("value") if isinstance(score, dict) else score
        for name, score in get_mapping(row, "scores").items()
    }
    metadata = get_mapping(row, "metadata")
    epoch = row.get("epoch")
    context_names = ("contexts", "context", "documents", "retrieved_contexts")
    return {
        "id": row.get("id") if epoch in (None, 1) else f"{row.get('id')} (epoch {epoch})",
        "question": row.get("input"),
        "answer": answer or None,
        "reference": row.get("target") or None,
        "contexts": next((metadata[name] for name in context_names if name in metadata), None),
        "error": get_mapping(row, "error").get("message"),
        "latency": row.get("total_time"),
        "meta": {**{k: v for k, v in metadata.items() if k not in context_names}, **scores},
    }


FORMATS = (
    build_format(
        "inspect",
        "Inspect samples",
        ("input target output", "id epoch input target output scores metadata"),
        allows_nested_text=True,
        allows_single_context=True,
        convert=convert_inspect_sample,
        **PLAIN_COLUMNS,
    ),
)
