"""Systems under test: anything that answers questions, and the runner that asks it and stores its replies."""

from __future__ import annotations

from ragstone.systems.factory import make_system
from ragstone.systems.protocol import (
    ContextAnswerer,
    System,
    SystemFault,
    SystemReply,
    takes_contexts,
)
from ragstone.systems.runner import AnswerProgress, ReplyStore, SystemRunner, answer_dataset

__all__ = [
    "AnswerProgress",
    "ContextAnswerer",
    "ReplyStore",
    "System",
    "SystemFault",
    "SystemReply",
    "SystemRunner",
    "answer_dataset",
    "make_system",
    "takes_contexts",
]
