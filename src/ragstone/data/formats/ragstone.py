"""Our own columns."""

from __future__ import annotations

from ragstone.data.row_format import build_format

FORMATS = (
    build_format(
        "ragstone",
        "ragstone columns",
        (
            "question",
            "answer reference",
            "answer contexts",
            "contexts relevant",
            "context_ids relevant",
        ),
        id="id",
        question="question",
        answer="answer",
        contexts="contexts",
        context_ids="context_ids",
        reference="reference",
        relevant="relevant",
        language="language",
        group="group",
        meta="meta",
        error="error",
        messages="messages chat_history history meta.history",
        steps="steps",
        expected_steps="expected_steps",
    ),
)
