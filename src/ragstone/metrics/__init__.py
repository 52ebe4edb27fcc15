"""Every built-in metric; importing this registers them all, and `resolve` finds one as users name it."""

from ragstone.metrics import (
    answer,
    citations,
    context,
    grounding,
    overall,
    retrieval,
    rubric,
    system,
    text,
)
from ragstone.registry import REGISTERED, resolve

__all__ = [
    "REGISTERED",
    "answer",
    "citations",
    "context",
    "grounding",
    "overall",
    "resolve",
    "retrieval",
    "rubric",
    "system",
    "text",
]
