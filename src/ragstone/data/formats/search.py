"""Test sets and runs of search engines."""

from __future__ import annotations

from ragstone.data.row_format import build_format

FORMATS = (
    build_format(
        "search-set",
        "a search set (query, relevant_docs)",
        ("query relevant_docs",),
        id="id query_id",
        question="query",
        relevant="relevant_docs",
        reference="ground_truth_answer",
        contexts="retrieved_docs",
        context_ids="retrieved_doc_ids",
        answer="generated_answer",
        meta="metadata",
        error="error",
    ),
    build_format(
        "search-run",
        "a search run (query, retrieved_docs, generated_answer)",
        (
            "query relevant_doc_ids",
            "query ground_truth_answer",
            "query retrieved_docs",
            "query retrieved_doc_ids",
        ),
        id="id query_id",
        question="query",
        relevant="relevant_doc_ids",
        reference="ground_truth_answer",
        contexts="retrieved_docs",
        context_ids="retrieved_doc_ids",
        answer="generated_answer",
        meta="metadata",
        error="error",
    ),
)
