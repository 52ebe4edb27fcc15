"""Questions of a small model: what code repairs and names in them, and the faults that it sees before the model is asked again."""

from __future__ import annotations

import re

from ragstone.testset.fluency import is_fluent
from ragstone.testset.items import Reason
from ragstone.testset.offline import gate
from ragstone.testset.offline.frames import frame_home
from ragstone.testset.offline.page import Page
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems
from ragstone.testset.small_targets import Target

MAX_QUESTION_WORDS = 17
"""Words of a question, without the name that is put before it: a longer one retells its sentence."""
MIN_TOLD_STEMS = 2
"""Words of meaning that the reference must have and the question not."""
MIN_KNOWN_SHARE = 0.7
"""Share of what a question asks about that its passage must speak of."""
MIN_SHARED_STEMS = 0.6
"""Share of the words of meaning of an answer that the reference must have."""
MIN_TITLE_SHARE = 0.6
"""Share of the words of meaning of a title with which a question names its page."""
_ASKING = re.compile(
    r"¿?(?:\w+ )?(?:who|whom|whose|what|when|where|which|why|how|quién(?:es)?|qué|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?|cómo)\b",
    re.IGNORECASE,
)
_SECOND_QUESTION = re.compile(r"[,;] ?(?:and|y) (?:who|what|when|where|which|why|how|quién|qué|cuándo|dónde|cuál|por qué|cómo)\b", re.IGNORECASE)  # fmt: skip
_TOLD_REASON = re.compile(r",? (?:because|so that|since|porque|ya que|puesto que|para que) .*")
_YOU = re.compile(r"\b(do|can|should|must|would|will|if|when|may) you\b(?! to\b)")
_EXPLETIVE = re.compile(r"\b(does|did|will|is) it(?= (?:cost|take|possible|necessary|important)\b)")
"""`How much does it cost …`: a word that points at nothing."""
_DISAGREEING = re.compile(
    r"\b(?i:cuántos) (?!días\b|mapas\b|idiomas\b|\w+(?:mas|tas)\b)\w+as\b|\b(?i:cuántas) (?!manos\b)\w+os\b"
)
"""`¿Cuántos personas?`: the slip of a small model in Spanish."""
_HALVES = re.compile(r"[;:] |, (?:which|who|where|que|quien|donde) ")
_POINTED = re.compile(
    r"\b(?:the|el|la|los|las) ([a-zñáéíóú]+)(?=\?|,| (?:is|are|was|were|be|can|must|should|will|does|do|has|have|es|son|fue|puede|debe|se)\b)"
)
"""A noun with its article and nothing else: `the steps`, which only the passage tells apart."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def finish_question(line: str, target: Target) -> str:
    """The question of a model's line: as its reader puts it, without the answer behind it."""
    question = " ".join(line.split())
    if target.begins in ("Why", "Por qué"):
        question = _TOLD_REASON.sub("?", question)
    elif target.begins in ("What happens if", "Qué pasa si"):
        question = re.sub(r", .*", "?", question)
    grammar = target.passage.page.grammar
    if grammar.language == "es":
        question = f"¿{question.lstrip('¿')}"
    else:
        question = re.sub(r"\byour\b", "my", _YOU.sub(r"\1 I", question))
    return grammar.fix_question(question)


def name_home(page: Page, question: str) -> str:
    """The question with the owner, product or title of its page, where it names none of them; empty where there is none."""
    asked = set(extract_content_stems(question, page.grammar.language))
    homes = [name for name in (page.owner, page.product) if name]
    # a page of a manual may be called Sending: where there is a program, only a name will do
    is_name = set(page.title.lower().split()) <= page.names - page.small
    titles = [page.title, page.title.partition(": ")[0]] if is_name or not homes else []
    for name in [*homes, page.command, *titles]:
        stems = set(extract_content_stems(name, page.grammar.language))
        if stems and len(stems & asked) >= MIN_TITLE_SHARE * len(stems):
            return question
    return frame_home(page, question) or (
        question if gate.is_specific(question.lstrip("¿")) else ""
    )


def find_question_fault(question: str, target: Target) -> tuple[Reason, str] | None:
    """Why a question is doubtful: by the gate of the rules, by its names, or because it says what it asks for."""
    page = target.passage.page
    bare = _EXPLETIVE.sub(r"\1 the thing", question)
    if doubt := gate.explain_doubtful_question(bare, page.grammar):
        return "malformed", doubt
    if not is_fluent(bare, page.grammar.language):
        return "malformed", "the word order is unusual"
    if len(question.split()) > MAX_QUESTION_WORDS:
        return "malformed", "too long for what a colleague would ask"
    if not _ASKING.match(question) or ": " in question or _SECOND_QUESTION.search(question):
        return "malformed", "it asks for yes or no, or two things"
    if _DISAGREEING.search(question):
        return "malformed", "the words do not agree"
    if not name_home(page, question):
        return "not_self_contained", "it names nothing in particular"
    known_stems = set(
        extract_content_stems(f"{target.passage.title} {page.owner}", page.grammar.language)
    )
    for noun in _POINTED.findall(question):
        if known_stems.isdisjoint(extract_content_stems(noun, page.grammar.language)):
            return "not_self_contained", f"which {noun}?"
    known = f"{page.document.title} {page.document.text} {page.product}"
    names = re.findall(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑ]\w+", question)
    if foreign := next((name for name in names if name not in known), ""):
        return "malformed", f"the document does not speak of {foreign!r}"
    return _find_target_fault(question, target)


def _find_target_fault(question: str, target: Target) -> tuple[Reason, str] | None:
    """Why a question is not about its target, or says what it asks for."""
    language = target.passage.page.grammar.language
    reference = set(extract_content_stems(target.reference, language))
    shown = f"{target.passage.title} {target.passage.text} {target.passage.page.owner}"
    own = set(extract_question_stems(question, language))
    if len(own & set(extract_content_stems(shown, language))) < MIN_KNOWN_SHARE * len(own):
        return "not_answerable_from_evidence", "the passage does not speak of what is asked"
    if len(reference.difference(extract_content_stems(question, language))) < MIN_TOLD_STEMS:
        return "leaked", "the question says it all"
    return None


def agrees_with_target(answer: str, question: str, target: Target) -> bool:
    """Whether the model's answer stands in the reference: its numbers, most of its words, and one that is not asked with."""
    language = target.passage.page.grammar.language
    given = set(extract_content_stems(answer, language))
    asked = set(extract_content_stems(question, language))
    shared = given.intersection(extract_content_stems(target.reference, language))
    new = shared - asked
    numbers = set(_NUMBER.findall(answer))
    has_numbers = numbers <= set(_NUMBER.findall(target.reference))
    is_held = bool(new) and has_numbers and len(shared) >= MIN_SHARED_STEMS * len(given)
    return is_held and _answers_in_place(new, asked, target.reference, language)


def _answers_in_place(new: set[str], asked: set[str], reference: str, language: str) -> bool:
    """Whether the part of a sentence that gives the answer is the one asked about: `The fee is 80 euros; minors pay nothing`."""
    halves = [set(extract_content_stems(half, language)) for half in _HALVES.split(reference)]
    answering = max((len(half & asked) for half in halves if half & new), default=0)
    return answering >= max(len(half & asked) for half in halves)
