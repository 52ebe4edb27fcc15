"""Test-set items without an LLM: few sentence patterns and records, behind a gate that refuses what is doubtful."""

from __future__ import annotations

from ragstone.testset.offline.maker import OfflineMaker

__all__ = ["OfflineMaker"]
