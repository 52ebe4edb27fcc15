"""Trees evaluated for many rows at once give what walking them one by one gives."""

import numpy as np
import pytest

from ragstone.judges.offline.trees import Trees, models


def walked(trees: Trees, row: np.ndarray) -> float:
    total = 0.0
    for root in trees.roots:
        node = int(root)
        while trees.left[node] != node:
            low = row[trees.feature[node]] <= trees.threshold[node]
            node = int(trees.left[node] if low else trees.right[node])
        total += float(trees.value[node])
    return total


@pytest.mark.parametrize(
    "name",
    ["claim", "token", "response", "spanish_entailed", "spanish_unrelated", "spanish_contrary"],
)
def test_rows_at_once_equal_rows_one_by_one(name: str) -> None:
    trees = models()[name]
    rows = np.random.default_rng(5).normal(0.5, 1.0, (20, len(trees.names))).astype(np.float32)
    assert np.allclose(trees.logit(rows), [walked(trees, row) for row in rows])


def test_a_row_does_not_depend_on_its_company() -> None:
    trees = models()["token"]
    rows = np.random.default_rng(6).normal(0.5, 1.0, (30, len(trees.names))).astype(np.float32)
    assert np.array_equal(trees.logit(rows)[7:9], trees.logit(rows[7:9]))
