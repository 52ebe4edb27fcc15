"""Every built-in metric; importing this registers them all, and `resolve` finds one as users name it."""

from ragstone.metrics import answer as answer
from ragstone.metrics import citations as citations
from ragstone.metrics import context as context
from ragstone.metrics import conversation as conversation
from ragstone.metrics import grounding as grounding
from ragstone.metrics import overall as overall
from ragstone.metrics import retrieval as retrieval
from ragstone.metrics import rubric as rubric
from ragstone.metrics import steps as steps
from ragstone.metrics import system as system
from ragstone.metrics import text as text
from ragstone.registry import REGISTERED as REGISTERED
from ragstone.registry import resolve as resolve
