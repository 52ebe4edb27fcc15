"""Texts cut into excerpts."""

from __future__ import annotations

from ragstone.report.excerpts import EvidenceMark, cut_excerpts


def test_what_is_both_supported_and_disputed_is_coloured_as_disputed() -> None:
    marks = [EvidenceMark(0, 5, 1, "good"), EvidenceMark(0, 5, 2, "warn")]
    assert [part.severity for part in cut_excerpts("Roses", marks, 100)] == ["warn"]
