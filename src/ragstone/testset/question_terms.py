"""The stems by which questions are compared: of words that carry meaning, without those that only ask."""

from __future__ import annotations

import re
from functools import lru_cache

from ragstone.text.clause_words import to_word_set
from ragstone.text.terms import extract_terms
from ragstone.text.words import fold_text

# words that ask, not what is asked about
_ASKING = {
    "en": to_word_set(
        "who whom whose what when where which why how many much long soon far old does did do "
        "happen percentage time condition example examples stand tell mean"
    ),
    "es": to_word_set(
        "quien quién quienes qué cuándo dónde cuál cuáles por cómo cuánto cuánta cuántos cuántas "
        "hora horario año tiempo durante caso pasa ocurre significan porcentaje"
    ),
}


@lru_cache(maxsize=20_000)
def extract_content_stems(text: str, language: str) -> tuple[str, ...]:
    """The stems of the words that carry meaning, each once, in order."""
    return tuple(dict.fromkeys(extract_terms(text, language)))


@lru_cache(maxsize=4)
def _collect_asking_stems(language: str) -> frozenset[str]:
    return (
        frozenset(stem for word in _ASKING[language] for stem in extract_terms(word, language))
        | _ASKING[language]
    )


@lru_cache(maxsize=20_000)
def extract_question_stems(question: str, language: str) -> tuple[str, ...]:
    """Stems of what a question is about: its content words without those that ask; all of them if none is left."""
    dropped = _collect_asking_stems(language)
    stems = tuple(stem for stem in extract_content_stems(question, language) if stem not in dropped)
    return stems or extract_content_stems(question, language)


_OPENERS = (
    "how",
    "why",
    "when",
    "where",
    "who",
    "which",
    "what",
    "cómo",
    "por qué",
    "cuándo",
    "dónde",
    "quién",
    "cuál",
    "cuánto",
    "cuánta",
    "qué",
)


def find_opener(question: str) -> str:
    """The word that a question asks with, wherever it stands among its first; empty where it wants a yes or a no."""
    words = f" {' '.join(fold_text(question).replace('¿', ' ').split()[:8])} "
    return next((opener for opener in _OPENERS if f" {opener}" in words), "")


def compute_question_key(question: str, language: str) -> str:
    """The same for questions in the same words: with what is asked, and the words of meaning in whatever order."""
    stems = extract_question_stems(question, language) or (fold_text(question),)
    denies = re.search(r"\b(?:not|n't|never|no|nunca|sin|without)\b|n['’]t\b", question.lower())
    return f"{find_opener(question)}|{'not' if denies else ''}|{' '.join(sorted(stems))}"
