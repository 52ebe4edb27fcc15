"""Slices of a run's samples in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.slices import Slice


def describe_slice(slice: Slice, t: Translator) -> str:
    """A slice in words: a value of a field, a side of a count, a word of the question."""
    field, value = shorten(slice.field, 40), shorten(slice.value, 60)
    if slice.is_tagged:
        if slice.field == "language_pair":
            field = t("slice_field.language_pair")
        return t("slice_of", field=field, value=value)
    name = t(f"slice_field.{slice.field}")
    if slice.field == "word":
        return t("slice_word", field=name, value=value)
    side, _, limit = value.partition(" ")
    return t("slice_up_to" if side == "<=" else "slice_above", field=name, value=limit)
