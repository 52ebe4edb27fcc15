"""The claims of all labelled rows as the embedded judge reads them, with their features and
labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.judge.rows import judge_rows
from ragstone.judges.offline.alignment import Alignment, align, index_sources
from ragstone.judges.offline.features import measure
from ragstone.judges.offline.reading import NEGATION, STOP, read
from ragstone.judges.offline.rules import Conflict, find_conflict
from ragstone.text.claims import answer_claims
from ragstone.text.sentences import split_cited_parts


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim of a row; its label is None where only the whole row has one."""

    text: str
    features: tuple[float, ...]
    conflict: Conflict | None
    label: int | None


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A labelled answer or claim."""

    set: str
    kind: str
    """The set with its part: ragtruth/qa."""
    language: str
    context: str
    label: int
    claims: tuple[LabelledClaim, ...]
    containment: float
    """Share of the distinct content words that the context has."""
    plain: tuple[float, ...]
    """Ten features of the whole text, for the plain regression."""
    has_claim_labels: bool


def list_rows() -> list[LabelledRow]:
    """All labelled rows."""
    return [_read_row(row) for row in judge_rows()]


def _read_row(row: Mapping[str, Any]) -> LabelledRow:
    language = "es" if row["set"] == "inferes" else "en"
    sources = index_sources((read(row["context"], language),))
    text = row["claim"]
    whole = align(read(" ".join(text.split()), language), sources)
    is_response = row["level"] == "response"
    spans = split_cited_parts(text, language) if is_response else [(0, len(text))]
    ask = {"texts": [{"id": "t1", "text": text, "sentences": [text[a:b] for a, b in spans]}]}
    claims = []
    for claim in answer_claims(ask, language)["claims"]:
        laid = align(read(claim["claim"], language), sources)
        if laid.words:
            label = _find_label(row, spans[claim["sentence"]], is_single=len(spans) == 1)
            conflict = find_conflict(laid) if laid.held else None
            claims.append(LabelledClaim(claim["claim"], measure(laid), conflict, label))
    return LabelledRow(
        set=row["set"],
        kind=row["dataset"],
        language=language,
        context=row["context"],
        label=row["label"],
        claims=tuple(claims),
        containment=_contain(whole),
        plain=_measure_plainly(whole),
        has_claim_labels=not is_response or row["set"] == "ragtruth_test",
    )


def _find_label(row: Mapping[str, Any], span: tuple[int, int], *, is_single: bool) -> int | None:
    """A claim is wrong where people marked a part of its sentence; a right answer has right
    claims."""
    if row["set"] == "ragtruth_test":
        marked = row.get("spans") or []
        return int(not any(m["start"] < span[1] and m["end"] > span[0] for m in marked))
    return row["label"] if row["level"] != "response" or is_single or row["label"] else None


def _contain(laid: Alignment) -> float:
    found = {word.key: bool(units) for word, units in zip(laid.words, laid.places, strict=True)}
    return sum(found.values()) / max(len(found), 1)


def _measure_plainly(laid: Alignment) -> tuple[float, ...]:
    """What anybody would measure first, in a hundred lines without a judge."""
    if not laid.words:
        return (0.0,) * 10
    keys = [word.key for word in laid.claim.words]
    known = {
        pair for _, unit in laid.sources.units for pair in pairwise(word.key for word in unit.words)
    }
    pairs = [pair in known for pair in pairwise(keys)]
    run = longest = 0
    for is_known in pairs:
        run = run + 1 if is_known else 0
        longest = max(longest, run)
    best = laid.sources.units[laid.best][1].words if laid.held else ()
    own = {word.key for word in laid.words}
    theirs = [word for word in best if word.kind not in (STOP, NEGATION)]
    cover, unknown_end, names, numbers = measure(laid)
    return (
        _contain(laid),
        cover,
        unknown_end,
        names,
        numbers,
        sum(pairs) / max(len(pairs), 1),
        longest / max(len(pairs), 1),
        math.log(len(laid.words)),
        sum(word.key in own for word in theirs) / max(len(theirs), 1),
        float(_count_negations(laid.claim.words) % 2 != _count_negations(best) % 2),
    )


def _count_negations(words: Sequence[Any]) -> int:
    return sum(word.kind == NEGATION for word in words)
