"""Boosted decision trees as plain arrays: read without pickle, evaluated for many rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.tables import learned_file

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trees:
    """A forest; leaves are nodes that lead to themselves."""

    names: tuple[str, ...]
    """The features in the order of the columns."""
    roots: npt.NDArray[np.intp]
    feature: npt.NDArray[np.intp]
    threshold: Doubles
    left: npt.NDArray[np.intp]
    right: npt.NDArray[np.intp]
    value: Doubles
    depth: int
    _walk: _Walk = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_walk", _Walk.through(self))

    def logit(self, rows: npt.NDArray[np.float32]) -> Doubles:
        """Sum of the leaves that each row reaches."""
        walk = self._walk
        rows = np.ascontiguousarray(rows, np.float32)
        flat = rows.ravel()
        offset = (np.arange(len(rows)) * rows.shape[1])[:, None]
        # every row asks the same at the roots
        node = walk.starts + (rows.take(walk.feature[0], axis=1) <= walk.bar[0])
        at = np.empty_like(node)
        for feature, bar in zip(walk.feature[1:], walk.bar[1:], strict=True):
            np.add(feature.take(node), offset, out=at)
            low = flat.take(at) <= bar.take(node)
            node += node
            node += low
        out: Doubles = np.add.reduce(walk.value.take(node), axis=1)
        return out


@dataclass(frozen=True, slots=True)
class _Walk:
    """A forest as it is walked, level by level and filled up: below node n of a level stand 2n and 2n + 1."""

    starts: npt.NDArray[np.intp]
    """The first of the two nodes below each root."""
    feature: list[npt.NDArray[np.int16]]
    """Small numbers: more of the forest stays at hand."""
    bar: list[npt.NDArray[np.float32]]
    value: Doubles
    """What the nodes below the last level are worth."""

    @classmethod
    def through(cls, trees: Trees) -> _Walk:
        """The nodes of the trees; a leaf stands for all that would be below it."""
        bars = _at_most(trees.threshold)
        feature, bar = [], []
        nodes = trees.roots
        for _ in range(trees.depth):
            feature.append(trees.feature[nodes].astype(np.int16))
            bar.append(bars[nodes])
            nodes = np.stack([trees.right[nodes], trees.left[nodes]], axis=1).ravel()
        starts = 2 * np.arange(len(trees.roots))
        return cls(starts, feature, bar, trees.value[nodes])


def _at_most(thresholds: Doubles) -> npt.NDArray[np.float32]:
    """The largest float32 not above each threshold: exactly the same float32 values are below both."""
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def chance(logit: Doubles) -> Doubles:
    """The logit as a probability."""
    out: Doubles = 1.0 / (1.0 + np.exp(-logit))
    return out


@lru_cache(maxsize=1)
def models() -> Mapping[str, Any]:
    """The shipped forests by name, and the numbers that go with them under "numbers"."""
    with np.load(learned_file("support.npz"), allow_pickle=False) as file:
        names = sorted({key.split(".")[0] for key in file.files if key.endswith(".roots")})
        found: dict[str, Any] = {name: _forest(file, name) for name in names}
        found["numbers"] = {
            key.split(".", 1)[1]: file[key] for key in file.files if key.startswith("numbers.")
        }
    return found


def _forest(file: Mapping[str, Any], name: str) -> Trees:
    return Trees(
        names=tuple(bytes(file[f"{name}.names"]).decode().split("\n")),
        roots=file[f"{name}.roots"].astype(np.intp),
        feature=file[f"{name}.feature"].astype(np.intp),
        threshold=file[f"{name}.threshold"],
        left=file[f"{name}.left"].astype(np.intp),
        right=file[f"{name}.right"].astype(np.intp),
        value=file[f"{name}.value"],
        depth=int(file[f"{name}.depth"]),
    )
