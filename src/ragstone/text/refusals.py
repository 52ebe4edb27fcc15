"""Recogniser of answers that decline to answer, in English and Spanish.

A sentence declines when it says that the speaker cannot tell or that the sources do not say. That something is unknown
to anybody (`It is not known who built it`) is a statement about the world and no refusal, unless it stands alone. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from functools import lru_cache

from ragstone.text.language import ABSTENTIONS
from ragstone.text.refusal_words import ASIDES, CLASSES, IDIOM_HINTS, IDIOMS
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text

MAX_WORDS_ASIDE = 2
"""Words of a clause or sentence beside a refusal that cannot be an answer: I'm sorry; Maybe."""


def is_refusal(answer: str, language: str | None = None) -> bool:
    """Whether an answer declines as a whole: one that declines and then answers does not; an empty one does."""
    if answer.strip() and not _may_decline(_fold(answer)):  # most answers end here
        return False
    sentences = [answer[start:end] for start, end in split_sentences(answer, language)]
    others = [sentence for sentence in sentences if not declines(sentence)]
    if not others:
        return True
    return len(others) < len(sentences) and all(map(_is_aside, others))


def declines_question(
    answer: str, question: str | None = None, language: str | None = None
) -> bool:
    """Whether an answer declines the question as a whole.

    `The paper does not mention taxes` declines, unless that is what was asked: `Does the paper mention taxes?`"""
    if not is_refusal(answer, language):
        return False
    return not (question and _ABOUT_MENTION.search(_fold(question)))


def _is_aside(sentence: str) -> bool:
    """Whether a sentence beside a refusal says nothing that could answer."""
    folded = _fold(sentence)
    words = _WORD.findall(folded)
    if len(words) <= MAX_WORDS_ASIDE and not any(word.isdigit() for word in words):
        return True
    return folded.endswith("?") or bool(_ASIDE.search(folded))


@lru_cache(maxsize=256)
def declines(sentence: str) -> bool:
    """Whether the sentence says that it does not answer; one that answers after a `but` does not."""
    folded = _fold(sentence)
    if folded in _ABSTENTIONS:
        return True
    if not _may_decline(folded):
        return False
    clauses = [clause for clause in _TURN.split(_ANSWER_NO.sub("", folded)) if clause.strip()]
    declining = [_clause_declines(clause) for clause in clauses]
    if not any(declining):
        return False
    answering = [
        clause
        for clause, is_declining in zip(clauses, declining, strict=True)
        if not is_declining and not _is_aside(clause)
    ]
    return not answering


def _may_decline(folded: str) -> bool:
    """Whether a word denies, or an idiom may stand here: a quick look, without the patterns."""
    return any(map(_is_denial, _WORD.findall(folded))) or any(map(folded.__contains__, IDIOM_HINTS))


@lru_cache(maxsize=8192)
def _is_denial(word: str) -> bool:
    return not _DENIAL.isdisjoint(_list_classes(word))


def _fold(text: str) -> str:
    return fold_text(text).replace("’", "'").replace("can't", "can not").replace("n't", " not")


def _clause_declines(clause: str) -> bool:
    if _IDIOM.search(clause) or _NO_MENTION.search(clause):
        return True
    words = _WORD.findall(clause)
    classes = [_list_classes(word) for word in words]
    present = _unite(classes)
    if _is_bare(classes, present) or _NO_INFORMATION.search(clause):
        return True
    if "paper" in present and _NOT_TOLD.search(clause):
        return True
    return any(
        _denies(classes, index, present)
        for index, names in enumerate(classes)
        if not _DENIAL.isdisjoint(names)
    )


def _denies(classes: list[tuple[str, ...]], index: int, present: set[str]) -> bool:
    """Whether the negation at this index denies that the speaker knows or that a source tells."""
    denied = _unite(classes[index : index + DENIED_WORDS])
    has_speaker = "speaker" in _unite(classes[max(index - 3, 0) : index + 3])
    if has_speaker and denied & {"know", "information"}:
        return True
    if "source" in _unite(classes[max(index - SOURCE_WORDS, 0) : index + SOURCE_WORDS]):
        if _is_not_in_source(classes, index):
            return True
        denied |= _unite(classes[max(index - 1, 0) : index])  # says nothing about it
        return bool(denied & {"know", "tell", "information", "lack"})
    return "question" in present and "know" in denied


