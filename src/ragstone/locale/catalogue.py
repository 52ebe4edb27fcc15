"""The catalogue of words: `locale/<language>/<file>.toml`, flat tables of `key = "text with {placeholders}"`.

A file is read when one of its keys is first wanted. Plurals are two keys, `key.one` and `key.many`, or two words within a
phrase: `{n} {n:question|questions}`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any

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


def fill_phrase(phrase: str, values: Mapping[str, Any]) -> str:
    """The phrase with its values filled in; of two words between bars the first is for a count of one."""
    return _PHRASES.vformat(phrase, (), values) if "|" in phrase else phrase.format(**values)


class _PhraseFormatter(Formatter):
    """Reads `{n:question|questions}` as the word that goes with the count."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        singular, bar, plural = format_spec.partition("|")
        if not bar:
            return super().format_field(value, format_spec)
        return singular if str(value) == "1" else plural


_PHRASES = _PhraseFormatter()
LOCALE_FOLDER = Path(__file__).parent
