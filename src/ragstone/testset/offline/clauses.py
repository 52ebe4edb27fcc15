"""Facts from single sentences: definitions, and of ordinary prose places, times and amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ragstone.testset.blocks import tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar, Pattern
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.offline.predicates import Clause, split_clauses
from ragstone.testset.offline.quality import MIN_NEWS, count_news, is_unclean
from ragstone.testset.offline.subjects import (
    frame_home,
    frame_question,
    is_topic,
    name_subject,
)
from ragstone.testset.outline import DocumentSection
from ragstone.text.verbs import find_verb_form, to_base_form

MAX_SENTENCE_CHARS = 420
"""Longer sentences are not read: they say too many things for one question."""
_SECOND_CLAUSE = re.compile(r", (?:and |y )?\S+ (?:is|are|es|son) ")
"""`X is this, Y is that`: half of it defines something else."""
_DEFINED = re.compile(
    r"(?:(?!, (?:and|but|so|y|pero|aunque)\b).)*? (?:that|which|who|where|of|for|to|from|with|by|in|on|between|used|based|que|donde|de|del|para|con|por|en|entre)\b"
)
"""What tells a definition from praise (`a time consuming operation`): the noun is told from others of its sort."""


def find_clause_facts(page: Page) -> Iterator[Fact]:
    """Facts of every sentence of the page that tells one in a form of the grammar."""
    for section in page.sections:
        if section.block.kind in ("paragraph", "item", "entry"):
            for start, end in find_sentences(page, section.block):
                if end - start <= MAX_SENTENCE_CHARS:
                    for fact in _find_sentence_facts(page, section, start, end):
                        yield replace(fact, start=start, end=end)


def _find_sentence_facts(
    page: Page, section: DocumentSection, start: int, end: int
) -> Iterator[Fact]:
    """The facts of a sentence; their start and end are set by the caller."""
    grammar = page.grammar
    sentence = tidy_text(page.document.text[start:end])
    # most sentences fail here, before any pattern is tried
    if not gate.is_sentence(sentence, grammar):
        return
    defined = grammar.definition.fullmatch(sentence)
    if fact := defined and _define(page, section.headings, defined):
        yield fact
    elif page.has_home:
        # of ordinary prose alone: in a manual such facts are told of parts that a question would have to name
        clauses = split_clauses(sentence, grammar.language)
        yield from filter(None, (_ask_clause(page, section.headings, clause) for clause in clauses))


def _define(page: Page, headings: tuple[str, ...], match: re.Match[str]) -> Fact | None:
    """What a thing is that its page or section is about."""
    grammar, subject, reference = page.grammar, match["subject"], drop_references(match[0])
    is_named = is_topic(page, headings, subject)
    is_told = _DEFINED.match(match["rest"]) and not _SECOND_CLAUSE.search(reference)
    is_phrase = gate.is_noun_phrase(subject, grammar) and subject[0] != "`"
    if not is_named or not is_told or not is_phrase:
        return None
    asked = grammar.templates["what_is"].format(key=page.lower_start(subject), verb=match["verb"])
    question = grammar.fix_question(asked)
    # the page is about it: its title would say the same again
    question = question if is_topic(page, (), subject) else frame_home(page, question)
    doubt = not question or gate.explain_doubt(question, reference, grammar, owned=page.has_home)
    if doubt or is_unclean(reference) or count_news(question, reference, grammar.language) < MIN_NEWS:  # fmt: skip
        return None
    claim = match[0][: match.start("rest")].strip()
    return Fact(question, reference, "conceptual", "definition", 0, 0, subject, framed=question != asked, claim=claim)  # fmt: skip


def _ask_clause(page: Page, headings: tuple[str, ...], clause: Clause) -> Fact | None:
    """The fact of a single clause, by the first pattern that matches it."""
    rows = (clause.to_row(), clause.to_timed_row(page.grammar.language))
    for pattern in page.grammar.predicates:
        match = next(filter(None, map(pattern.sentence.fullmatch, rows)), None)
        if match is not None:
            return _build_fact(page, headings, pattern, match)
    return None


def _build_fact(
    page: Page, headings: tuple[str, ...], pattern: Pattern, match: re.Match[str]
) -> Fact | None:
    """The fact of a match, or None when it is doubtful."""
    grammar = page.grammar
    parts = {name: value or "" for name, value in match.groupdict().items()}
    subject = name_subject(page, headings, parts["subject"], parts["verb"])
    rest = parts.get("rest", "")
    # `founded Debian` before its name is no verb with an amount
    if subject is None or rest[:1].isupper() or _has_verb(rest, grammar):
        return None
    parts |= _inflect_parts(parts, grammar) | {"subject": subject}
    asked = re.sub(r" (?=[ ?])", "", grammar.fix_question(pattern.question.format(**parts)))
    reference = drop_references(pattern.reference.format(**parts))
    question = frame_question(page, asked)
    is_doubtful = gate.explain_doubt(question, reference, grammar, owned=True)
    if is_doubtful or _has_second_predicate(reference, grammar.language):
        return None
    # the claim is what stands before the answer; proofs.py looks for it elsewhere, because another
    # sentence that begins so may answer otherwise
    claim = match[0][: match.start("answer")].replace("\t", " ").strip()
    return Fact(question, reference, "factual", pattern.name, 0, 0, subject, framed=question != asked, claim=claim)  # fmt: skip


def _has_verb(rest: str, grammar: Grammar) -> bool:
    """Whether a clause goes on with a verb behind its first; behind an article the same word is a noun (`la entrega`)."""
    words = rest.split()
    return any(
        find_verb_form(word, grammar.language) == "finite" and before not in grammar.articles
        for before, word in zip(["", *words], words, strict=False)
    )


def _has_second_predicate(answer: str, language: str) -> bool:
    """Whether an answer goes on with a fact of its own: `from 7.45 and costs £3.50`."""
    if re.search(r"\by \w+[ae]n? (?:el|los|las?|una?)\b", answer):
        return True
    joined = re.findall(r"\b(?:and|y) (\w+)", answer)
    return any(find_verb_form(word, language) in ("finite", "noun_like") for word in joined)


def _inflect_parts(parts: dict[str, str], grammar: Grammar) -> dict[str, str]:
    """Forms of the verb and the answer that templates may use."""
    verb, answer = parts.get("verb", ""), parts.get("answer", "")
    is_plural = grammar.language == "en" and not verb.endswith("s")
    present = "do" if is_plural else "does"
    limit, unit = parts.get("limit", ""), parts.get("unit", "").split(" ")[0]
    is_feminine = unit.endswith(("as", "iones", "dades")) and unit != "días"
    many = "cuántas" if is_feminine else "cuántos"
    return {
        # capital: the part begins the question or the reference
        "Wh": _ask_time(parts.get("prep", ""), answer, grammar),
        "modal": "can" if verb == "may" else verb,
        "base": to_base_form(verb) or verb,
        "do": "did" if verb.endswith("ed") else present,
        "With": "Con " if parts.get("with") else "",
        "Limit": limit[:1].upper() + limit[1:],
        "many": many if parts.get("with") else many.capitalize(),
        "Answer": answer[:1].upper() + answer[1:].removesuffix("."),
    }


def _ask_time(prep: str, answer: str, grammar: Grammar) -> str:
    """What asks for a time: `How often` for `every week`, `When` for `every day from 9 to 5`."""
    is_compound = re.search(r" (?:from|at|on|in|de|a|desde|hasta|to|y|and) ", answer) is not None
    if is_compound and prep in ("every", "each", "cada", "for", "durante", "desde"):
        prep = ""
    prep = "plazo" if answer.startswith("en el plazo") else prep
    return grammar.time_questions.get(prep, grammar.time_questions[""])


_SEE = re.compile(
    r",? (?i:see|véase) [\w.-]+\(\d\)|\s*\((?i:see|cf\.|véase|vea|ver|consulte)\b[^()]*(?:\([^()]*\)[^()]*)*\)|(?<=[.!?)])\s(?:(?:For|Para) (?:more|further|más|obtener más) (?:information|details|información|detalles)[^.]{0,40}, )?(?i:(?:please |por favor,? )?(?:see|refer to|véase|vea|ver|consulte)):? [^.]*\.?$"
)


def drop_references(text: str) -> str:
    """The text without `(see section 3)`."""
    return _SEE.sub("", text)
