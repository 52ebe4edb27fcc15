"""One fact asked in other ways: with slips, in a chat, two at once, as a second turn, with something swapped or false in it."""

from __future__ import annotations

import random
import re

from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.framing import taken_apart
from ragstone.testset.offline.phrases import BESIDE, OPENERS, SYNONYMS
from ragstone.testset.spans import MONTH
from ragstone.testset.vocabulary import word_set

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"\b(?:1[0-9]\d\d|20[0-4]\d)\b")
_MONTHS = re.compile(rf" (?:de )?(?:{MONTH['en']}|{MONTH['es']})")
_NEXT_KEY = {
    "a": "s", "b": "v", "c": "x", "d": "f", "e": "r", "f": "g", "g": "h", "h": "j", "i": "o", "l": "k", "m": "n", "n": "m", "o": "p", "p": "o",
    "r": "t", "s": "a", "t": "y", "u": "i", "v": "b", "w": "e",
}  # fmt: skip


def with_slips(question: str, rng: random.Random) -> str:
    """The question as fingers in a hurry write it: one or two long words with a slip, names and numbers left alone."""
    words = question.split(" ")
    free = [
        n for n, word in enumerate(words)
        if len(word.strip("¿?,.")) >= 4 and word.strip("¿?,.").isalpha() and (word.strip("¿?,.").islower() or n == 0)
    ]  # fmt: skip
    if not free:
        return question
    for n in rng.sample(free, min(len(free), 1 if len(free) < 4 else 2)):
        words[n] = _slip(words[n], rng)
    return " ".join(words)


def _slip(word: str, rng: random.Random) -> str:
    start = next(n for n, letter in enumerate(word) if letter.isalpha())
    end = max(n for n, letter in enumerate(word) if letter.isalpha()) + 1
    at = rng.randrange(start + 1, end - 1)
    way = rng.randrange(4)
    if way == 0 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if way == 1:
        return word[:at] + word[at + 1 :]
    if way == 2:
        return word[:at] + word[at] + word[at:]
    return word[:at] + _NEXT_KEY.get(word[at].lower(), word[at + 1]) + word[at + 1 :]


def in_a_chat(question: str, language: str, rng: random.Random) -> str:
    """The question as it is typed into a chat: small letters, no signs, a word around it."""
    about, bare = taken_apart(question, language)
    plain = bare.replace("¿", "").rstrip("?")
    first = plain.split(" ", 1)[0]
    if first.lower() in _ASKING or language == "es":
        plain = plain[:1].lower() + plain[1:]
    if language == "es":
        for accented, flat in zip("áéíóú", "aeiou", strict=True):
            plain = plain.replace(accented, flat)
    plain = BESIDE[language].format(plain, about) if about else plain
    return rng.choice(OPENERS[language]).format(plain)


_ASKING = word_set(
    "regarding who what when where which why how at for from until since by of in on"
)


def both(first: str, second: str, language: str) -> str:
    """Two questions as one sentence; empty when they do not join."""
    if language == "es":
        if second.startswith("¿"):
            return f"{first[:-1]} y {second[1:2].lower()}{second[2:]}"
        return f"{first} ¿Y {second[:1].lower()}{second[1:].replace('¿', '')}"
    return f"{first[:-1]}, and {second[:1].lower()}{second[1:]}"


def other_value(text: str, rng: random.Random) -> str:
    """The text with its number or year changed to another plausible one; empty when it has none."""
    found = _DIGITS.search(text)
    if found is None:
        return ""
    written = found.group()
    after = text[found.end() : found.end() + 1]
    if after == ":":
        return ""  # a time of day: half a range would be changed
    if _YEAR.fullmatch(written) and (after == "s" or "década" in text):
        new = str(int(written) + rng.choice([-30, -20, 20]))
    elif _YEAR.fullmatch(written):
        later = [7, 12, 18] if int(written) < 2000 else []
        new = str(int(written) + rng.choice([-23, -14, -9, *later]))
    elif _MONTHS.match(text, found.end()):
        new = str((int(written) + rng.choice([4, 9, 13])) % 28 + 1)
    else:
        head = re.match(r"\d+", written)
        assert head is not None
        value = int(head.group())
        changed = (
            value + rng.choice([2, 3, 5])
            if value < 12
            else value + rng.choice([-1, 1]) * max(3, value // 4)
        )
        new = f"{changed}{written[head.end() :]}"
    return text[: found.start()] + new + text[found.end() :] if new != written else ""


def false_premise(fact: Fact, other_name: str, rng: random.Random) -> tuple[str, str]:
    """A why-question that takes something wrong for granted, and the wrong value; empty when none can be made."""
    if not fact.why:
        return "", ""
    wrong = (
        other_value(fact.answer, rng)
        if fact.sort in ("number", "money", "date", "duration", "percent")
        else ""
    )
    if not wrong and fact.sort in ("person", "name"):
        wrong = other_name
    if not wrong or wrong == fact.answer:
        return "", ""
    return re.sub(r"\s+", " ", fact.why.replace("{}", wrong)).replace(" ?", "?"), wrong


def paraphrase(question: str, language: str) -> str:
    """The question in other words; empty when none of its words has another."""
    table = SYNONYMS[language]
    changed = re.sub(
        r"`[^`]+`|[^\W\d_]+", lambda word: table.get(word.group(), word.group()), question
    )
    return changed if changed != question else ""
