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
    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int16]
    threshold: Doubles
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    value: Doubles
    depth: int

    def logit(self, rows: npt.NDArray[np.float32]) -> Doubles:
        """Sum of the leaves that each row reaches."""
        node = np.broadcast_to(self.roots, (len(rows), len(self.roots))).copy()
        at = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            low = rows[at, self.feature[node]] <= self.threshold[node]
            node = np.where(low, self.left[node], self.right[node])
        out: Doubles = self.value[node].sum(axis=1)
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
        roots=file[f"{name}.roots"],
        feature=file[f"{name}.feature"],
        threshold=file[f"{name}.threshold"],
        left=file[f"{name}.left"],
        right=file[f"{name}.right"],
        value=file[f"{name}.value"],
        depth=int(file[f"{name}.depth"]),
    )
