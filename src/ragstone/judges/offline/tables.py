"""The learned files of the offline judge, read once each: word counts and word vectors. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt


class Frequencies:
    """In how many source documents each stem stands, and how often a word is written small."""

    def __init__(self, documents: int, stems: dict[str, int], small: dict[str, int]) -> None:
        self._ceiling = math.log(documents + 1)
        self._stems = stems
        self._small = small

    def rarity(self, stem: str) -> float:
        """Inverse document frequency of a stem; a stem never seen is rarest."""
        return self._ceiling - math.log(1 + self._stems.get(stem, 0))

    def seen_small(self, word: str) -> int:
        """How often the word was seen without a capital."""
        return self._small.get(word, 0)


@lru_cache(maxsize=1)
def frequencies() -> Frequencies:
    """The shipped table of word counts."""
    table = json.loads(learned_file("frequencies.json").read_text("utf-8"))
    return Frequencies(table["documents"], table["stems"], table["small"])


@lru_cache(maxsize=1)
def vectors() -> tuple[dict[str, int], npt.NDArray[np.int8]]:
    """Words and their vectors, distilled from the multilingual sentence encoder."""
    with np.load(learned_file("words.npz"), allow_pickle=False) as table:
        words = bytes(table["words"]).decode("utf-8").split("\n")
        return {word: row for row, word in enumerate(words)}, table["vectors"]


def vector_row(word: str) -> int:
    """Row of a lower-case word in the table of vectors, -1 when it has none."""
    return vectors()[0].get(word, -1)


def learned_file(name: str) -> Path:
    """Where a learned file stands in the package."""
    return Path(__file__).parent / "learned" / name
