"""Built-in benchmark corpora: documents and questions written for ragstone, as files in the package.

`counties`: twelve invented organisations (shops, libraries, parks, hospitals, bicycles, electricity), half of them
English, half Spanish. Questions are of type `fact`, `near` (another document says almost the same of something
else), `graded` (several documents answer it), `multi` (two documents are needed), `cross` (asked in the other language)
and `impossible` (no document answers it)."""

from __future__ import annotations

from pathlib import Path

from ragstone.errors import DataError, suggest_nearest

_HERE = Path(__file__).parent
CORPORA = tuple(sorted(path.parent.name for path in _HERE.glob("*/documents.jsonl")))
"""Names of the built-in corpora."""
DEFAULT = "counties"


def documents(name: str = DEFAULT) -> Path:
    """The documents of a corpus: one `{"id", "title", "text", "language"}` per line."""
    return _find_file(name, "documents.jsonl")


def questions(name: str = DEFAULT) -> Path:
    """The questions of a corpus, with references and graded relevant documents."""
    return _find_file(name, "questions.jsonl")


def _find_file(name: str, kind: str) -> Path:
    if name not in CORPORA:
        raise DataError(f"no built-in corpus {name!r}{suggest_nearest(name, CORPORA)}")
    return _HERE / name / kind
