"""Simple clauses of a sentence: a subject, its verb and what is said; `opens at nine and costs £3` are two of one subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragstone.testset.offline.grammar import YEAR
from ragstone.testset.spans import MONTH
from ragstone.testset.vocabulary import NUMBER_WORDS
from ragstone.text.clause_words import to_word_set
from ragstone.text.verbs import find_verb_form, to_base_form

MAX_SUBJECT_WORDS = 9
MAX_NEW_SUBJECT_WORDS = 4
"""Words of a second subject: `… and lessons begin at 8.50`."""
_AUXILIARIES = {
    "en": to_word_set("is are was were can may must should will"),
    "es": to_word_set("es son está están fue fueron puede pueden debe deben"),
}
_SIGNS = frozenset(",;:()?!")
_PLURAL_NOUN = re.compile(r".*[a-z]{2}(?<![siu])s")
_PREPOSITIONS = to_word_set("of in on for from at to with")
_PLURALS = to_word_set("you people children men women staff police")
_JOINING = {"en": ("and", "but"), "es": ("y", "e", "pero")}
# words of a time: those that tell one, and those that may stand before and between them
_TIMES = {
    "en": re.compile(
        rf"\d{{1,2}}[:.]\d\d|[ap]\.?m\.?|\d{{1,2}}(?:st|nd|rd|th)|{YEAR}|(?:{MONTH['en']})|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|weekdays?|weekends?|noon|midnight|dawn|dusk|sunrise|sunset|daily|(?:second|minute|hour|day|week|month|year|morning|afternoon|evening|night|summer|winter|spring|autumn)s?"
    ),
    "es": re.compile(
        rf"\d{{1,2}}[:.]\d\d|{YEAR}|(?:{MONTH['es']})|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|festivos|mediodía|medianoche|diario|(?:segundo|minuto|hora|día|semana|mes|año|mañana|tarde|noche|verano|invierno|primavera|otoño)(?:s|es)?"
    ),
}
_TIME_LINKS = {
    "en": to_word_set("until from on at in by within for every each between before after during since to till and of the a about first second third fourth last least up working calendar business"),
    "es": to_word_set("hasta desde el los las la a en de del por antes después durante cada entre dentro tras y al menos plazo un una primer primero primeros segundo último últimos laborables hábiles naturales todos todo toda"),
}  # fmt: skip
_TIME_STARTS = {
    "en": to_word_set("until from on at in by within for every each between before after during since daily"),
    "es": to_word_set("hasta desde el los a en de del antes durante cada entre dentro tras por todos"),
}  # fmt: skip
_TAIL_STARTS = to_word_set("after of from before without desde de del tras antes después sin")
_NOUN_STARTS = to_word_set("el la los las un una de")
MAX_TAIL_WORDS = 12
"""Words that may say from when a time counts: `within a month of the return of the keys`."""
_ASIDE = re.compile(r" (?:so that|because|porque|ya que) |, (?:which|who|que|donde) (?=[^,]*$)")
"""What begins a reason or an aside at the end of a sentence, without which it says the same."""
_CLITIC_VERB = re.compile(r"[a-zñáéíóú]{2,}(?:[aeó]|[ae]n|ron)")
_AFTER_MODAL = re.compile(r"\w+(?:[aei]r(?:se)?|[aií]d[oa]s?|abiert[oa]s?|escrit[oa]s?)")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without its full stop."""

    subject: str
    verb: str
    """As it is written: `costs`, `must`, `se puede comprar`."""
    predicate: str
    """What follows the verb; may be empty."""

    def to_row(self) -> str:
        """The three parts with tabs between them, as predicate patterns read them."""
        return f"{self.subject}\t{self.verb}\t{self.predicate}"

    def to_timed_row(self, language: str) -> str:
        """The same with the time that the predicate ends with as a fourth part; empty when it ends with none."""
        words = self.predicate.split()
        for start, word in enumerate(words):
            # `a duration of a year` has no time, `de lunes a viernes` is one
            is_of = word == "de" and not _TIMES["es"].match(" ".join(words[start + 1 :]))
            if is_of or word not in _TIME_STARTS[language]:
                continue
            if tail := _read_time(words[start:], language):
                return f"{self.subject}\t{self.verb}\t{' '.join(words[:start])}\t{tail}"
        return ""


