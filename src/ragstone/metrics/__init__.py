"""Every built-in metric; importing this registers them all, and `resolve` finds one as users name it."""

from ragstone.metrics import retrieval, text
from ragstone.registry import REGISTERED, resolve

__all__ = ["REGISTERED", "resolve", "retrieval", "text"]
