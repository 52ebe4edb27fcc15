"""Columns of Ragas."""

from __future__ import annotations

from ragstone.data.row_format import build_format

FORMATS = (
    build_format(
        "ragas",
        "ragas columns",
        ("user_input", "retrieved_contexts", "retrieved_context_ids"),
        allows_nested_text=True,
        id="id",
        question="user_input",
        answer="response",
        contexts="retrieved_contexts",
        context_ids="retrieved_context_ids",
        reference="reference",
        relevant="reference_context_ids",
        meta="metadata",
        error="error",
        expected_steps="reference_tool_calls",
    ),
    build_format(
        "ragas-old",
        "ragas columns (before 0.2)",
        ("question ground_truth", "question ground_truths"),
        id="id",
        question="question",
        answer="answer",
        contexts="contexts",
        reference="ground_truth ground_truths",
        meta="metadata",
        error="error",
    ),
)
