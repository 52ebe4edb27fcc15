"""Ollama on this machine: OpenAI's dialect at the address where it usually listens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ragstone.judges.dialects.dialect import register_dialect
from ragstone.judges.dialects.openai import OpenAI


@register_dialect
class Ollama(OpenAI):
    """The OpenAI-compatible part of Ollama's API."""

    name = "ollama"
    home = "http://localhost:11434/v1"
    key_variables: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    price = (0.0, 0.0)
