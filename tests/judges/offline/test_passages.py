"""Passages and quotes that speak of a claim, for judges that show a part of long sources."""

from ragstone.judges.offline.passages import choose_passages, find_evidence

SOURCES = [
    "The pool opens at nine. It is heated in winter. Towels cost 3 euros.",
    "Breakfast is served until ten. The garden has a pond.",
]


def test_short_sources_are_shown_whole() -> None:
    assert choose_passages(["How much are towels?"], SOURCES, "en", 500) == SOURCES


def test_of_long_sources_the_closest_sentences_are_shown_as_far_as_they_fit() -> None:
    shown = choose_passages(["How much are towels?", "Is there a pond?"], SOURCES, "en", 50)
    assert shown == ["Towels cost 3 euros.", "The garden has a pond."]


def test_evidence_is_verbatim_and_the_closest_comes_first() -> None:
    found = find_evidence("Towels cost 3 euros.", SOURCES, "en")
    assert found[0] == (0, "Towels cost 3 euros.")
    assert all(quote in SOURCES[source] for source, quote in found)


def test_empty_sources_have_no_passages() -> None:
    assert choose_passages(["How much?"], ["", " "], "en", 0) == []
    assert find_evidence("It is.", [], "en") == []
