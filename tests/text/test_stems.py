"""Stems of words, language by language."""

import pytest

from ragstone.text.stems import stem_word


@pytest.mark.parametrize(
    ("word", "language", "stem"),
    [
        ("zorbeks", "en", "zorbek"),
        ("zorbeks", "es", "zorbeks"),
        ("zorbeks", "xx", "zorbeks"),
        ("naïves", "en", "naïv"),
        ("skies", "en", "sky"),
        ("dying", "en", "die"),
        ("bibliotecas", "es", "bibliotec"),
        ("maisons", "fr", "maison"),
    ],
)
def test_each_language_has_its_own_rules(word: str, language: str, stem: str) -> None:
    assert stem_word(word, language) == stem
