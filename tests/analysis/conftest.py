"""Runs made of columns of scores, as an evaluation would have left them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from ragstone.data import read
from ragstone.store import NewRow, RunInfo, Store, StoredRun
from ragstone.store.plans import decode_plan
from ragstone.types import Score

PLAIN = {
    "higher_is_better": True, "bounds": [0.0, 1.0], "binary": False, "judged": False, "labels": [], "meaning": "",
}  # fmt: skip

Builder = Callable[..., StoredRun]


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    kept = Store.open(tmp_path / "runs.db")
    yield kept
    kept.close()


@pytest.fixture
def build(store: Store) -> Builder:
    """Makes a stored run: metric → one value or Score a sample; `rows` and `groups` where they matter."""

    def make(
        name: str,
        columns: Mapping[str, Sequence[float | Score]],
        *,
        ids: Sequence[str] | None = None,
        rows: Sequence[Mapping[str, Any]] | None = None,
        groups: Sequence[str | None] | None = None,
        metrics: Mapping[str, Mapping[str, Any]] | None = None,
        plan: Mapping[str, Any] | None = None,
    ) -> StoredRun:
        count = len(next(iter(columns.values())))
        ids = ids or [f"q{n}" for n in range(count)]
        rows = rows or [{"question": f"What is {one}?", "answer": "yes"} for one in ids]
        full = [{"id": one, **row} for one, row in zip(ids, rows, strict=True)]
        reading = read(full)
        described = tuple(
            {
                **PLAIN,
                "name": column,
                "family": column.split("@")[0],
                **(metrics or {}).get(column, {}),
            }
            for column in columns
        )
        decoded, facts = decode_plan(plan or {})
        info = RunInfo(
            id=f"id-{name}", name=name, created="2026-11-15T21:40:03+00:00", status="running",
            plan=decoded, facts=facts, shape=reading.shape, source="test", format=reading.format,
            metrics=described,
        )  # fmt: skip
        run = store.create(info)
        new = [
            NewRow(
                place + 1,
                ids[place],
                groups[place] if groups else None,
                json.dumps(full[place]),
                {
                    one: value if isinstance(value, Score) else Score(float(value))
                    for one, value in ((column, columns[column][place]) for column in columns)
                },
            )
            for place in range(count)
        ]
        store.append(run.id, new).result()
        store.finish(run.id, total=count, bad_count=0, bad=())
        return store.run(run.id)

    return make
