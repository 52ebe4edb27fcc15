"""The judge's page says the same in English and in Spanish, in the docs and in the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.judge import pages

from ragstone.judges.offline import quality
from ragstone.report.document import ReportTable
from ragstone.report.prose import parse_markdown

NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,\u202f]\d+)*")
LANGUAGES = {"en": pages.ENGLISH, "es": pages.SPANISH}


def _figures(text: str) -> list[str]:
    """The numbers of a text however a language writes them: 0.25 and 0,25, 64,000 and 64 000."""
    return sorted(re.sub(r"\D", "", number) for number in NUMBER.findall(text))


def _tables(page: Path) -> list[list[list[str]]]:
    """Rows and cells of each table."""
    nodes = parse_markdown(page.read_text("utf-8"))
    tables = [node for node in nodes if isinstance(node, ReportTable)]
    return [
        [
            [str(column.head) for column in table.columns],
            *([*map(str, row.cells)] for row in table.rows),
        ]
        for table in tables
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_page_is_the_one_of_the_docs(language: str) -> None:
    assert quality.page(language) == LANGUAGES[language].read_text("utf-8")


def test_both_pages_have_the_same_tables_with_the_same_figures() -> None:
    english, spanish = _tables(pages.ENGLISH), _tables(pages.SPANISH)
    assert len(english) == len(spanish) >= 7
    for one, other in zip(english, spanish, strict=True):
        assert [len(row) for row in one] == [len(row) for row in other]
        for row, said in zip(one, other, strict=True):
            assert _figures(" ".join(row)) == _figures(" ".join(said)), said


def test_both_pages_have_the_same_figures_in_every_section() -> None:
    english, spanish = (
        re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)
        for page in (pages.ENGLISH, pages.SPANISH)
    )
    assert len(english) == len(spanish)
    for one, other in zip(english, spanish, strict=True):
        assert _figures(one) == _figures(other), other.splitlines()[0]


def test_the_spanish_tables_are_those_that_the_english_ones_translate_to() -> None:
    assert pages.figures(pages.SPANISH) == pages.in_spanish(pages.figures(pages.ENGLISH))


def test_tables_are_written_into_both_pages_and_their_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english, spanish = tmp_path / "page.md", tmp_path / "pagina.md"
    shipped = {english: tmp_path / "shipped.md", spanish: tmp_path / "shipped.es.md"}
    for page, around in ((english, "before {} after"), (spanish, "antes {} después")):
        page.write_text(around.format(f"{pages.BEGIN}\nold\n{pages.END}"), "utf-8")
    for name, value in (("ENGLISH", english), ("SPANISH", spanish), ("SHIPPED", shipped)):
        monkeypatch.setattr(pages, name, value)
    rows = "| --- | ---: |\n| **mean of the seven** | **0.5** |\n| peak memory | 12.25 MB |"
    pages.write(f"### Speed (bench/judge/speed.py)\n\n| set | rows |\n{rows}\n| wice | 99.5% |")
    assert spanish.read_text("utf-8") == (
        f"antes {pages.BEGIN}\n### Velocidad (bench/judge/speed.py)\n\n| conjunto | filas |\n| --- | ---: |\n"
        "| **media de los siete** | **0,5** |\n| memoria máxima | 12,25 MB |\n| wice | 99,5 % |\n"
        f"{pages.END} después"
    )
    assert "| peak memory | 12.25 MB |" in english.read_text("utf-8")
    assert "old" not in english.read_text("utf-8") + spanish.read_text("utf-8")
    for page, copy in shipped.items():
        assert copy.read_text("utf-8") == page.read_text("utf-8")


def test_a_row_without_a_spanish_phrase_is_named_and_not_left_in_english() -> None:
    with pytest.raises(SystemExit, match="a new row of #"):
        pages.in_spanish("| set | rows |\n| --- | ---: |\n| a new row of 7 | 3 |")
