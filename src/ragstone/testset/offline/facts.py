"""A fact: one thing a sentence states, with the question it answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragstone.testset.spans import Token, shown


def even(text: str) -> str:
    """The text with every run of white space as one blank: tables and wrapped lines leave their own."""
    return " ".join(text.split())


def ended(answer: str) -> str:
    """An answer without the sign that leads on to what it is cut from."""
    return even(answer).rstrip(" ;:")


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence as a fact is read from it."""

    text: str
    start: int
    """Where it stands in its document."""
    tokens: tuple[Token, ...]
    subject: str
    """What a pronoun at its start stands for; empty when nothing is known."""
    plural: bool
    """Whether that is more than one."""
    names: frozenset[str]
    """Words of the document that are names."""
    people: frozenset[str]
    """Names of the document that are people's."""
    common: frozenset[str]
    """Words of the document that also stand there without a capital."""

    def say(self, first: int, last: int) -> str:
        """The tokens as written."""
        return shown(self.text, self.tokens[first:last])

    def raw(self, first: int, last: int) -> str:
        """The text from one token to another as it stands, white space made even."""
        return even(self.text[self.tokens[first].start : self.tokens[last - 1].end])


@dataclass(frozen=True, slots=True)
class Fact:
    """A question with the answer a sentence gives, before it becomes an item."""

    question: str
    answer: str
    """As it stands in the sentence."""
    sort: str
    """What is asked for: number, money, date, place, person, name, thing, reason, outcome, definition …"""
    subject: str = ""
    """What the sentence is about, as the question names it."""
    again: str = ""
    """The question as a second turn puts it, with a pronoun or nothing for the subject; empty if it cannot."""
    why: str = ""
    """The statement as a why-question with {} where the answer stands; empty if it cannot be put so."""
    negated: bool = False
    deep: bool = False
    """Whether the answer stands in a subordinate part of the sentence."""
    sentence: str = ""
    start: int = 0
    """Where the sentence stands in its document."""

    def at(self, source: Source) -> Fact:
        """The fact with the sentence it comes from, its words made even; the sentence stays as it is written."""
        return replace(
            self,
            question=even(self.question),
            answer=ended(self.answer),
            subject=even(self.subject),
            again=even(self.again),
            why=even(self.why),
            sentence=source.text,
            start=source.start,
        )
