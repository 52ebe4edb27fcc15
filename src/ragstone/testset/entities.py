"""Names that two documents share: the edges of a small graph of entities, found by search instead of being stored."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

NearestPassages = Callable[[str, int, frozenset[str]], Sequence[tuple[str, str]]]
"""Text, how many, which documents not → id and text of the nearest passages of the corpus."""
MAX_NAMES = 6
"""Names of a document that are looked for elsewhere."""
PASSAGES_A_NAME = 3
_NAME = re.compile(
    r"(?<=[a-zñáéíóú,;] )(?:[A-ZÁÉÍÓÚÑ][\w’-]+(?: (?:(?:of|de|del|the|la) )?[A-ZÁÉÍÓÚÑ][\w’-]+){0,3})"
    r"|`([^`\n]{3,40})`"
)
"""A name inside a sentence, or a span of code."""


def list_names(text: str) -> list[str]:
    """Names of a text, those of several words first, then the ones it writes most seldom: they tell most."""
    names = Counter((match[1] or match[0]).strip() for match in _NAME.finditer(text))
    return sorted(names, key=lambda name: (-len(name.split()), names[name], name))


def find_shared_name(
    text: str, document: str, nearest: NearestPassages
) -> tuple[str, str, str] | None:
    """A name of this text that another document writes too: the name, that document, and its passage; None when
    none is."""
    for name in list_names(text)[:MAX_NAMES]:
        for other, passage in nearest(name, PASSAGES_A_NAME, frozenset({document})):
            if name in passage:
                return name, other, passage
    return None
