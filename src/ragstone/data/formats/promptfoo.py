"""Results of promptfoo."""

from __future__ import annotations

from ragstone.data.row_format import CONTEXTS, QUESTION, REFERENCE, build_format, nest_names

FORMATS = (
    build_format(
        "promptfoo",
        "promptfoo results",
        ("vars",),
        allows_nested_text=True,
        allows_single_context=True,
        error_only_without_answer=True,
        id="id",
        question=nest_names("vars", QUESTION),
        answer="response.output response.raw",
        contexts=f"{nest_names('vars', CONTEXTS)} response.metadata.context metadata.context",
        reference=nest_names("vars", f"{REFERENCE} answer"),
        meta="metadata testCase.metadata",
        error="response.error error",
    ),
)
