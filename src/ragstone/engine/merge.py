"""Merges the Asks of a sample's metrics into as few as possible."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from ragstone.asks import KINDS, Ask
from ragstone.asks.kind import ExtractPart, Members


class MergedAsk(NamedTuple):
    """One Ask that stands for several, and how each of them gets its part of the answer."""

    ask: Ask
    parts: tuple[tuple[int, ExtractPart], ...]
    """Index of an original Ask, and the function from the merged reply's value to the value it would have got."""


def merge_asks(asks: Sequence[Ask]) -> list[MergedAsk]:
    """Return the fewest Asks that answer all Asks of a sample's round.

    Identical Asks are put once; which others go together is said by their kind. The result does not depend on the
    order of the Asks.

    A row of the reply with an id that nobody gave is passed to every part, so that its reader rejects it."""
    groups: dict[Hashable, list[tuple[Ask, list[int]]]] = {}
    for index, ask in enumerate(asks):
        group = groups.setdefault(_group_key(ask), [])
        for known, indices in group:
            if known is ask or known == ask:  # identity first: comparing long texts is slow
                indices.append(index)
                break
        else:
            group.append((ask, [index]))
    merged: list[MergedAsk] = []
    for group in groups.values():
        # by id(): an Ask holds dicts and is not hashable
        indices_of = {id(ask): indices for ask, indices in group}
        for united, members in _unite_group([ask for ask, _ in group]):
            parts = [(index, extract) for ask, extract in members for index in indices_of[id(ask)]]
            if len(parts) > 1:
                parts.sort(key=_index_of)
            merged.append(MergedAsk(united, tuple(parts)))
    # sorted, so that the same Asks in another order (metrics listed differently) reach the judge
    # alike
    return sorted(merged, key=_kind_and_key)


def _index_of(part: tuple[int, ExtractPart]) -> int:
    return part[0]


def _kind_and_key(merged: MergedAsk) -> tuple[str, str]:
    return merged.ask.kind, merged.ask.key


def _group_key(ask: Ask) -> Hashable:
    """Return what two Asks must share to be merged; for one that is never united, its key."""
    merge = KINDS[ask.kind].merge
    shared = None if merge is None else merge.group(ask)
    return ask.key if shared is None else (ask.kind, ask.language, ask.repeat, shared)


def _unite_group(asks: Sequence[Ask]) -> Iterable[tuple[Ask, Members]]:
    merge = KINDS[asks[0].kind].merge
    if len(asks) == 1 or merge is None:
        return [(asks[0], [(asks[0], _extract_all)])]
    return merge.unite(asks)


def _extract_all(value: Any) -> Any:
    return value
