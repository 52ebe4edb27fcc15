"""The judge's page says the same in English and in Spanish, in the docs and in the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragstone.judges.offline import VERSION, quality

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"en": DOCS / "judge-offline.md", "es": DOCS / "es" / "judge-offline.md"}


def _list_figures(text: str) -> list[str]:
    """The numbers of a text however a language writes them: 0.25 and 0,25."""
    return sorted(number.replace(",", ".") for number in re.findall(r"\d+(?:[.,]\d+)?", text))


@pytest.mark.parametrize("language", PAGES)
def test_the_shipped_page_is_the_one_of_the_docs(language: str) -> None:
    assert quality.page(language) == PAGES[language].read_text("utf-8")


def test_both_pages_have_the_same_figures_in_every_section() -> None:
    english, spanish = (
        re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE) for page in PAGES.values()
    )
    assert len(english) == len(spanish)
    for one, other in zip(english, spanish, strict=True):
        assert _list_figures(one) == _list_figures(other), other.splitlines()[0]


def test_the_page_names_the_version() -> None:
    assert all(f"offline {VERSION}" in page.read_text("utf-8") for page in PAGES.values())
