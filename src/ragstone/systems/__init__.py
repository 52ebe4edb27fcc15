"""Systems under test: anything that answers questions, asked with care, its replies kept."""

from __future__ import annotations

from ragstone.systems.choose import make_system
from ragstone.systems.filling import Filled, Filling, Replies, filled
from ragstone.systems.protocol import (
    GivenContexts,
    System,
    SystemFault,
    SystemReply,
    takes_contexts,
)

__all__ = [
    "Filled",
    "Filling",
    "GivenContexts",
    "Replies",
    "System",
    "SystemFault",
    "SystemReply",
    "filled",
    "make_system",
    "takes_contexts",
]
