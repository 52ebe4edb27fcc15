"""What the offline judge was measured to be worth, metric by metric: read by reports, written by
`python -m bench.judge --write`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_LEARNED = Path(__file__).parent / "learned"
SHOWN_BY = "ragstone judge quality"
"""The command that shows all figures, their making and the known weaknesses."""

_KINDS = {
    "support": (
        "faithfulness", "hallucination_rate", "noise_sensitivity", "context_recall",
        "citation_precision", "citation_recall", "citation_accuracy",
    ),
    "chunks": ("context_relevance", "context_precision", "context_precision_unreferenced"),
    "correctness": ("answer_correctness",),
    "relevance": ("answer_relevance",),
    "heuristic": ("coherence", "completeness"),
}  # fmt: skip
_KIND_OF = {metric: kind for kind, metrics in _KINDS.items() for metric in metrics}


@dataclass(frozen=True, slots=True)
class Quality:
    """Agreement with people on one set; `metrics` are those of a run that it speaks for."""

    kind: str
    metrics: tuple[str, ...]
    language: str = ""
    auroc: float | None = None
    accuracy: float | None = None
    """Balanced accuracy, where verdicts were compared."""
    rows: int = 0
    data: str = ""


@lru_cache(maxsize=1)
def _measured() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (_LEARNED / "quality.json").read_text("utf-8")
    )
    return found


def page(language: str = "en") -> str:
    """The page of measured quality, as Markdown, shipped with the models it speaks of; English
    where a language has none."""
    translated = _LEARNED / f"quality.{language.split('-')[0].lower()}.md"
    return (translated if translated.is_file() else _LEARNED / "quality.md").read_text("utf-8")


def quality(metrics: list[str], language: str | None) -> list[Quality]:
    """What was measured for these metrics, in the language given where it was, else in both."""
    found = []
    for kind in _KINDS:
        asked_metrics = tuple(name for name in metrics if _KIND_OF.get(name) == kind)
        if not asked_metrics:
            continue
        if kind == "heuristic":
            found.append(Quality(kind, asked_metrics))
            continue
        rows = _measured()[kind]
        in_language = [row for row in rows if row["language"] == (language or "").split("-")[0]]
        found += [Quality(kind, asked_metrics, **row) for row in in_language or rows]
    return found
