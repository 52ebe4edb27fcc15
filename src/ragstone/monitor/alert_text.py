"""The sentence of an alert, from its facts and the phrases of the language catalogue (`alerts`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ragstone.locale.catalogue import LANGUAGES, fill_phrase, load_phrases

MAX_VALUE_CHARS = 120
"""Characters of a field's name or value in a sentence."""


def to_one_line(text: str, most: int = 2000) -> str:
    """A text of at most `most` characters without line breaks and control characters, which could forge log lines or control a terminal."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 2 * most])
    line = " ".join(printable.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def format_alert(facts: Mapping[str, Any], language: str = LANGUAGES[0]) -> str:
    """The sentence of an alert: `facts["phrase"]` names the phrase, the other facts are its arguments."""
    phrases = _load_phrases(language)
    arguments = _shorten_texts(facts)
    part = facts.get("part")
    # phrases within the phrase: the slice that the alert is about, and the one that explains a drop
    arguments["slice"] = phrases["slice"].format(**arguments) if facts.get("field") else ""
    arguments["part"] = phrases["part"].format(**_shorten_texts(part)) if part else ""
    if facts["phrase"] == "drop":
        # from the figures themselves, so that no sentence can say "fell" of a rise
        arguments["moved"] = phrases[f"moved.{name_direction(facts['before'], facts['after'])}"]
        is_median = facts.get("figure") == "median"
        arguments["figure"] = phrases["figure.median"] if is_median else ""
    return fill_phrase(phrases[str(facts["phrase"])], arguments)


def name_direction(before: float, after: float) -> Literal["rose", "fell", "same"]:
    """Where a figure went; whether that is worse is another question."""
    return "rose" if after > before else "fell" if after < before else "same"


def name_alert_state(state: str, language: str) -> str:
    """A state of an alert or a metric in words."""
    return _load_phrases(language).get(f"state.{state}", state)


def _load_phrases(language: str) -> Mapping[str, str]:
    return load_phrases(language if language in LANGUAGES else LANGUAGES[0], "alerts")


def _shorten_texts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts with every text cut to MAX_VALUE_CHARS and on one line: some are names and values of meta fields, which callers choose."""
    return {
        key: to_one_line(value, MAX_VALUE_CHARS) if isinstance(value, str) else value
        for key, value in facts.items()
    }
