"""Suggests what to write instead of a judge's name that is not known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from ragstone.judges.local.forms import FORMS
from ragstone.judges.local.weights import (
    CLASSIFIER_ENDING,
    ModelNotFound,
    is_classifier,
    read_json,
)

VENDORS = (
    (re.compile(r"(chat)?gpt-|o\d(-|$)", re.I), "openai"),
    (re.compile(r"claude-", re.I), "anthropic"),
    (re.compile(r"gemini-", re.I), "gemini"),
)
"""How the models of vendors begin."""
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_MODEL_NAME = re.compile(r"[\w.-]+(:[\w.-]+)?")


def suggest_spec(spec: str, kinds: Sequence[str]) -> str | None:
    """Return what to write instead: a prefix before a model's name, or a known prefix for one that is misspelt."""
    kind, colon, name = spec.partition(":")
    file_kind = _find_file_kind(spec)
    if file_kind:
        return f"{file_kind}:{spec}"
    if name.startswith("//"):
        return f"{{model: openai:NAME, base_url: {spec!r}}}"
    nearest = get_close_matches(kind.lower(), kinds, 1)
    # a word with a digit is a model and its tag: llama3:8b
    if name and nearest and not re.search(r"\d", kind):
        return f"{nearest[0]}:{name}"
    vendor = next((prefix for pattern, prefix in VENDORS if pattern.match(spec)), None)
    if vendor is not None:
        return f"{vendor}:{spec}"
    if _HUB_NAME.fullmatch(spec):
        return f"hf:{spec}"
    is_model = _MODEL_NAME.fullmatch(spec) and spec.lower() not in kinds
    return f"ollama:{spec}" if is_model and (name or not colon) else None


def _find_file_kind(spec: str) -> str:
    """Return the prefix for a model's file, by its ending, or its folder, by its config; empty for neither."""
    if spec.endswith(".gguf"):
        return "gguf"
    if spec.endswith(".onnx"):
        return "nli"
    folder = Path(spec).expanduser()
    if not spec or not folder.is_dir():
        return ""
    try:
        config = read_json(folder / "config.json")
    except ModelNotFound:
        return "hf"
    architectures = [str(name) for name in config.get("architectures") or []]
    for kind, forms in FORMS.items():
        # any classifier may be a MiniCheck: only an architecture of its own tells
        own = tuple(ending for ending in forms if ending != CLASSIFIER_ENDING)
        if any(name.endswith(own) for name in architectures):
            return kind
    return "nli" if is_classifier(config) else "hf"
