"""Where the fields of a reply are found in what a system returns: keys of a mapping, or attributes of an object.

Of several keys the first that is there counts, so the order matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.data.chunks import get_first

ANSWER_KEYS = (
    "answer", "response", "output", "result", "generated_answer", "output_text", "content", "text",
)  # fmt: skip
CONTEXT_KEYS = (
    "contexts", "context", "documents", "source_documents", "source_nodes", "retrieved_contexts",
    "retrieved_documents", "retrieved_docs", "chunks", "sources", "docs",
)  # fmt: skip
CONTEXT_ID_KEYS = ("context_ids", "ids", "retrieved_ids", "retrieved_doc_ids", "doc_ids")
STEP_KEYS = ("steps", "tools_called", "tool_calls")
TOKEN_KEYS = ("tokens", "total_tokens", "usage", "usage_metadata", "token_usage")
MEASURE_KEYS = {
    "latency": ("latency", "latency_seconds"),
    "first_token": ("first_token", "ttft", "time_to_first_token"),
    "tokens": TOKEN_KEYS,
    "cost": ("cost", "cost_usd", "total_cost"),
}
FIELD_KEYS: Mapping[str, tuple[str, ...]] = {
    "error": ("error",), "contexts": CONTEXT_KEYS, "ids": CONTEXT_ID_KEYS, **MEASURE_KEYS,
}  # fmt: skip
"""Fields of a reply besides the answer, with the keys that they are found by."""
# each entry is one way to count: its keys are summed; the first entry that is complete counts
_TOKEN_SUM_KEYS = (("total_tokens",), ("total",), ("input_tokens", "output_tokens"),
           ("prompt_tokens", "completion_tokens"))  # fmt: skip


def sum_tokens(usage: Any) -> float | None:
    """Sum the tokens in a framework's usage report."""
    for names in _TOKEN_SUM_KEYS:
        parts = [get_first(usage, (name,)) for name in names]
        if all(isinstance(part, int | float) for part in parts):
            return sum(parts)  # type: ignore[no-any-return]
    return None
