"""There are seventeen promises, each with its sentence; `docs/generate.py` writes their table from these files."""

from __future__ import annotations

from promised import list_promises


def test_there_are_seventeen_promises() -> None:
    promises = list_promises()
    assert [promise.number for promise in promises] == [f"{n:02}" for n in range(1, 18)]
    assert all(promise.sentence and promise.tried for promise in promises)
