"""The prose of docs, README files, help and reports has no misspelt word, by hunspell and by codespell's list of common
mistakes; English is also read by Harper, a grammar checker."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spelling import DICTIONARIES, ROOT, find_misspelt, list_pages, read_prose


def has_dictionary(name: str) -> bool:
    if shutil.which("hunspell") is None:
        return False
    done = subprocess.run(["hunspell", "-d", name, "-l"], input="", capture_output=True, text=True)
    return done.returncode == 0


@pytest.mark.slow  # `make check` runs it
@pytest.mark.parametrize("language", DICTIONARIES)
def test_every_word_is_in_the_dictionary_or_among_our_names(language: str) -> None:
    if not has_dictionary(DICTIONARIES[language]):
        pytest.skip(f"needs hunspell and its dictionary {DICTIONARIES[language]}")
    misspelt = find_misspelt(language)
    assert not misspelt, f"correct them, or add names to docs/words.{language}.txt: {misspelt}"


def test_no_common_mistake_in_english() -> None:
    pytest.importorskip("codespell_lib")
    names = ",".join((ROOT / "docs" / "words.en.txt").read_text(encoding="utf-8").lower().split())
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", "-L", names, "-"],
        input="\n".join(read_prose("en").values()), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


QUICK_PAGES = ("README.md", "index.md")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name in QUICK_PAGES else pytest.mark.slow, id=page.name) for page in list_pages("en")],
)  # fmt: skip
def test_no_mistake_in_grammar(page: Path) -> None:
    harper = pytest.importorskip("harper")
    kinds = {"Agreement", "BoundaryError", "Eggcorn", "Grammar", "Malapropism", "Nonstandard",
             "Redundancy", "Repetition", "Usage"}  # fmt: skip
    linter = harper.Linter(dialect=harper.Dialect.BRITISH)
    lints = linter.lint(page.read_text("utf-8"), language=harper.Language.MARKDOWN)
    mistakes = [
        (lint.problem_text, lint.message)
        for lint in lints
        # its list of nouns without a plural holds "finding" and "opening"
        if lint.lint_kind in kinds and not lint.message.endswith("is a mass noun.")
    ]
    assert mistakes == []


@pytest.mark.parametrize("language", DICTIONARIES)
def test_no_word_stands_twice(language: str) -> None:
    twice = re.compile(r"\b([^\W\d]{2,}) \1\b")
    allowed = {"had", "that", "nos"}
    for name, text in read_prose(language).items():
        found = [match[0] for match in twice.finditer(text) if match[1].lower() not in allowed]
        assert not found, (name, found)
