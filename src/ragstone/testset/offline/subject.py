"""What a clause is about, as both languages read it: whether it is a name, and whether that is a person."""

from __future__ import annotations

from typing import ClassVar

from ragstone.testset.offline.facts import Source
from ragstone.testset.spans import is_person, names
from ragstone.testset.vocabulary import ROLES


class Subject:
    """The part of a clause that its language has no say in; first ≤ i < close are the subject's tokens."""

    __slots__ = ()
    source: Source
    first: int
    close: int
    language: ClassVar[str]
    inner: ClassVar[frozenset[str]]
    """Words behind which a name is only a part of the subject."""

    @property
    def words(self) -> list[str]:
        """The subject's own words, lower case."""
        return [one.lower for one in self.source.tokens[self.first : self.close]]

    def names(self) -> list[tuple[int, int]]:
        """The names of the sentence."""
        return names(self.source.tokens, self.language, self.source.names)

    @property
    def named(self) -> bool:
        """Whether the subject ends in a name."""
        return any(b == self.close and self._heads(a) for a, b in self.names())

    @property
    def person(self) -> bool:
        """Whether the subject is one person."""
        source = self.source
        for a, b in self.names():
            if b == self.close and self._heads(a):
                before = source.tokens[a - 1].lower if a > self.first else ""
                if any(word in ROLES for word in self.words[: a - self.first]):
                    return True
                return is_person([one.text for one in source.tokens[a:b]], before, source.people)
        return False

    def _heads(self, name: int) -> bool:
        """Whether a name is what the subject is, not a part of it behind a preposition."""
        before = self.words[: name - self.first]
        return name >= self.first and len(before) <= 4 and self.inner.isdisjoint(before)
