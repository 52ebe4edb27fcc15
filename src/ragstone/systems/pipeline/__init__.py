"""The built-in reference pipeline: documents, chunks, retrieval, answer; offline unless a generator is named."""

from __future__ import annotations

from ragstone.systems.pipeline.pipeline import SEARCH_SPACE, Pipeline

__all__ = ["SEARCH_SPACE", "Pipeline"]
