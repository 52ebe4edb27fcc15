"""The catalogue of words: every key in every language, with the same placeholders."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

import ragstone.locale
from ragstone.locale.catalogue import LANGUAGES, load_phrases

FOLDER = Path(ragstone.locale.__file__).parent
FILES = sorted(path.stem for path in (FOLDER / "en").glob("*.toml"))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_has_the_same_keys_and_placeholders_in_every_language(
    file: str, language: str
) -> None:
    english, other = load_phrases("en", file), load_phrases(language, file)
    assert list(other) == list(english)
    for key, text in english.items():
        assert text
        assert other[key]
        assert placeholders(other[key]) == placeholders(text), key
