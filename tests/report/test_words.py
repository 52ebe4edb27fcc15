"""Words and numbers in each language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ragstone.metrics  # noqa: F401 - registers the metrics
from ragstone.errors import RagstoneError
from ragstone.locale.catalogue import LANGUAGES, REPORT_FILES, load_meanings, load_phrases
from ragstone.registry import REGISTERED
from ragstone.report.translator import load_translator

SOURCE = Path(__file__).parents[2] / "src" / "ragstone"


def test_every_phrase_is_said_somewhere() -> None:
    said = "".join(
        path.read_text(encoding="utf-8")
        for folder in (SOURCE / "report", SOURCE / "cli", SOURCE / "testing")
        for path in folder.rglob("*")
        if path.suffix in (".py", ".j2")
    )
    groups = ("outcome.", "fault.", "verdict.", "label.", "method.", "of.", "gate.", "state.")
    unsaid = [
        key
        for file in REPORT_FILES
        for key in load_phrases("en", file)
        if not key.startswith(groups) and not re.search(f"['\"]{key.split('.')[0]}['\".]", said)
    ]
    assert unsaid == []


def test_no_phrase_of_one_report_hides_that_of_another() -> None:
    names = [key for file in REPORT_FILES for key in load_phrases("en", file)]
    assert sorted(names) == sorted(set(names))


def test_every_metric_has_a_meaning_in_every_language() -> None:
    built_in = {
        name for name, m in REGISTERED.items() if m.function.__module__.startswith("ragstone.")
    }
    for language in LANGUAGES[1:]:
        assert built_in == set(load_meanings(language))


@pytest.mark.parametrize(
    ("value", "english", "spanish"),
    [
        (0.5, "0.500", "0,500"),
        (12.345, "12.35", "12,35"),
        (1234.5, "1234.5", "1234,5"),
        (-0.0001, "-0.0001", "-0,0001"),
        (0.00012, "0.00012", "0,00012"),
        (-0.0, "0.000", "0,000"),
        (None, "–", "–"),
    ],
)
def test_a_number_is_written_as_the_language_does(
    value: float | None, english: str, spanish: str
) -> None:
    assert load_translator("en").number(value) == english
    assert load_translator("es").number(value) == spanish


def test_thousands_are_set_apart() -> None:
    assert load_translator("en").whole(1_234_567) == "1,234,567"
    assert load_translator("es").whole(1_234_567) == "1\u202f234\u202f567"
    assert load_translator("es").whole(9_999) == "9999"


@pytest.mark.parametrize(
    ("share", "shown"), [(1, "100%"), (0.99999, "99.9%"), (0.00001, "0.1%"), (0, "0%")]
)
def test_a_percentage_is_never_rounded_to_all_or_nothing(share: float, shown: str) -> None:
    assert load_translator("en").percent(share) == shown


def test_a_cheap_run_does_not_read_as_free() -> None:
    assert load_translator("en").money(0.0000001) == "$< 0.0001"
    assert load_translator("en").money(0) == "$0.00"


def test_an_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(RagstoneError, match="no reports in 'fr'; choose en or es"):
        load_translator("fr")
