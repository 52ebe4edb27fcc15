"""Checksums: what was written comes back, one changed character is seen, rows of earlier versions have none."""

from __future__ import annotations

import pytest

from ragstone.errors import StoreError
from ragstone.store.checksums import (
    ChecksumMismatch,
    add_bytes_checksum,
    add_checksum,
    explain_damage,
    remove_bytes_checksum,
    remove_checksum,
)


def test_a_text_comes_back_and_one_without_a_checksum_stays() -> None:
    assert remove_checksum(add_checksum('{"a": "é"}')) == '{"a": "é"}'
    assert remove_bytes_checksum(add_bytes_checksum(b'{"a": 1}\n{"b": 2}')) == b'{"a": 1}\n{"b": 2}'
    for old in ("", '{"a": 1}', '{"a": "#12345678"}'):
        assert remove_checksum(old) == old
        assert remove_bytes_checksum(old.encode()) == old.encode()


def test_one_changed_character_is_seen() -> None:
    with pytest.raises(ChecksumMismatch):
        remove_checksum(add_checksum('{"a": 1}').replace("1", "2", 1))
    with pytest.raises(ChecksumMismatch):
        remove_bytes_checksum(add_bytes_checksum(b'{"a": 1}').replace(b"1", b"2", 1))


def test_damage_is_one_sentence_with_the_remedy() -> None:
    with pytest.raises(StoreError, match=r"row 7 is damaged; `ragstone store check`"), explain_damage("row 7"):  # fmt: skip
        remove_checksum(add_checksum("a")[:-1] + "x")
