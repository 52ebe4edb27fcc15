"""The pages of the promises say what their files say, and there are seventeen."""

from __future__ import annotations

from promised import build_pages, list_promises


def test_there_are_seventeen_promises() -> None:
    promises = list_promises()
    assert [promise.number for promise in promises] == [f"{n:02}" for n in range(1, 18)]
    assert all(promise.sentence and promise.tried for promise in promises)


def test_the_pages_are_written_from_them() -> None:
    for path, text in build_pages().items():
        assert path.read_text(encoding="utf-8") == text, "run python tests/promised.py"
