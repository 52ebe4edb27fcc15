"""Copied sentences with a decisive edit, beside harmless ones."""

from __future__ import annotations

import pytest

from ragstone.judges.offline.reading import read
from ragstone.judges.offline.verdicts import judge_case

SOURCE = (
    "In 1911 the engineer Clara Voss moved from Bremen to the mills of Tampere with her brother."
)


def verdict(claim: str, source: str = SOURCE) -> str:
    return judge_case([read(claim, "en")], [read(source, "en")]).claims[0].verdict


@pytest.mark.parametrize(
    "claim",
    [
        SOURCE.replace("1911", "1917"),
        SOURCE.replace("moved", "never moved"),
        SOURCE.replace("Bremen", "X").replace("Tampere", "Bremen").replace("X", "Tampere"),
        " ".join(sorted(SOURCE.rstrip(".").split(), key=lambda word: word[::-1])) + ".",
    ],
    ids=["digit", "denial", "names swapped", "no order at all"],
)
def test_an_edit_of_a_copied_sentence_is_not_supported(claim: str) -> None:
    assert verdict(claim) != "supported"


@pytest.mark.parametrize(
    "claim",
    [
        SOURCE,
        SOURCE.replace("In 1911 the", "The"),
        "The engineer Clara Voss moved from Bremen to the mills of Tampere in 1911.",
        "Clara Voss moved to the mills of Tampere.",
    ],
)
def test_a_shorter_or_reordered_copy_is_supported(claim: str) -> None:
    assert verdict(claim) == "supported"


def test_names_of_one_list_may_change_places() -> None:
    source = "The company Acme has offices in Lyon, Porto, Turin and Ghent since the last war."
    assert verdict(source.replace("Lyon, Porto", "Porto, Lyon"), source) == "supported"
