"""English stems worked out here are the stemmer's own."""

import random

import pytest
import snowballstemmer

from ragstone.judges.offline.english import english_stem
from ragstone.judges.offline.stemming import stem_of
from ragstone.judges.offline.tables import stems

PARTS = (
    "b", "st", "y", "a", "e", "i", "ou", "ing", "ed", "ly", "li", "al", "tion", "ness", "ful", "ize", "ate", "ion",
    "s", "es", "eed", "t", "l", "ll", "ogi", "ogist", "past", "gener", "inter", "bb", "rr", "at", "bl", "iz",
    "ative", "ic", "iti", "er", "ism", "c", "d", "n", "ee", "yy", "ies", "ied", "us", "ss", "sses", "succ", "proc",
    "exc", "in", "out", "even", "herr", "ational", "ement", "able", "edly", "abli",
)  # fmt: skip
"""What English rules look for: words made of these meet all of them."""
ODD = (
    "news", "bias", "cosmos", "atlas", "andes", "skis", "skies", "sky", "idly", "gently", "ugly", "early", "only",
    "singly", "howe", "gas", "this", "us", "as", "yes", "y", "dying", "tying", "evening", "canning", "inning",
    "outing", "exceed", "succeeding", "added", "egged", "offing", "hopping", "hoping", "pasted", "organ",
    "university",
)  # fmt: skip


def test_english_stems_are_those_of_the_stemmer() -> None:
    luck = random.Random(1)
    made = ["".join(luck.choices(PARTS, k=luck.randint(1, 5))) for _ in range(4000)]
    known = sorted(word for word in stems("en") if word.isascii() and word.isalpha())
    words = [*made, *luck.sample(known, 4000), *ODD]
    stemmer = snowballstemmer.stemmer("english")
    assert {word: english_stem(word) for word in words} == {
        word: stemmer.stemWord(word) for word in words
    }


@pytest.mark.parametrize(
    ("word", "language", "stem"),
    [
        ("zorbeks", "en", "zorbek"),
        ("zorbeks", "es", "zorbeks"),
        ("zorbeks", "xx", "zorbeks"),
        ("naïves", "en", "naïv"),
    ],
)
def test_english_rules_are_for_english_alone(word: str, language: str, stem: str) -> None:
    assert stem_of(word, language) == stem
