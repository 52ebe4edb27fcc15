"""Bare answers, which say something only with their question: `Which country reported it?` –
`France`. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re

from ragstone.text.content import find_content_words
from ragstone.text.language import detect_language
from ragstone.text.refusals import declines
from ragstone.text.verbs import WORD, has_clause

MAX_BARE_WORDS = 12
"""Words of an answer that only names something."""
ARROW = " → "
"""Between a question and the bare answer that makes a claim with it."""


def is_bare_answer(text: str, language: str | None = None) -> bool:
    """Whether a text only names something, so that it states nothing without its question: few
    words, no verb."""
    bare = _reduce_to_polar(text.strip().rstrip(".!"))
    if not bare or "\n" in bare or len(bare) > 200:
        return False
    words = WORD.findall(bare)
    if not 0 < len(words) <= MAX_BARE_WORDS or bare.endswith(("?", ":")):
        return False
    if _SENTENCE_END.search(bare):
        return False
    return not has_clause(bare, detect_language(text, language)) and not declines(text)


def repeats_question(question: str, answer: str) -> bool:
    """Whether an answer has every content word of its question, so that it states something
    whatever its verb is."""
    asked = find_content_words(question)
    return len(asked) > 1 and asked <= find_content_words(answer)


def is_polar_exchange(question: str, answer: str, language: str | None = None) -> bool:
    """Whether a question wants yes or no and the answer is no more than that: `No, it is not.`"""
    is_asked = len(question.split()) > 1 and not _ASKS_MORE.search(question)
    return is_asked and says_yes(answer) is not None


def says_yes(answer: str) -> bool | None:
    """Whether an answer is no more than yes (True) or no (False); None where it says more."""
    return _POLAR.get(_reduce_to_polar(answer.strip().rstrip(".! ")).lower())


def join_answer(question: str, answer: str) -> str:
    """The claim that a question and its bare answer make together, shown as the pair: `Where was he
    born? → Ulm`."""
    asked = " ".join(question.strip().split("\n")[-1].split())
    return f"{asked}{ARROW}{answer.strip()}" if asked else answer.strip()


def split_joined(claim: str) -> tuple[str, str]:
    """The question, empty where there is none, and the answer of a claim."""
    question, arrow, answer = claim.partition(ARROW)
    return (question, answer) if arrow else ("", claim)


def _reduce_to_polar(answer: str) -> str:
    """Yes or no, where an answer says it in a few words: `Yes, it is`, `They do not`, `Claro que
    sí`, `No, no lo es`."""
    match = _ELLIPTIC_ANSWER.fullmatch(answer)
    if match is None or not answer:
        return answer
    denies = bool(match["en_denied"] or match["es_denied"])
    if match["word"] and (match["word"].lower() == "no") != denies and match["verb"]:
        return answer  # yes, it is not
    if denies or (match["word"] or "").lower() == "no":
        return "No"
    return "Sí" if match["es_yes"] or match["es_verb"] else "Yes"


_SENTENCE_END = re.compile(r"[.!?]\s")
_ELLIPTIC_ANSWER = re.compile(
    r"""
    (?:(?P<word>yes|yeah|yep|sure|of\ course|certainly|absolutely|indeed|correct|no
        |(?P<es_yes>sí|claro(?:\ que\ sí)?|por\ supuesto(?:\ que\ sí)?|desde\ luego|así\ es|correcto))[,.;:!]?\s*)?
    (?P<verb>(?:i|you|he|she|it|we|they|there|this|that|these|those)\s
        (?:is|are|am|was|were|do|does|did|can|could|will|would|has|have|had|should|must|may|might|cannot|ca|wo)
        (?P<en_denied>\s?n['’]t|\snot|(?<=cannot))?
    |(?P<es_verb>(?P<es_denied>no\s)?(?:lo|la|los|las|se|le)\s(?:es|son|era|fue|está|están|puede|pueden|hace|hacen|hay|tiene|tienen)))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_POLAR = {"yes": True, "sí": True, "si": True, "no": False}
_ASKS_MORE = re.compile(
    r"\b(?:who|whom|whose|what|when|where|which|why|how|quién|quiénes|qué|cuándo|dónde|adónde|cuál|cuáles|cómo|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
