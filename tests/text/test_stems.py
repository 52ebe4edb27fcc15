"""Stems are those the offline judge was trained on."""

import hashlib

import pytest
import Stemmer

from ragstone.judges.offline.tables import vectors
from ragstone.text.stems import stem_word


@pytest.mark.parametrize(
    ("language", "digest"),
    [
        ("en", "afd9da73853ef3cedd129522ba9a8f28e886ba9a2c91b27f23077962ba70399f"),
        ("es", "a03690947819f9a11acb83571c91f5e0822bfc1495c160904476130bd7769057"),
    ],
)
def test_the_judges_vocabulary_has_the_stems_of_its_training(language: str, digest: str) -> None:
    if stem_word("international", "en") != "internat":
        pytest.skip(f"PyStemmer's rules changed in 3.1; installed: {Stemmer.version()}")
    stems = "\n".join(stem_word(word, language) for word in vectors()[0])
    assert hashlib.sha256(stems.encode()).hexdigest() == digest


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
