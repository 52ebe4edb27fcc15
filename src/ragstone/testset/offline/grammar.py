"""The shape of a grammar: word lists, sentence patterns and question templates. english.py and spanish.py fill it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.testset.spans import MONTH

YEAR = r"(?:1[5-9]\d\d|20[0-4]\d)"
DATE = {
    "en": rf"(?:\d{{1,2}} (?:{MONTH['en']})(?:,? {YEAR})?|(?:{MONTH['en']})(?: \d{{1,2}}(?:st|nd|rd|th)?,?)? {YEAR}|{YEAR})",
    "es": rf"(?:\d{{1,2}} de (?:{MONTH['es']})(?: de {YEAR})?|(?:{MONTH['es']}) de {YEAR}|{YEAR})",
}
# a format string: `words` is filled with the number words of a language
NUMBER = r"(?:(?:more than|at least|up to|about|más de|hasta|al menos|unos|unas) )?(?:\d[\d.,]*(?<![.,])|{words})"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A clause of one form and the question it answers."""

    name: str
    sentence: re.Pattern[str]
    """Matches the whole clause; the groups `subject` and `answer` are what the question is about and what it asks for."""
    question: str
    """A template over the groups, and over what clauses._inflect_parts adds (`{base}`: plain form of the group `verb`)."""
    reference: str
    """A template over the same."""


@dataclass(frozen=True)
class Grammar:
    """The tables of one language."""

    language: str
    definition: re.Pattern[str]
    """A sentence that says what its `subject` is."""
    predicates: Sequence[Pattern]
    """Patterns of single clauses, as Clause.to_row writes them; the first that matches is used, so that their order matters."""
    articles: frozenset[str]
    closed_words: frozenset[str]
    """Words that cannot stand inside a simple noun phrase."""
    links: frozenset[str]
    """Prepositions that may join two nouns of one phrase: `gifts to clients`."""
    bad_starts: frozenset[str]
    """First words of a sentence or phrase that lean on what stands before it."""
    question_pointers: re.Pattern[str]
    """Words that point at something outside of a question: this, above."""
    reference_pointers: re.Pattern[str]
    """The same for a reference, which may say a little more."""
    first_person: re.Pattern[str]
    """`We` and its forms: clear only in a document that says whose it is."""
    leaning_start: re.Pattern[str]
    """A reference that begins so lacks its noun."""
    dangling_end: frozenset[str]
    """Words that no phrase ends with."""
    time_questions: Mapping[str, str]
    """Preposition of a time → what asks for it; the empty one for all others."""
    task: re.Pattern[str]
    """A heading that names a task, by its `verb` and the `rest`: `How to mount a disk`, `Mounting a disk`."""
    own_words: Mapping[str, str]
    """Words by which a heading speaks to its reader → those of the reader: your → my."""
    manual_heading: re.Pattern[str]
    """Headings of a manual page under which its options stand."""
    commands_heading: re.Pattern[str]
    """Headings under which a command has commands of its own, with options of theirs."""
    before_verb: re.Pattern[str]
    """What may stand before the verb of a description: `Do not`, `Only`."""
    verb_words: frozenset[str]
    """Words that are verbs at the beginning of a description, though nouns elsewhere."""
    verb_start: re.Pattern[str]
    """A word that is a verb because of its ending and the word behind it: `Prunes the`."""
    after_noun: frozenset[str]
    """Words behind which the first word of a description was a noun: `Control of`."""
    order_start: re.Pattern[str]
    """A description that begins so tells its reader what to do, not what the thing does."""
    infinitive: re.Pattern[str]
    """A description that begins so says what the thing is for."""
    self_reference: re.Pattern[str]
    """How a description names the thing that it describes: `This option`."""
    conditional_start: re.Pattern[str]
    """A description that begins so tells one case of several."""
    templates: Mapping[str, str]
    """Questions and frames by name."""
    noun_ends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Article → ends of the nouns that have it, the first that fits counts; empty for a language that needs none."""
    subject_fixes: Sequence[tuple[str, str]] = field(default=())
    """Regular expressions and replacements that every question passes: `de el` → `del`."""

    def to_own_words(self, task: str) -> str:
        """A task as its reader puts it: `change your password` → `change my password`."""
        for yours, mine in self.own_words.items():
            # in Spanish `su` is the reader's only as the object of the task: not in `buscar un objeto por su nombre`
            before = r"(?<=[aei]r )" if self.language == "es" else r"\b"
            task = re.sub(rf"(?:{before}){yours}\b(?! vez)", mine, task)
        return task

    def add_article(self, topic: str) -> str:
        """A topic as a sentence names it: with its article in Spanish, where the end of the noun tells which; else empty."""
        first = topic.split()[0]
        if not self.noun_ends or first in self.articles or not first.islower():
            return topic
        article = next((word for word, ends in self.noun_ends.items() if first.endswith(ends)), "")
        return f"{article} {topic}" if article else ""

    def fix_question(self, question: str) -> str:
        """The question with the language's contractions, its first letter large."""
        for pattern, replacement in self.subject_fixes:
            question = re.sub(pattern, replacement, question)
        at = 1 if question[:1] == "¿" else 0
        return question[:at] + question[at : at + 1].upper() + question[at + 1 :]


def fill_names(expression: str, names: Mapping[str, str]) -> str:
    """A regular expression with `@name` replaced by the expression of that name; no name may begin with one before it."""
    for part, value in names.items():
        # Not format strings: regular expressions are full of braces.
        expression = expression.replace(f"@{part}", value)
    return expression


def compile_patterns(
    rows: Sequence[tuple[str, str, str, str]], names: Mapping[str, str]
) -> list[Pattern]:
    """Patterns from rows of name, regular expression (see fill_names), question and reference."""
    return [
        Pattern(name, re.compile(fill_names(sentence, names)), question, reference)
        for name, sentence, question, reference in rows
    ]