def split_clauses(sentence: str, language: str) -> Iterator[Clause]:
    """The clauses of a sentence, in their order, so far as their subject stands before its verb."""
    for part in re.sub(r"(?<!\.m)\.$", "", sentence).split("; "):
        part = _ASIDE.split(part)[0]
        words = part.split()
        span = _find_verb(words, language)
        while span is not None:
            start, end = span
            subject, is_plural = " ".join(words[:start]), _is_plural(words[:start], language)
            stop, following = len(words), None
            for at in range(end, len(words)):
                if words[at] in _JOINING[language] and (following := _find_joined(words[at + 1 :], is_plural, language)):  # fmt: skip
                    stop = at
                    break
            yield Clause(subject, " ".join(words[start:end]), " ".join(words[end:stop]).rstrip(","))
            if following is None:
                break
            rest, has_subject = words[stop + 1 :], following[0] > 0
            words = rest if has_subject else [*words[:start], *rest]
            shift = 0 if has_subject else start
            span = following[0] + shift, following[1] + shift


def _read_time(words: list[str], language: str) -> str:
    """The words when they are a time and nothing else, but for what it counts from; else empty."""
    end = 0
    for at, word in enumerate(words):
        if _TIMES[language].fullmatch(word):
            end = at + 1
        elif word not in _TIME_LINKS[language] and not (
            word[0].isdigit() or word in NUMBER_WORDS[language]
        ):
            break
    rest = words[end:]
    is_whole = not rest or (rest[0] in _TAIL_STARTS and len(rest) <= MAX_TAIL_WORDS)
    has_sign = any(not _SIGNS.isdisjoint(word.replace(":", "")) for word in words)
    return " ".join(words) if end and is_whole and not has_sign else ""


def _find_joined(words: list[str], is_plural: bool, language: str) -> tuple[int, int] | None:
    """Where the verb of what follows `and` stands: at once for the same subject, or behind a short new one."""
    end = _read_verb(words, 0, is_plural, language)
    if end:
        return 0, end
    return _find_verb(words[: MAX_NEW_SUBJECT_WORDS + 4], language, MAX_NEW_SUBJECT_WORDS)


def _find_verb(words: list[str], language: str, most: int = MAX_SUBJECT_WORDS) -> tuple[int, int] | None:  # fmt: skip
    """Where the first verb that agrees with all words before it starts and ends; None when a sign stands before it."""
    for at in range(1, min(most + 1, len(words))):
        if not _SIGNS.isdisjoint(words[at - 1]):
            return None
        end = _read_verb(words, at, _is_plural(words[:at], language), language)
        if end:
            return at, end
    return None


def _read_verb(words: list[str], at: int, is_plural: bool, language: str) -> int:
    """Where the verb that starts at a word ends; 0 when none does that agrees with its subject."""
    if at >= len(words):
        return 0
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    if language == "es":
        return _read_spanish_verb(words, at)
    if word in _AUXILIARIES["en"]:
        agrees = word not in ("is", "was", "are", "were") or (word in ("are", "were")) == is_plural
        return at + 1 if agrees else 0
    base = to_base_form(word)
    is_next_verb = following in _AUXILIARIES["en"] or find_verb_form(following, "en") == "finite"
    agrees = word.endswith("ed") or (word == base) == is_plural
    return at + 1 if base and agrees and not is_next_verb else 0


def _read_spanish_verb(words: list[str], at: int) -> int:
    end = at + (words[at] == "no" and at + 1 < len(words))
    if words[end] == "se" and end + 1 < len(words):
        end += 1
        is_verb = _CLITIC_VERB.fullmatch(words[end]) is not None
    else:
        form = find_verb_form(words[end], "es")
        # `la baja` is a noun, `la empresa paga` has a verb
        is_noun = end > 0 and words[end - 1].lower() in _NOUN_STARTS
        is_verb = form == "finite" or (form == "noun_like" and not is_noun)
    if not is_verb:
        return 0
    end += 1
    is_modal = words[end - 1] in _AUXILIARIES["es"]
    return end + bool(is_modal and end < len(words) and _AFTER_MODAL.fullmatch(words[end]))


def _is_plural(subject: list[str], language: str) -> bool:
    """Whether a subject is a plural, by the noun before the first preposition."""
    if language == "es":
        return subject[0].lower() in ("los", "las")
    heads = [word.lower() for word in subject]
    if "and" in heads:
        return True
    stop = next((at for at, word in enumerate(heads) if at and word in _PREPOSITIONS), len(heads))
    return heads[stop - 1] in _PLURALS or _PLURAL_NOUN.fullmatch(heads[stop - 1]) is not None
