"""Two versions of a test set: which items are the same, changed, new or gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragstone.testset.card import compute_version
from ragstone.testset.items import Item
from ragstone.testset.review import read_items
from ragstone.text.words import fold_text

_COMPARED = ("question", "reference", "relevant", "kind", "history")
"""Fields whose change makes an item another one to a system that is measured."""


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item that both versions have, with other contents."""

    id: str
    question: str
    fields: Mapping[str, tuple[Any, Any]]
    """Field → what it was and what it is."""


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """What differs between two versions of a set."""

    old: str
    new: str
    """Digests of the two."""
    same: int
    changed: tuple[ChangedItem, ...]
    added: tuple[Item, ...]
    removed: tuple[Item, ...]

    @property
    def is_empty(self) -> bool:
        """Whether both hold the same items."""
        return not (self.changed or self.added or self.removed)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON."""
        return {
            "old": self.old, "new": self.new, "same": self.same,
            "changed": [asdict(item) for item in self.changed],
            "added": [item.to_row() for item in self.added],
            "removed": [item.to_row() for item in self.removed],
        }  # fmt: skip


def compare_versions(old: Path, new: Path) -> VersionDifference:
    """The difference of two generated sets; items are paired by id, then by the same question."""
    before, after = read_items(old), read_items(new)
    pairs = _pair_items(before, after)
    changed = []
    for earlier, later in pairs:
        fields = {
            name: (_plain(getattr(earlier, name)), _plain(getattr(later, name)))
            for name in _COMPARED
            if _plain(getattr(earlier, name)) != _plain(getattr(later, name))
        }
        if fields:
            changed.append(ChangedItem(later.id, later.question, fields))
    kept, taken = {id(earlier) for earlier, _ in pairs}, {id(later) for _, later in pairs}
    return VersionDifference(
        compute_version(before),
        compute_version(after),
        len(pairs) - len(changed),
        tuple(changed),
        tuple(item for item in after if id(item) not in taken),
        tuple(item for item in before if id(item) not in kept),
    )


def _pair_items(before: Sequence[Item], after: Sequence[Item]) -> list[tuple[Item, Item]]:
    by_id = {item.id: item for item in after}
    pairs = [(item, by_id[item.id]) for item in before if item.id in by_id]
    paired = {item.id for item, _ in pairs}
    # another run may quote another passage for the same question, which gives another id
    by_question = {
        (fold_text(item.question), item.history): item for item in after if item.id not in paired
    }
    for item in before:
        later = by_question.pop((fold_text(item.question), item.history), None)
        if item.id not in paired and later is not None:
            pairs.append((item, later))
    return pairs


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
