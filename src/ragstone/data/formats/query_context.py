"""Columns named query, context, answer and ground_truth."""

from __future__ import annotations

from ragstone.data.row_format import build_format

FORMATS = (
    build_format(
        "query-context",
        "query, context, answer, ground_truth",
        ("query context", "query ground_truth", "query answer", "question context"),
        allows_single_context=True,
        id="id",
        question="query question",
        contexts="context contexts",
        answer="answer",
        reference="ground_truth reference",
        meta="metadata",
        error="error",
    ),
)
