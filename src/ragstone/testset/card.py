"""The card of a test set: where its items come from, how they were proved, who read them, and what it is weak at."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.testset.items import Item
from ragstone.testset.review import Review

MAX_KIND_SHARE = 0.4
MAX_DOCUMENT_SHARE = 0.2
MIN_UNANSWERABLE_SHARE = 0.05
MIN_READ_SHARE = 0.2
MIN_ITEMS = 100
RULES = "rules"
"""Name of the maker of items that no model wrote."""


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """What one should know of a test set before trusting a figure measured with it."""

    name: str
    version: str
    """A digest of the items: two files with the same one hold the same set."""
    items: int
    documents: Mapping[str, int]
    """Document → its items, most first."""
    kinds: Mapping[str, int]
    languages: Mapping[str, int]
    makers: Mapping[str, int]
    """Who wrote how many: a model's name, or `rules`."""
    proofs: Mapping[str, int]
    """How many were proved in which way; `none` for those without proof."""
    styles: Mapping[str, int]
    read: Mapping[str, int]
    """How many items people accepted, edited or rejected in a review, and how many they labelled in the viewer."""
    read_share: float
    """Share of the items that a person has read."""
    weaknesses: tuple[tuple[str, Mapping[str, Any]], ...]
    """Codes of what the set is weak at, each with its figures; the words are in the catalogue."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON."""
        return asdict(self)


def build_card(path: Path, labelled: Collection[str] = ()) -> DatasetCard:
    """The card of a generated set; `labelled` are ids of items that people labelled in the viewer."""
    review = Review.open(path)
    items = review.apply_decisions()
    ids = {item.id for item in items}
    decided = {key for key in review.decisions if key in ids}
    seen = decided | ids.intersection(labelled)
    documents = Counter(key for item in items for key, grade in item.relevant.items() if grade > 0)
    card = DatasetCard(
        name=path.name,
        version=compute_version(items),
        items=len(items),
        documents=_rank(documents),
        kinds=_rank(Counter(item.kind for item in items)),
        languages=_rank(Counter(item.language for item in items)),
        makers=_rank(Counter(_name_maker(item) for item in items)),
        proofs=_rank(Counter(_name_proof(item) for item in items)),
        styles=_rank(Counter(item.style for item in items if item.style)),
        read={**review.count_verdicts(), "labelled": len(ids.intersection(labelled))},
        read_share=len(seen) / len(items) if items else 0.0,
        weaknesses=(),
    )
    return _with_weaknesses(card, items)


def compute_version(items: Collection[Item]) -> str:
    """Twelve hexadecimal digits of everything that a system is asked and measured by, whatever the order of the
    items."""
    rows = sorted(
        json.dumps([item.id, item.question, item.reference, dict(item.relevant), item.history], sort_keys=True)
        for item in items
    )  # fmt: skip
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _rank(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _name_maker(item: Item) -> str:
    """Who asks: a model, the documents, or people; sets of older versions name the pattern of a rule
    (`template:definition`)."""
    origin = item.how.split(":")[0]
    if origin in ("template", "record", "swap"):
        return RULES
    return {"document": "documents", "log": "people"}.get(origin, item.how)


def _name_proof(item: Item) -> str:
    """How an item was proved: by a judge's answer, by the reader, by a search, by its form, or not at all."""
    for key in ("answered_by", "searched", "found", "round_trip", "checked"):
        if key in item.proof:
            return key
    return "none"


def _with_weaknesses(card: DatasetCard, items: Collection[Item]) -> DatasetCard:
    kind, most = next(iter(card.kinds.items()), ("", 0))
    document, asked = next(iter(card.documents.items()), ("", 0))
    unanswerable = sum(not item.answerable for item in items)
    own = sum(item.proof.get("answered_by") == item.how for item in items)
    total = max(1, card.items)
    # code → whether it holds, and its figures
    rules: dict[str, tuple[bool, dict[str, Any]]] = {
        "small": (card.items < MIN_ITEMS, {"items": card.items}),
        "one_kind": (most > MAX_KIND_SHARE * total, {"kind": kind, "share": most / total}),
        "one_document": (asked > MAX_DOCUMENT_SHARE * total, {"document": document, "share": asked / total}),
        "few_unanswerable": (unanswerable < MIN_UNANSWERABLE_SHARE * total, {"count": unanswerable}),
        "unread": (card.read_share < MIN_READ_SHARE, {"share": card.read_share}),
        "unproved": (card.proofs.get("none", 0) > 0, {"count": card.proofs.get("none", 0)}),
        "own_proof": (own > 0, {"count": own}),
        "by_rules": (card.makers.get(RULES, 0) > total / 2, {"count": card.makers.get(RULES, 0)}),
    }  # fmt: skip
    held = tuple((code, figures) for code, (holds, figures) in rules.items() if holds)
    return replace(card, weaknesses=held)
