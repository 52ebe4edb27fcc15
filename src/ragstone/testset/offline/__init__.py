"""Test-set items without an LLM: what a document labels itself, behind a gate that refuses what is doubtful."""

from __future__ import annotations

from ragstone.testset.offline.maker import OfflineMaker

__all__ = ["OfflineMaker"]
