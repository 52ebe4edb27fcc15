"""Test cases of deepeval."""

from __future__ import annotations

from ragstone.data.row_format import build_format

FORMATS = (
    build_format(
        "deepeval",
        "deepeval test cases",
        (
            "input actual_output",
            "input expected_output",
            "input retrieval_context",
            "input actualOutput",
            "input expectedOutput",
            "input retrievalContext",
        ),
        context_separator="|",
        id="id",
        question="input",
        answer="actual_output actualOutput",
        contexts="retrieval_context retrievalContext",
        reference="expected_output expectedOutput",
        meta="additional_metadata additionalMetadata metadata",
        steps="tools_called",
        expected_steps="expected_tools",
    ),
)
