"""Which documents are asked about: spread over folders, languages and topics, not the first ones; the same for a
seed."""

from __future__ import annotations

import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragstone.testset.sources import Corpus
from ragstone.text.language import identify_language
from ragstone.text.words import fold_text

Floats = npt.NDArray[np.float32]

MAX_POOL_DOCUMENTS = 4096
"""Documents that are looked at for their topic; from more, as many are drawn folder by folder."""
_TOPIC_DOCUMENTS = 512
"""Documents that the topics are found with."""
_MAX_TOPICS = 24
_VECTOR_LENGTH = 256
"""Length of the vector of hashed words."""
_TOPIC_CHARS = 1500
"""Characters of a document that tell its topic."""
_WORD = re.compile(r"[^\W\d_]{4,}")


def spread_documents(
    corpus: Corpus,
    seed: int,
    *,
    wanted: int,
    languages: Sequence[str] = (),
    among: Sequence[int] | None = None,
) -> list[int]:
    """Positions of documents in an order whose every beginning is spread.

    Documents of one folder, language and topic form a stratum. A stratum of m documents gets its turn in proportion
    to √m: large ones more often, but small ones too. Documents in none of the languages are left out, and all but
    those
    at the positions `among` where that is given."""
    # a generator for each purpose, named: another draw added elsewhere does not change this order
    rng = random.Random(f"{seed}:spread")
    most = max(MAX_POOL_DOCUMENTS, 4 * wanted)
    if among is None:
        pool = _draw_pool(corpus, rng, most)
    else:
        pool = sorted(rng.sample(among, most)) if len(among) > most else list(among)
    if not pool:
        return []
    if languages:
        pool = [position for position in pool if _detect_language(corpus, position) in languages]
    topics = Topics(corpus, pool, rng)
    strata: dict[tuple[int, str, int], list[int]] = {}
    for position in pool:
        document = corpus[position]
        key = (corpus.folder[position], document.language or "", topics.find_topic(document.text))
        strata.setdefault(key, []).append(position)
    turns: list[tuple[float, float, int]] = []
    for stratum in sorted(strata):
        members = strata[stratum]
        rng.shuffle(members)
        weight = math.sqrt(len(members))
        turns += [
            ((n + 0.5) / weight, rng.random(), position) for n, position in enumerate(members)
        ]
    return [position for _, _, position in sorted(turns)]


def sample_places(corpus: Corpus, seed: int, count: int = MAX_POOL_DOCUMENTS) -> list[int]:
    """Positions of a sample of the corpus, folder by folder; all of them when there are no more."""
    return _draw_pool(corpus, random.Random(f"{seed}:drawn"), count)


def language_of(text: str, given: str | None) -> str:
    """The language of a text, without region: `given` if it is known, else identified from the text."""
    return (given or identify_language(text[:_TOPIC_CHARS])).split("-")[0].lower()


def _detect_language(corpus: Corpus, position: int) -> str:
    document = corpus[position]
    return language_of(document.text, document.language)


def _draw_pool(corpus: Corpus, rng: random.Random, most: int) -> list[int]:
    """All positions, or as many as are wanted, each folder in turn, in random order."""
    if len(corpus) <= most:
        return list(range(len(corpus)))
    by_folder: dict[int, list[int]] = {}
    # at most `most` of each folder: the lists stay short whatever the number of documents
    seen: Counter[int] = Counter()
    for position in range(len(corpus)):
        folder = corpus.folder[position]
        positions = by_folder.setdefault(folder, [])
        seen[folder] += 1
        if len(positions) < most:
            positions.append(position)
        else:  # a reservoir: each document of a folder has the same chance
            at = rng.randrange(seen[folder])
            if at < most:
                positions[at] = position
    for folder in sorted(by_folder):
        rng.shuffle(by_folder[folder])
    total = sum(map(math.sqrt, seen.values()))
    pool: list[int] = []
    for folder in sorted(by_folder):
        share = math.ceil(most * math.sqrt(seen[folder]) / total)
        pool += by_folder[folder][:share]
    return sorted(pool)


class Topics:
    """Topics of a corpus, found on a part of it: the centres of hashed words that texts gather round."""

    def __init__(self, corpus: Corpus, pool: Sequence[int], rng: random.Random) -> None:
        self.count = max(1, min(_MAX_TOPICS, math.isqrt(len(pool) // 2)))
        if self.count == 1:
            return
        # topics need only be found roughly; every document is then assigned to one
        learned = rng.sample(list(pool), min(_TOPIC_DOCUMENTS, len(pool)))
        counts = np.stack([_hash_words(corpus[position].text) for position in learned])
        self._rarity = np.log1p(len(learned) / (1 + (counts > 0).sum(axis=0))).astype(np.float32)
        self._centres = find_centres(normalise_vectors(counts * self._rarity), self.count, rng)

    def find_topic(self, text: str) -> int:
        """The topic of a text: the nearest centre."""
        if self.count == 1:
            return 0
        vector = normalise_vectors((_hash_words(text) * self._rarity)[None, :])[0]
        return int(np.argmax(self._centres @ vector))


def find_centres(vectors: Floats, count: int, rng: random.Random) -> Floats:
    """Spherical k-means, started with texts far from one another."""
    chosen = [rng.randrange(len(vectors))]
    likeness = vectors @ vectors[chosen[0]]
    while len(chosen) < count:
        chosen.append(int(np.argmin(likeness)))
        likeness = np.maximum(likeness, vectors @ vectors[chosen[-1]])
    centres = vectors[chosen]
    for _ in range(8):
        nearest = np.argmax(vectors @ centres.T, axis=1)
        # a centre that nobody is near to stays where it is
        centres = np.stack(
            [
                vectors[nearest == n].sum(axis=0) if (nearest == n).any() else centres[n]
                for n in range(count)
            ]
        )
        centres = normalise_vectors(centres)
    return centres


def _hash_words(text: str) -> Floats:
    """How often words fall into each slot of the vector; the square root, so that one word does not decide."""
    vector = np.zeros(_VECTOR_LENGTH, np.float32)
    for word, times in Counter(_WORD.findall(fold_text(text[:_TOPIC_CHARS]))).items():
        # seven letters stand for the stem; crc32, because hash() differs from process to process
        vector[zlib.crc32(word[:7].encode("utf-8", "surrogatepass")) % _VECTOR_LENGTH] += times
    return np.sqrt(vector)


def normalise_vectors(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)
