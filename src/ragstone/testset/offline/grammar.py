"""The shape of a grammar: word lists, patterns and question templates. english.py and spanish.py fill it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Grammar:
    """The tables of one language."""

    language: str
    definition: re.Pattern[str]
    """A sentence that says what its `subject` is."""
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
    templates: Mapping[str, str]
    """Questions and frames by name."""
    glossary: re.Pattern[str]
    """Titles and headings of glossaries."""
    subject_fixes: Sequence[tuple[str, str]] = field(default=())
    """Regular expressions and replacements that every question passes: `de el` → `del`."""

    def fix_question(self, question: str) -> str:
        """The question with the language's contractions, its first letter large."""
        for pattern, replacement in self.subject_fixes:
            question = re.sub(pattern, replacement, question)
        at = 1 if question[:1] == "¿" else 0
        return question[:at] + question[at : at + 1].upper() + question[at + 1 :]
