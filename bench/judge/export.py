"""Boosters as plain arrays in one npz file: no pickle, the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np


def write(
    target: Path,
    forests: Mapping[str, lgb.Booster],
    several: Mapping[str, tuple[lgb.Booster, tuple[str, ...]]],
    numbers: Mapping[str, Any],
) -> None:
    """Write the forests, those that have one forest for each class, and the numbers that go with them."""
    arrays: dict[str, Any] = {}
    parts = {name: (booster, slice(None)) for name, booster in forests.items()}
    for name, (booster, kinds) in several.items():
        for n, kind in enumerate(kinds):
            parts[f"{name}_{kind}"] = booster, slice(n, None, len(kinds))
    for name, (booster, trees) in parts.items():
        arrays |= {f"{name}.{key}": value for key, value in _forest(booster, trees).items()}
    arrays |= {f"numbers.{key}": np.asarray(value, np.float64) for key, value in numbers.items()}
    np.savez_compressed(target, **arrays)


def _forest(booster: lgb.Booster, trees: slice) -> dict[str, Any]:
    nodes: list[tuple[int, float, int, int, float]] = []
    roots: list[int] = []
    deepest = 0

    def add(node: Mapping[str, Any], depth: int) -> int:
        nonlocal deepest
        deepest = max(deepest, depth)
        at = len(nodes)
        if "leaf_value" in node:
            nodes.append((0, 0.0, at, at, node["leaf_value"]))
            return at
        if node["decision_type"] != "<=":
            raise ValueError(f"the reader knows only <=, not {node['decision_type']!r}")
        nodes.append((0, 0.0, 0, 0, 0.0))
        left = add(node["left_child"], depth + 1)
        right = add(node["right_child"], depth + 1)
        nodes[at] = (node["split_feature"], node["threshold"], left, right, 0.0)
        return at

    for tree in booster.dump_model()["tree_info"][trees]:
        roots.append(add(tree["tree_structure"], 0))
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return {
        "names": np.frombuffer("\n".join(booster.feature_name()).encode(), np.uint8),
        "roots": np.array(roots, np.int32),
        "feature": np.array(feature, np.int16),
        "threshold": np.array(threshold, np.float64),
        "left": np.array(left, np.int32),
        "right": np.array(right, np.int32),
        "value": np.array(value, np.float64),
        "depth": np.array(deepest, np.int32),
    }
