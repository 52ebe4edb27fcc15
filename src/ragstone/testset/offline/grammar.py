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
    """A sentence of one form and the question it answers."""

    name: str
    kind: str
    """`factual` or `conceptual`."""
    sentence: re.Pattern[str]
    """Matches the whole sentence; the group `subject` is what the question is about."""
    question: str
    """A template over the groups, and over what clauses._inflect_parts adds (`{base}`: plain form of the group `verb`)."""
    reference: str = ""
    """A template over the groups; empty for the whole sentence."""


@dataclass(frozen=True)
class Grammar:
    """The tables of one language."""

    language: str
    patterns: Sequence[Pattern]
    """The first that matches a sentence is used, so that their order matters."""
    predicates: Sequence[Pattern]
    """The same for single clauses, as Clause.to_row writes them; every clause that matches gives a question."""
    apposition: re.Pattern[str]
    """A role with its person, in either order: `the warden, Ishbel Craig,`."""
    advice: re.Pattern[str]
    """What the reader should do (`first`, `rest`) in a case of theirs (`case`)."""
    articles: frozenset[str]
    closed_words: frozenset[str]
    """Words that cannot stand inside a simple noun phrase."""
    links: frozenset[str]
    """Prepositions that may join two nouns of one phrase."""
    wide_links: frozenset[str]
    """The same in ordinary prose: `gifts to clients`."""
    vague_nouns: frozenset[str]
    """Heads that name nothing in particular: result, goal, first step."""
    bad_starts: frozenset[str]
    """First words of a sentence or phrase that lean on what stands before it."""
    question_pointers: re.Pattern[str]
    """Words that point at something outside of a question: this, above."""
    reference_pointers: re.Pattern[str]
    """The same for a reference, which may say a little more."""
    next_step: re.Pattern[str]
    """A sentence that begins so goes on with the instruction before it."""
    first_person: re.Pattern[str]
    """`We` and its forms: clear only in a document that says whose it is."""
    leaning_start: re.Pattern[str]
    """A reference that begins so lacks its noun."""
    dangling_end: frozenset[str]
    """Words that no phrase ends with."""
    openers: re.Pattern[str]
    """Words that link a sentence to the one before and can be dropped: `However,`."""
    time_questions: Mapping[str, str]
    """Preposition of a time → what asks for it; the empty one for all others."""
    task_verbs: Mapping[str, str]
    """First word of a heading that names a task (a gerund, a verbal noun, a verb) → the plain verb."""
    own_words: Mapping[str, str]
    """Words by which a heading speaks to its reader → those of the reader: your → my."""
    task_prefix: re.Pattern[str]
    """`How to …`."""
    manual_heading: re.Pattern[str]
    """Headings of a manual page under which its options stand."""
    option_start: re.Pattern[str]
    """How the description of an option begins."""
    value_columns: re.Pattern[str]
    """Columns that hold an attribute of what their row is about."""
    verb_start: re.Pattern[str]
    """A description that begins with a verb says what a thing does."""
    third_person: re.Pattern[str]
    """A description that begins with a verb of the thing itself, not with an order to the reader."""
    background_start: re.Pattern[str]
    """A description that begins so tells about the usual case, not about the thing itself."""
    self_reference: re.Pattern[str]
    """How a description names the thing that it describes: `This option`."""
    conditional_start: re.Pattern[str]
    """A description that begins so tells one case of several."""
    telling_verbs: frozenset[str]
    """Verbs that say what a thing holds rather than what it does: contains, specifies."""
    finite_verbs: frozenset[str]
    """Verbs that show that a description is a sentence, not a noun phrase."""
    noun_start: re.Pattern[str]
    """A description that begins with a noun phrase says what a thing is."""
    attributes: Sequence[tuple[re.Pattern[str], re.Pattern[str], str]]
    """Sort of thing (matched in a definition), words that would tell the attribute, question for it; for near misses."""
    templates: Mapping[str, str]
    """Questions by name: option, does, what_is, purpose, default, cell, task, follow_up, compare, stands_for …"""
    subject_fixes: Sequence[tuple[str, str]] = field(default=())
    """Regular expressions and replacements that every question passes: `de el` → `del`."""

    def to_own_words(self, task: str) -> str:
        """A task as its reader puts it: `change your password` → `change my password`."""
        for yours, mine in self.own_words.items():
            # in Spanish `su` is the reader's only as the object of the task: not in `buscar un objeto por su nombre`
            before = r"(?<=[aei]r )" if self.language == "es" else r"\b"
            task = re.sub(rf"(?:{before}){yours}\b(?! vez)", mine, task)
        return task

    def fix_question(self, question: str) -> str:
        """The question with the language's contractions, its first letter large."""
        for pattern, replacement in self.subject_fixes:
            question = re.sub(pattern, replacement, question)
        at = 1 if question[:1] == "¿" else 0
        return question[:at] + question[at : at + 1].upper() + question[at + 1 :]


def parse_pairs(text: str) -> dict[str, str]:
    """`a=b c=d` as a mapping."""
    return dict(pair.split("=") for pair in text.split())


def fill_names(expression: str, names: Mapping[str, str]) -> str:
    """A regular expression with `@name` replaced by the expression of that name; no name may begin with one before it."""
    for part, value in names.items():
        # Not format strings: regular expressions are full of braces.
        expression = expression.replace(f"@{part}", value)
    return expression


def compile_patterns(
    rows: Sequence[tuple[str, str, str, str, str]], names: Mapping[str, str]
) -> list[Pattern]:
    """Patterns from rows of name, kind, regular expression (see fill_names), question and reference."""
    return [
        Pattern(name, kind, re.compile(fill_names(sentence, names)), question, reference)
        for name, kind, sentence, question, reference in rows
    ]
