"""The questions already let through, so that no test set asks the same thing twice."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.testset.items import Item
from ragstone.testset.likeness import SAME_QUESTION_SHARE
from ragstone.text.language import detect_language
from ragstone.text.terms import extract_terms

WAYS_OF_USE = {
    "typos": "dressed", "informal": "dressed", "paraphrase": "paraphrase",
    "two_in_one": "joined", "multi_document": "joined", "bridge": "joined", "comparison": "joined",
    "false_premise": "false", "cross_language": "translated",
}  # fmt: skip
"""Kind of item → how it uses a plain question; no plain question is used twice in the same way.

The values only need to differ where the ways do; kinds that are not here ask their own question."""


class PassedQuestions:
    """The questions let through, found again by their rarest words."""

    def __init__(self) -> None:
        self._word_sets: list[tuple[frozenset[str], str]] = []
        self._positions: dict[str, list[int]] = {}
        """Word → positions in `_word_sets` of the questions that have it."""
        self._used_questions: set[tuple[str, str]] = set()

    def add(self, item: Item) -> None:
        """Remember the question of an item that was let through."""
        words = _extract_words(item)
        self._used_questions.update(_list_uses(item))
        for word in words:
            self._positions.setdefault(word, []).append(len(self._word_sets))
        self._word_sets.append((words, item.question))

    def find_twin(self, item: Item) -> str:
        """A question let through that shares most of its words, or uses the same plain question in the same way; else empty."""
        again = next(
            (plain for way, plain in _list_uses(item) if (way, plain) in self._used_questions), ""
        )
        if again:
            return again
        words = _extract_words(item)
        # Twins share SAME_QUESTION_SHARE of their words, so among slightly more than the rest (1 -
        # that share) at least one is shared: looking up only the rarest so many finds every twin.
        rare = sorted(words, key=lambda word: len(self._positions.get(word, ())))
        looked = rare[: max(1, len(rare) - int(SAME_QUESTION_SHARE * len(rare)) + 1)]
        for position in sorted({at for word in looked for at in self._positions.get(word, ())}):
            other, question = self._word_sets[position]
            shared = len(words & other)
            if shared >= SAME_QUESTION_SHARE * (len(words) + len(other) - shared):
                return question
        return ""


def _list_uses(item: Item) -> list[tuple[str, str]]:
    """The plain questions that an item is made of, each with the way it is used."""
    way = WAYS_OF_USE.get(item.kind)
    if way is None:
        return []
    parts = item.proof.get("parts")
    if parts:
        return [(way, str(part["question"])) for part in parts]
    return [(way, str(item.proof["plain"]))] if "plain" in item.proof else []


def _extract_words(item: Item) -> frozenset[str]:
    """The words a question is compared by; a follow-up counts with the turn before it, a slip as the plain word."""
    styled = item.style in ("formal", "informal", "terse") and item.kind != "false_premise"
    framed = item.kind in ("typos", "informal", "follow_up") or styled
    plain = str(item.proof.get("plain", item.question)) if framed else item.question
    language = detect_language(plain, item.language)
    stems: Sequence[str] = extract_terms(plain, language)
    return frozenset(stems or plain.lower().split())
