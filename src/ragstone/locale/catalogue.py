"""The catalogue of words: `locale/<language>/<file>.toml`, flat tables of `key = "text with {placeholders}"`.

A file is read when one of its keys is first wanted. Plurals are two keys, `key.one` and `key.many`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

LANGUAGES = ("en", "es")
"""Languages that have a folder; the first is the default, in which exports are written and messages composed."""

REPORT_FILES = (
    "report", "opening", "failures", "comparison", "drawing", "checkup", "monitor", "starter", "labels",
    "testing", "view",
)  # fmt: skip
"""Files searched for a phrase in this order, the likeliest first; a later file is read only when all earlier lack it.

A key must stand in one of them only: a second one would never be found."""


@lru_cache
def load_phrases(language: str, file: str) -> Mapping[str, str]:
    """The phrases of one file in one language."""
    import tomllib  # imported here: neither `import ragstone` nor `--help` needs it

    text = (LOCALE_FOLDER / language / f"{file}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def load_meanings(language: str) -> Mapping[str, str]:
    """What each metric means, by its family; nothing in English, where it is the docstring of the metric."""
    return {} if language == LANGUAGES[0] else load_phrases(language, "metrics")


def find_phrase(language: str, key: str) -> str | None:
    """A phrase of the reports, or None when no file has the key."""
    for file in REPORT_FILES:
        phrase = load_phrases(language, file).get(key)
        if phrase is not None:
            return phrase
    return None


LOCALE_FOLDER = Path(__file__).parent
