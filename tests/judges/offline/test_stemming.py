"""Stems told at a glance are the stemmer's own."""

import random

import pytest
import snowballstemmer

from ragstone.judges.offline.stemming import _at_a_glance, stem_of
from ragstone.judges.offline.tables import stems

ENDS = (
    "s",
    "ed",
    "or",
    "os",
    "as",
    "ngs",
    "rs",
    "ls",
    "al",
    "nt",
    "ys",
    "ss",
    "ks",
    "n",
    "m",
    "y",
    "",
)


def test_what_a_glance_says_the_stemmer_says() -> None:
    luck = random.Random(1)
    made = [
        "".join(luck.choices("aeiouybcdstrnlmgyp", k=luck.randint(1, 7))) + luck.choice(ENDS)
        for _ in range(4000)
    ]
    real = luck.sample(sorted(stems("en")), 4000)
    odd = ["news", "bias", "cosmos", "atlas", "andes", "skis", "gas", "this", "us", "as", "yes"]
    told = {word: stem for word in made + real + odd if (stem := _at_a_glance(word)) is not None}
    stemmer = snowballstemmer.stemmer("english")
    assert told == {word: stemmer.stemWord(word) for word in told}
    assert len(told) > 3000


@pytest.mark.parametrize(
    ("word", "language", "stem"),
    [("zorbeks", "en", "zorbek"), ("zorbeks", "es", "zorbeks"), ("zorbeks", "xx", "zorbeks")],
)
def test_the_glance_is_for_english_alone(word: str, language: str, stem: str) -> None:
    assert stem_of(word, language) == stem
