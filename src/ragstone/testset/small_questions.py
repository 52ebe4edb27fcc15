"""Questions of a small model: what one must name, and the faults that code can see before the model is asked again."""

from __future__ import annotations

import re

from ragstone.testset.fluency import is_fluent
from ragstone.testset.items import Reason
from ragstone.testset.offline import gate
from ragstone.testset.offline.page import Page
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems
from ragstone.testset.small_targets import Target
from ragstone.testset.spans import is_number, split_tokens
from ragstone.text.words import split_bare_words

MIN_TOLD_STEMS = 2
"""Words of meaning that the sentence must have and the question not."""
MAX_SUBJECT_WORDS = 5
NOT_TOLD = re.compile(r"\W*(?:not told|not (?:stated|mentioned)|no consta|no se (?:dice|menciona|especifica))", re.IGNORECASE)  # fmt: skip
"""How a model says that a passage does not answer."""
_ASKING = {
    "en": re.compile(r"\b(?:who|whom|whose|what|when|where|which|why|how)\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:quién(?:es)?|qué|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?|cómo)\b", re.IGNORECASE),
}  # fmt: skip
_EXPLETIVE = re.compile(r"\b(does|did|will|is) it(?= (?:cost|take|possible|necessary)\b)")
"""`How much does it cost …`: a word that points at nothing."""
_THEIRS = re.compile(r"^((?:\S+ ){4,}?)their\b")
"""`How can a customer check the balance of their card`: who is meant stands before it."""
_PERSON = re.compile(r"\b(?:who|whom|quién|quiénes)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"[A-ZÁÉÍÓÚÑ][\w-]*\w")
_DISAGREEING = re.compile(
    r"\b(?i:cuántos) (?!días\b|mapas\b|idiomas\b|\w+(?:mas|tas)\b)\w+as\b|\b(?i:cuántas) (?!manos\b)\w+os\b"
)
"""`¿Cuántos personas?`: the slip of a small model in Spanish."""
MIN_ASKED_SHARE = 0.6
"""Share of what a question asks about, apart from its subject, that its sentence must speak of."""
MIN_SHARED_STEMS = 0.6
"""Share of the words of meaning of an answer that the sentence must have."""


def name_subject(page: Page) -> str:
    """What a question about a page must name: its owner, product or command, or the name before the colon of its title."""
    head, colon, _ = page.title.partition(": ")
    if not colon or len(head.split()) > MAX_SUBJECT_WORDS or not _CAPITAL.search(head):
        head = ""
    return page.owner or page.product or page.command or head


def _is_named(subject: str, question: str) -> bool:
    """Whether a question has at least half of the names of its subject, or of the words where it has no names."""
    names = _CAPITAL.findall(subject) or subject.split()
    return 2 * sum(name in question for name in names) >= len(names)


def find_question_fault(question: str, target: Target) -> tuple[Reason, str] | None:
    """Why a question is doubtful: by the gate of the rules, by its names, or because it says what it asks for."""
    page = target.passage.page
    grammar, document = page.grammar, page.document
    if doubt := gate.explain_doubtful_question(_blank_pronouns(question), grammar):
        return "malformed", doubt
    if not is_fluent(question, grammar.language):
        return "malformed", "the word order is unusual"
    if len(_ASKING[grammar.language].findall(question)) != 1:
        return "malformed", "it asks for yes or no, or two things"
    if _DISAGREEING.search(question):
        return "malformed", "the words do not agree"
    subject = name_subject(page)
    if subject and not _is_named(subject, question):
        return "not_self_contained", f"it does not name {subject}"
    if not gate.is_specific(question.lstrip("¿")):
        return "not_self_contained", "it names nothing in particular"
    known = f"{document.title} {document.text} {page.product}"
    names = re.findall(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑ]\w+", question)
    if foreign := next((name for name in names if name not in known), ""):
        return "malformed", f"the document does not speak of {foreign!r}"
    return _find_target_fault(question, target)


def _blank_pronouns(question: str) -> str:
    """The question without pronouns that point at nothing outside of it, for a gate that takes every one for a pointer."""
    return _THEIRS.sub(r"\1the", _EXPLETIVE.sub(r"\1 the thing", question))


def _find_target_fault(question: str, target: Target) -> tuple[Reason, str] | None:
    """Why a question is not about its sentence, or says what it asks for."""
    page = target.passage.page
    language = page.grammar.language
    asked = set(extract_content_stems(question, language))
    sentence = set(extract_content_stems(target.sentence, language))
    subject = extract_content_stems(name_subject(page), language)
    own = set(extract_question_stems(question, language)).difference(subject)
    own = own.difference(extract_content_stems(page.title, language)) or own
    if len(own & sentence) < MIN_ASKED_SHARE * len(own) or not own & sentence:
        return "not_answerable_from_evidence", "the sentence does not speak of what is asked"
    told = sentence - asked
    if len(told) < MIN_TOLD_STEMS and target.is_whole:
        return "leaked", "the question says it all"
    if _PERSON.search(question) and not target.is_whole and not _CAPITAL.search(target.answer):
        return "malformed", "it asks who, and the answer is no name"
    said = _list_key_words(target.answer, language) & set(split_bare_words(question, language))  # fmt: skip
    return ("leaked", f"the question says {min(said)!r}") if said and not target.is_whole else None


def agrees_with_target(answer: str, question: str, target: Target) -> bool:
    """Whether the model's answer is what the question was ordered for: the same amounts and names, or words of the sentence."""
    language = target.passage.page.grammar.language
    if not answer or NOT_TOLD.match(answer):
        return False
    if not target.is_whole:
        wanted, given = (_list_key_words(text, language) for text in (target.answer, answer))
        return bool(wanted) and wanted == given
    given_stems = set(extract_content_stems(answer, language))
    shared = given_stems & set(extract_content_stems(target.sentence, language))
    is_new = bool(shared - set(extract_content_stems(question, language)))
    return is_new and len(shared) >= MIN_SHARED_STEMS * len(given_stems)


def _list_key_words(answer: str, language: str) -> set[str]:
    """What makes an answer that answer: its numbers, and the words that are written large; of others all words of meaning."""
    tokens = split_tokens(answer)
    keys = [token.text for token in tokens if is_number(token, language) or re.search(r"\d", token.text)]  # fmt: skip
    keys += _CAPITAL.findall(answer[1:]) if keys else _CAPITAL.findall(answer)
    words = {word for key in keys for word in split_bare_words(key, language)}
    return words or set(extract_content_stems(answer, language))
