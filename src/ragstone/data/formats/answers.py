"""Answers by question_id, as public question sets have them."""

from __future__ import annotations

from ragstone.data.row_format import build_format

FORMATS = (
    build_format(
        "answers",
        "answers by question_id",
        ("question_id question", "question_id answer"),
        id="question_id",
        question="question",
        answer="answer",
        reference="reference",
        contexts="contexts",
        group="doc_id",
        meta="metadata",
        error="error",
    ),
)