def _is_not_in_source(classes: list[tuple[str, ...]], index: int) -> bool:
    """Whether nothing stands between a negation and a source: not in the text, no está en los documentos."""
    for names in classes[index + 1 : index + DENIED_WORDS]:
        if "source" in names:
            return True
        if not names:
            return False
    return False


def _unite(classes: list[tuple[str, ...]]) -> set[str]:
    return {name for names in classes for name in names}


DENIED_WORDS = 7
"""How far a negation reaches, itself included."""
SOURCE_WORDS = 9
"""How far from its source a negation can be and still be about it."""
_DENIAL = frozenset(["negation", "lack"])


def _is_bare(classes: list[tuple[str, ...]], present: set[str]) -> bool:
    """Whether the clause says nothing but that: unknown, not mentioned, it does not say."""
    is_denial = bool(present & _DENIAL) and bool(present & {"know", "tell", "unclear"})
    return is_denial and all(classes) and "negation" not in classes[-1]  # the answer is no


@lru_cache(maxsize=4096)
def _list_classes(word: str) -> tuple[str, ...]:
    return tuple(name for name, pattern in _PATTERNS.items() if pattern.fullmatch(word))


def _to_pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(word.replace("*", r"\w*") for word in words.split()))


_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PATTERNS = {name: _to_pattern(words) for name, words in CLASSES.items()}
_ABSTENTIONS = frozenset(fold_text(text) for text in ABSTENTIONS)
_ANSWER_NO = re.compile(r"^no\s*[,;:.]\s+")
"""The answer no, which denies nothing of what follows."""
_TURN = re.compile(
    r"(?:[,;]|(?<=\w))\s*\b(?:but|however|although|though|pero|aunque|sin embargo)\b,?"
    r"|;\s+|,\s*(?:so|therefore|thus|así que|por (?:lo )?tanto|por lo que)\b,?"
)
_IDIOM = re.compile("|".join(IDIOMS))
_NO_MENTION = re.compile(
    r"\b(?:(?:do|does|did) not|never|no|nunca) (?:\w+ )?(?:mentions?|mentioned|mencionan?|mencionó)\b"
)
_ABOUT_MENTION = re.compile(
    r"^(?:do|does|did|is|are|was|were)\b.*\b(?:mention|mentioned|cover|covered|say|state|specify|include)\b"
    r"|^¿?(?:se )?(?:menciona|mencionan|habla|hablan|dice|dicen|incluye|incluyen|especifica)\b"
    r"|^¿?(?:el|la|los|las|un|una|este|esta|su)\b.*\b(?:menciona|mencionan|habla|dice|incluye|especifica)n?\b"
)
"""Questions whose answer may be that something is not mentioned."""
_ASIDE = re.compile("|".join(ASIDES))
_NOT_TOLD = re.compile(
    r"\b(?:says? nothing|dicen? nada|omits?|omiten?)\b"
    r"|\b(?:not|never|fails? to|failed to|no|nunca) (?:\w+ )?(?:mention|specify|state|say|explain|discuss|indicate|address|"
    r"mencionan?|especifican?|dicen?|explican?|indican?|tratan?)\b"
)
_INFORMATION = "(?:" + "|".join(CLASSES["information"].replace("*", r"\w*").split()) + ")"
_NO_INFORMATION = re.compile(
    rf"\b(?:no|not enough|insufficient|not any|ninguna?|ningún|sin|suficientes?) (?!el |la |los |las |the )"
    rf"(?:\w+ ){{0,2}}?{_INFORMATION}"
    r"(?:$|\W*$| (?:about|on|of|regarding|concerning|in|for|to|found|available|given|provided|"
    r"sobre|de|acerca|en|para|al|del|que|disponibles?|suficientes?)\b"
    r"| (?:is|are|was|were) (?:\w+ )?(?:about|found|available|given|provided|made)\b)"
    rf"|\b{_INFORMATION} (?:\w+ )?(?:(?:is|are|was|were|está|están|fue|ha sido) )?"
    r"(?:insuficientes?|insufficient|missing|(?:not|no) (?:\w+ ){0,2}?(?:found|available|given|provided|sufficient|"
    r"enough|there|in|suficientes?|disponibles?|encontrad[ao]s?|está|están|figuran?|aparecen?))\b"
)
