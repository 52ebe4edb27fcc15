"""A text cut into words, numerals and signs, with the neighbours that a reader of quantities asks for. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.text.quantities.vocabulary import Vocabulary
from ragstone.text.verbs import NOUN_LIKE, find_verb_form


@dataclass(frozen=True, slots=True)
class QuantityTokens:
    """The tokens of one text; `at` is an index of a token, and before the first and after the last one words are empty."""

    text: str
    vocabulary: Vocabulary
    words: list[str]
    """In small letters."""
    spans: list[tuple[int, int]]

    @classmethod
    def cut(cls, text: str, vocabulary: Vocabulary) -> QuantityTokens:
        matches = list(vocabulary.token.finditer(text))
        words = [match.group().lower() for match in matches]
        return cls(text, vocabulary, words, [match.span() for match in matches])

    @property
    def starters(self) -> list[int]:
        """Indexes of the tokens with which a quantity may begin."""
        known = self.vocabulary.starters
        return [at for at, word in enumerate(self.words) if word in known or word[0].isdecimal()]

    def word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def raw(self, at: int) -> str:
        if not 0 <= at < len(self.words):
            return ""
        start, end = self.spans[at]
        return self.text[start:end]

    def gap(self, at: int) -> str:
        """What stands between a token and the next; a full stop at the ends of the text."""
        if not 0 <= at < len(self.words) - 1:
            return "."
        return self.text[self.spans[at][1] : self.spans[at + 1][0]]

    def is_joined(self, at: int) -> bool:
        """Whether nothing but a space or a hyphen parts a token from the next."""
        return self.gap(at) in _JOINTS

    def is_noun_after(self, end: int) -> bool:
        """Whether a noun may follow that the number before it counts: a las dos hermanas."""
        word = self.word(end)
        if not self.is_joined(end - 1) or not word.isalpha() or word in self.vocabulary.stop:
            return False
        # children over six take one
        is_verb = word not in NOUN_LIKE and find_verb_form(word, "en") == "base"
        return self.vocabulary.is_spanish or not is_verb

    def index_at(self, offset: int, at: int) -> int:
        """The first token from `at` on that starts at an offset of the text or after it."""
        while at < len(self.spans) and self.spans[at][0] < offset:
            at += 1
        return at


_JOINTS = frozenset(["", " ", "-", "\u00a0", "\u202f", "‑", "  ", "\n"])
