"""Systems under test: anything that answers questions, and the runner that asks it and stores its replies."""

from __future__ import annotations

from ragstone.systems.factory import make_system as make_system
from ragstone.systems.protocol import ContextAnswerer as ContextAnswerer
from ragstone.systems.protocol import System as System
from ragstone.systems.protocol import SystemFault as SystemFault
from ragstone.systems.protocol import SystemReply as SystemReply
from ragstone.systems.protocol import takes_contexts as takes_contexts
from ragstone.systems.runner import AnswerProgress as AnswerProgress
from ragstone.systems.runner import ReplyStore as ReplyStore
from ragstone.systems.runner import SystemRunner as SystemRunner
from ragstone.systems.runner import answer_dataset as answer_dataset
