"""The `aspects` Ask by stated rules: the parts of a question, and which of them the answer speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.reading import STOP, read
from ragstone.judges.offline.statements import asks
from ragstone.text.encoder import encode
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences

_JOIN = re.compile(
    r"\?\s+|;\s+|,?\s+(?:and|y|e)\s+(?=(?:¿|who|what|when|where|which|why|how|quién|qué|cuándo|dónde|cuál|por qué|cómo|"
    r"cuánt\w*)\b)|,?\s+(?:as well as|así como)\s+",
    re.IGNORECASE,
)
ALIKE = 0.3
"""Cosine from which a sentence of the answer speaks of an aspect."""
SHARED = 0.5
"""Weighted share of an aspect's words from which a sentence speaks of it."""


def _split_question(question: str) -> list[str]:
    """The parts of a question that are joined by "and" and the like; the whole when there is one."""
    parts = [part.strip(" ?¿.,") for part in _JOIN.split(question)]
    return [part for part in parts if len(part) > 2] or [question.strip() or "?"]


def answer_aspects(values: Mapping[str, Any], language: str | None) -> Any:
    """The parts of the question; one is covered when a sentence of the answer is close to it."""
    answer = values["answer"]
    parts = _split_question(values["question"])
    told = [answer[a:b] for a, b in split_sentences(answer, language)]
    told = [] if is_refusal(answer, language) else [one for one in told if not asks(one)]
    if not told:
        return {"aspects": [{"aspect": p, "covered": False, "quote": ""} for p in parts]}
    vectors = encode([*parts, *told])
    alike = vectors[: len(parts)] @ vectors[len(parts) :].T
    shared = _shared(parts, told, language)
    rows = []
    for n, part in enumerate(parts):
        best = int(np.argmax(alike[n] + shared[n]))
        covered = bool(alike[n, best] >= ALIKE or shared[n, best] >= SHARED)
        # a short answer to a single question need not repeat its words
        covered = covered or (len(parts) == 1 and len(told) == 1 and len(told[0].split()) <= 8)
        rows.append({"aspect": part, "covered": covered, "quote": told[best] if covered else ""})
    return {"aspects": rows}


def _shared(parts: list[str], told: list[str], language: str | None) -> Any:
    laid = align(
        [read(part, language) for part in parts],
        [read(one, language) for one in told],
        around=False,
    )
    weight = np.where(laid.claims.kinds == STOP, 0.0, laid.claims.weights)
    out = np.zeros((len(parts), len(told)), np.float32)
    for n in range(len(parts)):
        mine = laid.claims.text == n
        total = float(weight[mine].sum())
        for unit in range(len(laid.units)):
            if total:
                value = float((laid.soft[mine, unit] * weight[mine]).sum()) / total
                source = int(laid.unit_text[unit])
                out[n, source] = max(out[n, source], value)
    return out
