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


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("Spain beat Italy in the final.", "Italy beat Spain in the final."),
        (
            "Friedrich Ratzel of Germany and Halford Mackinder of Britain supported the plan.",
            "Friedrich Ratzel of Britain and Halford Mackinder of Germany supported the plan.",
        ),
        (
            "The Rhine flowed west through the Netherlands and reached the Channel near Dover.",
            "The Netherlands flowed west through the Rhine.",
        ),
    ],
)
def test_a_name_in_the_place_of_another_is_not_supported_even_in_a_part_of_the_sentence(
    source: str, claim: str
) -> None:
    assert verdict(claim, source) == "contradicted"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "The Rhine flowed west through the Netherlands and reached the Channel near Dover.",
            "The Rhine reached the Channel near Dover.",
        ),
        (
            "Hulagu Khan destroyed much of Iran and sacked Baghdad in the spring.",
            "Hulagu Khan sacked Baghdad in the spring.",
        ),
    ],
)
def test_the_subject_of_a_later_predicate_is_in_its_place(source: str, claim: str) -> None:
    assert verdict(claim, source) == "supported"
