"""The prose of the documentation and the phrases of the program, as a spell checker reads them."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DICTIONARIES = {"en": "en_GB", "es": "es_ES"}
"""Language → the dictionary of hunspell."""
NO_PROSE = re.compile(
    r"^(?P<indent> *)```.*?^(?P=indent)```$|<!--.*?-->|</?div[^>]*>|`[^`]*`|\]\([^)]*\)|https?://\S+|\{[^}]*\}",
    re.MULTILINE | re.DOTALL,
)
"""What is no prose: code, comments, addresses, placeholders."""


def list_pages(language: str) -> list[Path]:
    """The pages that people read in a language."""
    if language == "es":
        return sorted([ROOT / "README.es.md", *(ROOT / "docs" / "es").glob("*.md")])
    # the changelog quotes words of any language
    others = ("README.es.md", "CHANGELOG.md")
    pages = [page for page in ROOT.glob("*.md") if page.name not in others]
    return sorted([*pages, *(ROOT / "docs").glob("*.md"), ROOT / "examples" / "README.md"])


def read_prose(language: str) -> dict[str, str]:
    """The prose of each page and each file of phrases."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in list_pages(language)}
    folder = ROOT / "src" / "ragstone" / "locale" / language
    for path in sorted(folder.glob("*.toml")):
        phrases = tomllib.loads(path.read_text(encoding="utf-8"))
        pages[f"locale/{language}/{path.name}"] = "\n".join(_iter_texts(phrases))
    return {name: NO_PROSE.sub(" ", text) for name, text in pages.items()}


def find_misspelt(language: str) -> dict[str, str]:
    """Words that neither the dictionary nor our list of names knows, with a place where each stands."""
    known = set((ROOT / "docs" / f"words.{language}.txt").read_text(encoding="utf-8").split())
    places: dict[str, str] = {}
    for name, text in read_prose(language).items():
        done = subprocess.run(
            ["hunspell", "-l", "-i", "utf-8", "-d", DICTIONARIES[language]],
            input=text, capture_output=True, text=True, check=True,
        )  # fmt: skip
        for word in done.stdout.split():
            if word not in known:
                places.setdefault(word, name)
    return places


def _iter_texts(value: Any, key: str = "") -> Iterator[str]:
    """The texts of a file of phrases; where English is the key, without the words of it: names and code."""
    if isinstance(value, str):
        names = set(re.findall(r"\w+", key)) if " " in key else set()
        yield re.sub(r"\w+", lambda word: "" if word[0] in names else word[0], value)
    for name, part in value.items() if isinstance(value, dict) else ():
        yield from _iter_texts(part, name)
    for part in value if isinstance(value, list) else ():
        yield from _iter_texts(part)
