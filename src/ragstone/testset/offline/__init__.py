"""Questions without any LLM: facts read from sentences by rule, asked in English and Spanish."""

from __future__ import annotations

from ragstone.testset.offline.maker import OfflineMaker

__all__ = ["OfflineMaker"]
