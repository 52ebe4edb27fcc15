"""Labelled rows turned into what the models learn from: claims, their figures and their labels."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rows import judge_rows

from ragstone.judges.offline.conflicts import find_conflict
from ragstone.judges.offline.features import measure_claims, measure_known_share
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.statements import statements
from ragstone.text.sentences import split_sentences

OURS = "pairs"
"""The hand-written pairs of the tests: a set like the others, of plain cases."""
PAIRS = Path(__file__).resolve().parents[2] / "tests" / "judges" / "offline"
_PASSAGE = re.compile(r"\n*passage \d+:")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Example:
    """One labelled row."""

    name: str
    """The set it comes from."""
    group: str
    """Its source document: never in both training and test."""
    kind: str
    """The task within its set, such as `ragtruth_qa`."""
    language: str
    label: int
    """1 when all of it is supported."""
    labels: tuple[int, ...]
    """Of each claim: 1 supported, 0 not, -1 unknown (a row that is not supported, without marked spans)."""
    table: np.ndarray[Any, Any]
    refuted: tuple[bool, ...]
    """Whether a rule is certain that the claim is wrong."""
    known_share: float
    """Plain containment as the judge measures it: of stems, over all claims."""
    containment: float
    """Share of the row's words that the context has: the baseline."""


def make_example(row: dict[str, Any]) -> Example:
    """Cut the row into claims as the judge does and measure each."""
    language, text = row["language"], row["claim"]
    claims, labels = _label_claims(row, language)
    readings = [read(claim, language) for claim in claims]
    sources = [read(part, language) for part in split_passages(row["context"])]
    conflicts = [find_conflict(claim, sources) for claim in readings]
    table, laid = measure_claims(readings, sources, conflicts)
    refuted = [conflict is not None and conflict.certain for conflict in conflicts]
    return Example(
        row["set"], row["group"], row["dataset"], language, int(row["label"]), tuple(labels),
        table.astype(np.float64), tuple(refuted), measure_known_share(laid), contain(text, row["context"], language),
    )  # fmt: skip


def _label_claims(row: dict[str, Any], language: str) -> tuple[list[str], list[int]]:
    text, claims, labels = row["claim"], [], []
    spans = [(span["start"], span["end"]) for span in row.get("spans") or []]
    for a, b in split_sentences(text, language):
        for statement in statements(text[a:b], language):
            claims.append(statement.text)
            own = [(a + x, a + y) for x, y in statement.parts][-1:] or [(a, b)]
            hit = any(_overlap(*part, *span) for part in own for span in spans)
            labels.append(1 if row["label"] == 1 else (0 if hit else 1) if spans else -1)
    if not claims or (row["label"] == 0 and len(claims) == 1):
        return claims or [text], [int(row["label"])]
    return claims, labels


def _overlap(a: int, b: int, start: int, end: int) -> bool:
    return min(b, end) - max(a, start) >= min(3, end - start)


def split_passages(context: str) -> list[str]:
    parts = [part.strip() for part in _PASSAGE.split(context) if part.strip()]
    return parts or [context]


def contain(claim: str, context: str, language: str) -> float:
    """Plain containment: the share of the claim's distinct content words that the context has."""
    from ragstone.text.stopwords import STOPWORDS

    stop = STOPWORDS.get(language, frozenset())
    words = set(_WORD.findall(claim.lower())) - stop
    return len(words & set(_WORD.findall(context.lower()))) / max(len(words), 1)


def load_pairs() -> list[dict[str, Any]]:
    """The hand-written pairs as rows, each true claim beside its false twin."""
    rows = []
    for language in ("en", "es"):
        table = tomllib.loads((PAIRS / f"pairs_{language}.toml").read_text("utf-8"))
        for pair in next(iter(table.values())):
            shared = {
                "set": OURS, "dataset": pair["kind"], "language": language, "context": pair["source"],
                "group": f"{OURS}/{language}/{pair['id']}",
            }  # fmt: skip
            rows.append(shared | {"claim": pair["true"], "label": 1})
            rows.append(shared | {"claim": pair["false"], "label": 0})
    return rows


def load_examples(processes: int = 2) -> list[Example]:
    """All rows of the labelled sets and our own pairs, in a fixed order."""
    rows: Sequence[dict[str, Any]] = [
        *({**row, "language": "es" if row["set"] == "inferes" else "en"} for row in judge_rows()),
        *load_pairs(),
    ]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(make_example, rows, chunksize=64))
