"""Boosted decision trees as plain arrays: read without pickle, evaluated for many rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    def logit(self, rows: npt.NDArray[np.float32]) -> Doubles:
        """Sum of the leaves that each row reaches."""
        flat = np.ascontiguousarray(rows, np.float32).ravel()
        offset = (np.arange(len(rows)) * rows.shape[1])[:, None]
        node = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.depth):
            low = flat.take(offset + self.feature.take(node)) <= self.threshold.take(node)
            node = np.where(low, self.left.take(node), self.right.take(node))
        out: Doubles = self.value.take(node).sum(axis=1)
        return out


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
