"""A person's decisions on the items of a test set: kept in a file beside it, applied to it, and continued later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ragstone.data import open_replacement
from ragstone.errors import DataError
from ragstone.testset.items import Item

Verdict = Literal["accept", "edit", "reject"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
TAKEN_BACK = "open"
"""Verdict in the file of decisions for one that was taken back: the file is only appended to."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided on one item."""

    id: str
    verdict: Verdict
    question: str | None = None
    """The new question, with `edit`."""
    reference: str | None = None
    """The new reference, with `edit`."""

    def to_row(self) -> dict[str, Any]:
        """The decision as one JSON object."""
        changes = {"question": self.question, "reference": self.reference}
        given = {name: text for name, text in changes.items() if text is not None}
        return {"id": self.id, "verdict": self.verdict, **given}


@dataclass(slots=True)
class Review:
    """A test set file with the decisions on it; each decision is on disk when it is made."""

    path: Path
    items: list[Item]
    """As generated: decisions are applied by `apply_decisions`, not here."""
    decisions: dict[str, Decision] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Review:
        """The items as they were generated, and the decisions made so far.

        The generated items are kept beside the file before the first decision changes it, so that a
        decision can be taken back."""
        source = original_file(path) if original_file(path).exists() else path
        review = cls(path, read_items(source))
        if source is not path and path.exists() and not decisions_file(path).exists():
            raise DataError(
                f"{str(source)!r} is of a review whose decisions are gone; remove it to begin anew"
            )
        known = {item.id for item in review.items}
        for row in _read_rows(decisions_file(path)):
            if row.get("verdict") == TAKEN_BACK:
                review.decisions.pop(str(row.get("id")), None)
                continue
            if row.get("verdict") not in VERDICTS or row.get("id") not in known:
                raise DataError(
                    f"{str(decisions_file(path))!r} holds a decision on {row.get('id')!r}, which is "
                    f"not in {path.name}; it belongs to another test set: move it away"
                )
            review.decisions[row["id"]] = Decision(
                row["id"], row["verdict"], row.get("question"), row.get("reference")
            )
        return review

    @property
    def open_items(self) -> list[Item]:
        """Items that nobody has decided on."""
        return [item for item in self.items if item.id not in self.decisions]

    def decide(self, decision: Decision) -> None:
        """Keep a decision; the last one on an item counts."""
        self.decisions[decision.id] = decision
        self._append_decision(decision.to_row())

    def take_back(self, key: str) -> None:
        """Drop the decision on this item."""
        if self.decisions.pop(key, None) is not None:
            self._append_decision({"id": key, "verdict": TAKEN_BACK})

    def _append_decision(self, row: Mapping[str, Any]) -> None:
        with decisions_file(self.path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def apply_decisions(self) -> list[Item]:
        """The items with all decisions applied: rejected ones gone, edited ones changed, open ones as they are."""
        items: list[Item] = []
        for item in self.items:
            decision = self.decisions.get(item.id)
            if decision is None or decision.verdict == "accept":
                items.append(item)
            elif decision.verdict == "edit":
                items.append(edit_item(item, decision))
        return items

    def write_decided(self) -> int:
        """Write the file anew from the decisions; returns the number of items it then has."""
        original = original_file(self.path)
        if not original.exists():  # only once: later the file has been changed by decisions
            with open_replacement(original) as stream:
                stream.write(self.path.read_text("utf-8"))
        items = self.apply_decisions()
        with open_replacement(self.path) as stream:
            for item in items:
                stream.write(json.dumps(item.to_row(), ensure_ascii=False, allow_nan=False) + "\n")
        return len(items)

    def count_verdicts(self) -> dict[str, int]:
        """How many of each verdict."""
        given = [decision.verdict for decision in self.decisions.values()]
        return {verdict: given.count(verdict) for verdict in VERDICTS}


def edit_item(item: Item, decision: Decision) -> Item:
    """The item in the words of the reviewer; the id stays, so that runs on it can be compared."""
    return replace(
        item,
        question=decision.question if decision.question is not None else item.question,
        reference=decision.reference if decision.reference is not None else item.reference,
        proof={**item.proof, "edited": True},
    )


def decisions_file(path: Path) -> Path:
    """Where the decisions are kept."""
    return path.with_name(f"{path.stem}.decisions.jsonl")


def original_file(path: Path) -> Path:
    """Where the items are kept as they were generated, once a review has changed the file."""
    return path.with_name(f"{path.stem}.generated.jsonl")


def read_items(path: Path) -> list[Item]:
    """The items of a generated test set in ragstone's format."""
    if not path.is_file():
        raise DataError(
            f"no test set {str(path)!r}; write one with: ragstone generate DOCS -o FILE"
        )
    items = [Item.from_row(row) for row in _read_rows(path)]
    if not items:
        raise DataError(f"{str(path)!r} holds no item")
    return items


def _read_rows(path: Path) -> list[Mapping[str, Any]]:
    if not path.exists():
        return []
    rows: list[Mapping[str, Any]] = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            # a last line may be cut short while it was written; elsewhere it is damage
            if number == len(lines):
                continue
            raise DataError(
                f"{path}:{number}: not JSON; a review reads jsonl of ragstone"
            ) from None
        if not isinstance(row, dict):
            raise DataError(f"{path}:{number}: not an object; a review reads jsonl of ragstone")
        rows.append(row)
    return rows
