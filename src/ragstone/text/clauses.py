"""Sentences cut into clauses and predicates that can be checked one by one, each with the subject it belongs to.

No part-of-speech tagger: a cut is made where closed word classes and verb forms leave no doubt, and nowhere else. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ragstone.text.clause_words import CLAUSE_WORDS, ClauseWords
from ragstone.text.verb_forms import EN_INTRANSITIVES, EN_MODALS, ES_MODALS, ES_SUBJUNCTIVES
from ragstone.text.verbs import NOUN_LIKE, WORD, VerbForm, find_verb_form

Span = tuple[int, int]

MAX_SUBJECT_WORDS = 12
"""A longer subject is no subject but a clause that was not understood."""
MAX_WORDS_TO_VERB = 8
"""How far the verb of a new clause is from its start."""
MAX_ADVERBS = 3
"""Adverbs and clitics between a conjunction and its verb."""


def cut_clauses(sentence: str, language: str) -> list[tuple[Span, ...]]:
    """Return the spans that make each statement: what it takes over from an earlier one, then its own words."""
    if not any(mark in sentence for mark in _JOINT_MARKS):
        return [((0, len(sentence)),)]
    return _Cutter(sentence, language).cut()


def has_clause(text: str, language: str) -> bool:
    """Whether the text has a verb of its own, so that it states something and does not only name it."""
    cutter = _Cutter(text, language)
    return cutter.find_verb(cutter.tokens) is not None


class _Token(NamedTuple):
    text: str
    """In lower case."""
    start: int
    end: int
    form: VerbForm
    capital: bool


@dataclass(frozen=True, slots=True)
class _Left:
    """What stands before a joint, back to the start of its clause."""

    tokens: Sequence[_Token]
    verb: int | None
    """Index in `tokens` of the verb that the subject stands before; None when no verb is seen, and then nothing else."""
    subject: Span | None
    """None when the words before the verb are no simple phrase."""
    is_blocked: bool
    """Whether a clause inside this one may go on after the joint."""


class _Cutter:
    """One sentence while it is cut."""

    def __init__(self, sentence: str, language: str) -> None:
        self.sentence = sentence
        self.language = language if language in CLAUSE_WORDS else "en"
        self.words: ClauseWords = CLAUSE_WORDS[self.language]
        self.modals = _MODALS[self.language]
        self.tokens = _tokenize(sentence, self.language)
        self.clause_start = 0
        self.start = 0
        """Where the piece that is being read starts; `clause_start` is before it when it shares a subject."""
        self.carried: tuple[Span, ...] = ()
        """What that piece takes over from those before it: nothing, the subject, or subject and auxiliary."""

    def cut(self) -> list[tuple[Span, ...]]:
        pieces: list[tuple[Span, ...]] = []
        is_comma: list[bool] = []
        for joint in _compile(self.words.joint_pattern).finditer(self.sentence):
            carried = self._judge_joint(joint)
            if carried is None:
                continue
            pieces.append((*self.carried, (self.start, joint.start())))
            is_comma.append(bool(joint["comma"]))
            self.start, self.carried = joint.end(), carried
            if not carried:
                self.clause_start = joint.end()
        pieces.append((*self.carried, (self.start, len(self.sentence))))
        return _join_open_lists(pieces, is_comma)

    def _judge_joint(self, joint: re.Match[str]) -> tuple[Span, ...] | None:
        """What the words after a joint take over from those before; empty for a clause of its own, None for no cut."""
        right = self._between(joint.end(), len(self.sentence))
        if len(right) < 2 or self._is_inside(joint.start()):
            return None
        left = self._read_left(joint.start())
        if left.verb is None:
            return None
        mark = joint.group().strip()
        has_stop = mark.startswith((",", ";")) and not joint["comma"]
        is_phrase = left.is_blocked or self._is_phrase(left, right)
        if (has_stop or not is_phrase) and self._starts_clause(right, has_stop):
            return ()
        if mark.startswith(";"):
            return None
        if left.is_blocked or left.subject is None:
            return None
        return self._carry(left, right, is_comma=bool(joint["comma"]))

    def _starts_clause(self, right: Sequence[_Token], after_stop: bool) -> bool:
        """Whether a subject with a verb of its own follows."""
        first = right[0]
        is_noun = not (
            first.form or first.text.endswith("ing") or first.text in self.words.subordinators
        )
        if after_stop and right[1].text in self.words.auxiliaries and is_noun:
            return True
        if self._is_plural_with_verb(right, after_stop):
            return True
        if not (first.text in self.words.starters or first.capital or first.text[0].isdigit()):
            return False
        has_adverb = first.text in self.words.adverbs
        if first.form == "finite" or (has_adverb and right[1].form == "finite"):
            return False  # Spanish: se procesan, no tiene
        return self._has_verb_near(right, after_stop)

    def _has_verb_near(self, right: Sequence[_Token], after_stop: bool) -> bool:
        """Whether a verb follows before the phrase that the words start with is broken."""
        for index, token in enumerate(right[1:MAX_WORDS_TO_VERB], 1):
            before = right[index - 1]
            is_broken = token.text in _CONJUNCTIONS or token.text in self.words.subordinators
            if is_broken or self._has_stop(before, token):
                return False
            if token.form == "finite" and not token.capital:
                return True
            if token.form == "noun_like" and self._is_verb_of(before, right[index + 1 :]):
                return True
            if token.form in ("past", "noun_like") and after_stop and not self._is_bound(before):
                return index + 1 == len(right) or self._is_past_verb(right[index + 1])
        return False

    def _is_verb_of(self, subject: _Token, after: Sequence[_Token]) -> bool:
        """Whether a word that may be a plural is the verb of the word before: it closes, the shop closes at 6."""
        is_pronoun = subject.text in self.words.starters - self.words.determiners
        return is_pronoun or (
            bool(after) and not self._is_bound(subject) and self._follows_verb(after[0])
        )

    def _is_plural_with_verb(self, right: Sequence[_Token], after_stop: bool) -> bool:
        """Whether a bare plural and its verb follow, without a comma also an object: students pay 28 euros."""
        if self.language != "en" or len(right) < 3:
            return False
        subject, verb, after = right[:3]
        is_plural = subject.text in _IRREGULAR_PLURALS or (
            subject.text.endswith("s") and not subject.form and not subject.capital
        )
        has_object = after_stop or self._is_complement(after, strict=True)
        return is_plural and verb.form == "base" and has_object

    def _carry(
        self, left: _Left, right: Sequence[_Token], is_comma: bool
    ) -> tuple[Span, ...] | None:
        """The subject, and the auxiliary where the predicate on the right shares it; None when none starts there."""
        assert left.subject is not None
        verb, after = self._skip_adverbs(right)
        if verb.capital or verb.text in _SUBJUNCTIVES:
            return None
        if verb.text in _IMPERSONAL:
            return ()
        is_helper = verb.text in self.words.auxiliaries or verb.text in self.modals
        if self._shares_object(left) and not (verb.form == "finite" and is_helper):
            return None
        if verb.form == "finite":
            return (left.subject,)
        if after is None:
            return None
        if verb.form in ("past", "participle"):
            return self._carry_past(left.subject, verb, after, is_comma)
        if verb.form in ("base", "infinitive"):
            return self._carry_base(left, verb, after)
        return (left.subject,) if verb.form == "noun_like" and self._follows_verb(after) else None

    def _follows_verb(self, token: _Token) -> bool:
        """Whether a word follows no plural: an object, or an hour (closes at 6 pm)."""
        is_hour = _HOUR.match(self.sentence, token.start) is not None
        return is_hour or self._is_complement(token, strict=True)

    def _skip_adverbs(self, tokens: Sequence[_Token]) -> tuple[_Token, _Token | None]:
        """The word after the adverbs and clitics, and the next one."""
        index = 0
        while index < min(MAX_ADVERBS, len(tokens) - 1) and self._is_adverb(tokens[index]):
            index += 1
        return tokens[index], next(iter(tokens[index + 1 : index + 2]), None)

    def _carry_past(
        self, subject: Span, verb: _Token, after: _Token, is_comma: bool
    ) -> tuple[Span, ...] | None:
        if not self._is_complement(after, strict=False):
            return None
        if is_comma and after.text in _AFTER_PARTICIPLE:
            return None  # moved to Paris, attracted by the light
        helper = self._find_helper() or self._find_copula(subject)
        has_object = self._is_complement(after, strict=True) or after.capital
        if helper is not None:
            is_perfect = self.sentence[helper[0] : helper[1]].lower() in _PERFECT
            if is_perfect or (verb.text not in _INTRANSITIVES and not has_object):
                return (subject, helper)
        return (subject,) if verb.form == "past" else None

    def _carry_base(self, left: _Left, verb: _Token, after: _Token) -> tuple[Span, ...] | None:
        """A base form goes on where `can` or `to` stood: you can return it and get a refund."""
        assert left.subject is not None
        if verb.text in NOUN_LIKE and not self._is_complement(after, strict=True):
            return None
        for first, second in reversed(list(pairwise(left.tokens))):
            if first.text in self.modals and second.form == verb.form:
                return ((left.subject[0], first.end),)
        return None

    def _find_helper(self) -> Span | None:
        """The auxiliary of the predicate that is being read, when a participle follows it."""
        if len(self.carried) > 1:
            return self.carried[-1]
        predicate = self._between(self.start, len(self.sentence))
        first = next(
            (n for n, token in enumerate(predicate) if token.text in self.words.auxiliaries), None
        )
        if first is None:
            return None
        last = index = first
        while index + 1 < len(predicate) and (
            predicate[index + 1].text in self.words.auxiliaries
            or self._is_adverb(predicate[index + 1])
        ):
            index += 1
            last = index if predicate[index].text in self.words.auxiliaries else last
        if index + 1 == len(predicate) or predicate[index + 1].form not in ("past", "participle"):
            return None
        if predicate[index + 1].text == "born":
            return None  # was born in Ulm and died in Princeton
        if first and predicate[first - 1].text in self.modals:
            first -= 1
        return predicate[first].start, predicate[last].end

    def _find_copula(self, subject: Span) -> Span | None:
        """`is` after the subject, which an adjective that looks like a past shares: is cheap and well located in."""
        following = next((token for token in self.tokens if token.start >= subject[1]), None)
        is_copula = following is not None and following.text in _COPULAS
        return (following.start, following.end) if following and is_copula else None

    def _shares_object(self, left: _Left) -> bool:
        """Whether the left side ends with its verb, whose object then stands on the right: wrote and directed it."""
        last = left.tokens[-1]
        if last.form in ("finite", "base", "infinitive") or left.verb == len(left.tokens) - 1:
            return not last.capital
        before = left.tokens[-2] if len(left.tokens) > 1 else last
        return last.form in ("past", "participle") and before.form == "finite"

    def _is_complement(self, token: _Token, strict: bool) -> bool:
        """Whether a word can follow a verb and not the adjective that looks like it; `strict`: only as its object."""
        is_object = token.text in self.words.determiners or token.text in self.words.objects
        if is_object or token.text[0].isdigit():
            return True
        if strict:
            return False
        return token.text in self.words.prepositions or token.capital or self._is_adverb(token)

    def _is_adverb(self, token: _Token) -> bool:
        is_derived = token.text.endswith(("ly", "mente")) and not token.capital
        return token.text in self.words.adverbs or is_derived

    def _is_bound(self, token: _Token) -> bool:
        return token.text in self.words.determiners or token.text in self.words.prepositions

    def _read_left(self, end: int) -> _Left:
        """The clause up to a joint, without an introductory phrase."""
        tokens = self._between(self.clause_start, end)
        if tokens and tokens[0].text in self.words.openers:
            comma = self.sentence.find(",", self.clause_start, end)
            tokens = self._between(comma, end) if comma >= 0 else []
        verb = self.find_verb(tokens)
        if verb is None:
            return _Left(tokens, None, None, False)
        is_blocked = any(
            token.text in self.words.subordinators
            or (
                token.text in self.words.time_conjunctions
                and self._has_clause_near(tokens[index + 1 :])
            )
            for index, token in enumerate(tokens)
        )
        return _Left(tokens, verb, self._find_subject(tokens, verb), is_blocked)

    def _has_clause_near(self, tokens: Sequence[_Token]) -> bool:
        near = tokens[1:MAX_WORDS_TO_VERB]
        return any(
            token.form in ("finite", "past") and not token.capital and not self._is_bound(before)
            for before, token in zip(tokens, near, strict=False)
        )

    def _is_phrase(self, left: _Left, right: Sequence[_Token]) -> bool:
        """Whether a conjunction may join words and not clauses: 1796 and 1798, Pesos y Medidas, a series of things."""
        last, first = left.tokens[-1], right[0]
        if len(right) > 1 and first.capital and right[1].text in self.words.auxiliaries:
            return False  # Basic has 5 GB and Plus has 50 GB
        if (last.capital and first.capital) or (last.text[0].isdigit() and first.text[0].isdigit()):
            return True
        after_verb = left.tokens[(left.verb or 0) + 1 :]
        joined = [n for n, token in enumerate(after_verb) if token.text in _CONJUNCTIONS]
        return bool(joined) and self.find_verb(after_verb[joined[-1] + 1 :]) is None

    def _find_subject(self, tokens: Sequence[_Token], verb: int) -> Span | None:
        before = list(tokens[:verb])
        while before and self._is_adverb(before[-1]):
            before.pop()
        if not before:
            start = tokens[verb].start
            return (start, start) if self.language == "es" else None  # who acts may be left out
        first, last = before[0].start, before[-1].end
        has_break = any(mark in self.sentence[first : tokens[verb].start] for mark in "(),;:")
        return None if has_break or len(before) > MAX_SUBJECT_WORDS else (first, last)

    def find_verb(self, tokens: Sequence[_Token]) -> int | None:
        """The index of the verb that the subject stands before: the first clear one, else the first likely one."""
        likely: int | None = None
        for index, token in enumerate(tokens):
            if token.capital and (index or self.language == "en"):
                continue
            if token.form == "finite":
                # far behind a likely verb, a clear one belongs to a clause inside
                return likely if likely is not None and likely < index - 4 else index
            if not index or self._is_bound(tokens[index - 1]):
                continue
            after = next(iter(tokens[index + 1 : index + 2]), None)
            if token.form == "past" and (after is None or self._is_past_verb(after)):
                return index
            if likely is None and self._is_likely_verb(tokens[index - 1], token, after):
                likely = index
        return likely

    def _is_likely_verb(self, before: _Token, token: _Token, after: _Token | None) -> bool:
        """Whether a word that may be a noun can be the verb here."""
        is_noun_like = token.form == "noun_like" and after is not None
        is_base = token.form == "base" and token.text not in NOUN_LIKE
        return (is_noun_like or is_base) and before.text not in self.modals

    def _is_past_verb(self, after: _Token) -> bool:
        return after.text != "by" and self._is_complement(after, strict=False)

    def _has_stop(self, left: _Token, right: _Token) -> bool:
        return any(mark in self.sentence[left.end : right.start] for mark in ",;:()")

    def _is_inside(self, index: int) -> bool:
        """Whether an offset of the sentence is inside brackets or quotation marks."""
        head = self.sentence[:index]
        is_open = any(head.count(a) > head.count(b) for a, b in ("()", "[]", "“”", "«»"))
        return is_open or head.count('"') % 2 == 1

    def _between(self, start: int, end: int) -> list[_Token]:
        first = bisect_left(self.tokens, start, key=attrgetter("start"))
        return self.tokens[first : bisect_right(self.tokens, end, key=attrgetter("end"))]


def _tokenize(sentence: str, language: str) -> list[_Token]:
    tokens: list[_Token] = []
    for match in WORD.finditer(sentence):
        text = match.group().lower()
        form = find_verb_form(text, language)
        if language == "es" and tokens and tokens[-1].text == "se" and form in ("", "noun_like"):
            form = "finite"
        if text == "am" and tokens and tokens[-1].text[0].isdigit():
            form = ""  # 10 am
        tokens.append(_Token(text, *match.span(), form, match.group()[0].isupper()))
    return tokens


def _join_open_lists(
    pieces: Sequence[tuple[Span, ...]], is_comma: Sequence[bool]
) -> list[tuple[Span, ...]]:
    """Undo cuts at bare commas that no cut at a conjunction follows: they were no list of predicates.

    `is_comma` has one entry for each cut: entry n is of the cut after piece n."""
    joined = [pieces[0]]
    for index, piece in enumerate(pieces[1:]):
        if is_comma[index] and all(is_comma[index:]):
            last = joined.pop()
            joined.append((*last[:-1], (last[-1][0], piece[-1][1])))
        else:
            joined.append(piece)
    return joined


@lru_cache(maxsize=8)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_HOUR = re.compile(
    r"(?:at|from|until)\s+(?:\d{1,2}(?!\d)|(?:noon|midnight|half|quarter|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)"
)
_IRREGULAR_PLURALS = frozenset(["children", "men", "people", "women"])
_MODALS = {"en": frozenset(EN_MODALS.split()), "es": frozenset(ES_MODALS.split())}
_INTRANSITIVES = frozenset(EN_INTRANSITIVES.split())
_PERFECT = frozenset(["has", "have", "had", "ha", "han", "había", "habían"])
_CONJUNCTIONS = frozenset(["and", "or", "but", "y", "e", "o", "u", "pero"])
_JOINT_MARKS = (",", ";", " and ", " but ", " y ", " e ", " pero ")
_IMPERSONAL = frozenset(["hay", "hubo", "habrá"])
_SUBJUNCTIVES = frozenset(ES_SUBJUNCTIVES.split())
_COPULAS = frozenset(["is", "are", "es", "son", "está", "están"])
_AFTER_PARTICIPLE = frozenset(["by", "in", "on", "at", "as", "por", "en", "como", "para"])
