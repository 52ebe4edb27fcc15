"""Facts from single sentences: definitions, purposes, places, dates, people and amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from ragstone.testset.blocks import tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar, Pattern
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.verbs import find_verb_form

MAX_SENTENCE_CHARS = 420
"""Longer sentences are not read: they say too many things for one question."""
MIN_ANSWER_WORDS = 4
_SECOND_CLAUSE = re.compile(r", (?:and |y )?\S+ (?:is|are|es|son) ")
"""`X is this, Y is that`: half of it defines something else."""
_DEFINED = re.compile(
    r"(?:(?!, (?:and|but|so|y|pero|aunque)\b).)*? (?:that|which|who|where|of|for|to|from|with|by|in|on|between|used|based|que|donde|de|del|para|con|por|en|entre)\b"
)
"""What tells a definition from praise (`a time consuming operation`): the noun is told from others of its sort."""
_INTERFACE_PART = re.compile(
    r"\b(?:key|tab|button|field|check ?box|menu|panel|pane|column|item|elemento|tecla|pestaña|botón|campo|casilla|menú|columna)s?\b",
    re.IGNORECASE,
)
"""Parts that every dialog or tool has: of which one, the sentence leaves to its page."""
_NAMED_PATTERNS = ("when", "who")
"""Patterns whose subject has a name that is known outside of its program."""
_CODE_NAME = re.compile(r"[`_“«]|\w\.\w|[a-z][A-Z]| [A-Z][a-z]")
"""Signs of a name: written as in code, or with a capital inside the phrase."""
_PLURAL_VERBS = ("are", "were", "can", "must", "may")
"""Verbs that a plural may have: a capital before them is no name."""
_ACRONYM = re.compile(
    r"((?:[A-ZÁÉÍÓÚÑ][\w-]+ (?:(?:of|and|for|the|de|del|la|los|las|y|para) )*){1,5}[A-ZÁÉÍÓÚÑ][\w-]+) \(([A-Z]{2,6})\)"
)


_INDEFINITE = ("a", "an", "un", "una")
_PAST = {"opened": "open", "closed": "close", "began": "begin", "started": "start", "ended": "end"}


def find_clause_facts(page: Page) -> Iterator[Fact]:
    """Facts of every sentence of the page that matches one of the grammar's patterns."""
    for section in page.sections:
        if section.block.kind in ("paragraph", "item", "entry"):
            for start, end in find_sentences(page, section.block):
                if end - start <= MAX_SENTENCE_CHARS:
                    yield from _find_sentence_facts(page, section.headings, start, end)


def _find_sentence_facts(
    page: Page, headings: tuple[str, ...], start: int, end: int
) -> Iterator[Fact]:
    grammar = page.grammar
    sentence = tidy_text(page.document.text[start:end])
    opener = grammar.openers.match(sentence)
    if opener:
        # `However, the server …` → `The server …`: the link to the sentence before would dangle.
        sentence = sentence[opener.end() :][:1].upper() + sentence[opener.end() + 1 :]
    yield from _find_acronyms(page, sentence, start, end)
    # most sentences fail here, before any pattern is tried
    if not gate.is_sentence(sentence, grammar):
        return
    if gate.explain_doubtful_reference(sentence, grammar, owned=bool(page.owner)):
        return
    for pattern in grammar.patterns:
        match = pattern.sentence.fullmatch(sentence)
        fact = _build_fact(page, headings, pattern, match, sentence) if match else None
        if fact is not None:
            yield replace(fact, start=start, end=end)
            return  # one question per sentence


def _build_fact(
    page: Page, headings: tuple[str, ...], pattern: Pattern, match: re.Match[str], sentence: str
) -> Fact | None:
    """The fact of a match, or None when it is doubtful; start and end are set by the caller."""
    grammar = page.grammar
    parts = {name: value or "" for name, value in match.groupdict().items()}
    subject = _name_subject(page, headings, pattern, parts)
    if subject is None:
        return None
    parts |= _inflect_parts(parts, grammar) | {"subject": subject}
    question = grammar.fix_question(pattern.question.format(**parts))
    reference = drop_references(
        pattern.reference.format(**parts) if pattern.reference else sentence
    )
    framed = _frame_subject(page, pattern, question, subject)
    if framed is None or _is_doubtful(page, pattern, framed, reference):
        return None
    asked = "rest" if "rest" in parts and "answer" not in parts else "answer"
    # the claim is what stands before the answer; proofs.py looks for it elsewhere, because another
    # sentence that begins so may answer otherwise
    claim = sentence[: match.start(asked)].strip()
    return Fact(
        framed, reference, pattern.kind, pattern.name, 0, 0, subject, framed=framed != question, claim=claim,
    )  # fmt: skip


def _frame_subject(page: Page, pattern: Pattern, question: str, subject: str) -> str | None:
    """The question with the name that it needs; None when it needs one and the page gives none."""
    is_code = _is_local_code(subject)
    # a product of its own (`SpamAssassin`) is what it is everywhere
    is_defined = pattern.name == "definition" and "`" not in subject and gate.is_specific(subject)
    is_named = is_defined or pattern.name in _NAMED_PATTERNS
    # said of the command that the page is about: what a thing is used for, what an argument (`INDEX`) is
    is_local = pattern.name == "purpose" and page.manual in (1, 8)
    tool = is_code or is_local or (bool(page.command) and subject.isupper())
    framed = frame_question(page, question, tool=tool, product=not is_named)
    is_common = pattern.kind == "factual" and pattern.name != "where"
    is_common = is_common or pattern.name == "definition"
    # `In Cantor, what is Python?`: a name of its own, or a part of the program that has no other name
    if pattern.name == "definition" and framed != question and subject[:1].isupper():
        return None
    is_known = is_common or gate.is_specific(question.lstrip("¿"))
    return None if framed == question and (is_code or not is_known) else framed


def _is_doubtful(page: Page, pattern: Pattern, question: str, reference: str) -> bool:
    """Whether the gate refuses the pair, or it says nothing, too little or something else."""
    if gate.explain_doubt(question, reference, page.grammar, owned=bool(page.owner)):
        return True
    if is_empty_answer(question, reference, page.grammar.language):
        return True
    if pattern.reference and _has_second_predicate(reference, page.grammar.language):
        return True
    if pattern.name != "definition":
        return False
    told = re.split(r" (?:is|are|es|son) ", reference, maxsplit=1)[-1]
    return not _DEFINED.match(told) or _SECOND_CLAUSE.search(reference) is not None


def _has_second_predicate(answer: str, language: str) -> bool:
    """Whether an answer goes on with a fact of its own: `from 7.45 and costs £3.50`."""
    joined = re.findall(r"\b(?:and|y) (\w+)", answer)
    return any(find_verb_form(word, language) in ("finite", "noun_like") for word in joined)


def _name_subject(
    page: Page, headings: tuple[str, ...], pattern: Pattern, parts: dict[str, str]
) -> str | None:
    """The subject as the question names it; None when nobody could tell from it what is asked about."""
    subject = parts["subject"]
    # `A security token is …` says of every one what it is, whatever its page is about
    is_general = pattern.name == "definition" and subject.split()[0].lower() in _INDEFINITE
    if not _is_good_subject(subject, parts["verb"], page, headings, is_general):
        return None
    # a word that only begins its sentence: a parameter (`Mode sets the start of the week`)
    is_lone = pattern.kind == "conceptual" and re.fullmatch(r"[A-Z][a-z]+", subject)
    if is_lone and subject.lower() not in page.names and subject not in page.title.split():
        return None
    if pattern.name == "definition" and re.fullmatch(r"(?:The|El|La|Los|Las) [\w-]+", subject):
        return None  # `The FAQ is …`: the one that is being read
    subject = page.lower_start(subject)
    is_plural = " " not in subject and parts["verb"] in _PLURAL_VERBS
    return subject.lower() if is_plural and subject.istitle() else subject


def _is_local_code(subject: str) -> bool:
    """Whether a subject is known by a name in code that means something in its own program alone: `rules`, the `-w` option."""
    code = re.findall(r"`([^`]+)`|(?<!\S)(--?\w[\w-]*)", subject)
    # a command or a package has its name in every program
    if re.search(
        r"\b(?:command|program|utility|package|daemon|tool|herramienta|orden|comando|programa|paquete|demonio)\b",
        subject,
    ):
        return False
    return bool(code) and not any(re.search(r"\w[_./:(]|\w-\w+-\w", first) for first, _ in code)


def is_empty_answer(question: str, reference: str, language: str, least: int = 2) -> bool:
    """Whether a reference says hardly more than its question does: `The Edit tab lets you edit the molecule.`"""
    asked = set(extract_content_stems(question, language))
    told = [stem for stem in extract_content_stems(reference, language) if stem not in asked]
    least = least if len(reference.split()) > MIN_ANSWER_WORDS else least - 1
    return len(told) < least and not re.search(r"[`\d]", reference)


def _inflect_parts(parts: dict[str, str], grammar: Grammar) -> dict[str, str]:
    """Forms of the verb and the answer that templates may use."""
    verb, answer = parts.get("verb", ""), parts.get("answer", "")
    plural = grammar.language == "en" and not verb.endswith("s")
    return {
        # capital: the part begins the question or the reference
        "Wh": grammar.time_questions.get(parts.get("prep", ""), grammar.time_questions[""]),
        "modal": "can" if verb == "may" else verb,
        "base": grammar.base_forms.get(verb, verb),
        "past": _PAST.get(verb, verb),
        "do": "do" if plural else "does",
        "many": "Cuántas" if parts.get("gender") in ("as", "iones", "dades") else "Cuántos",
        "Answer": answer[:1].upper() + answer[1:],
    }


def _is_good_subject(
    subject: str, verb: str, page: Page, headings: tuple[str, ...], is_general: bool
) -> bool:
    """Whether a subject is a simple noun phrase that is known by its name, is what its section is about, or stands for all."""
    grammar = page.grammar
    if subject.split()[0].lower() in grammar.bad_starts - grammar.articles:
        return False
    # a number inside: `Employees receive 25 days of annual leave`, whose last word is no verb
    is_phrase = gate.is_noun_phrase(subject, grammar) and not re.search(r"\s\d", subject)
    if not is_phrase or _is_disagreeing(subject, verb, grammar.language):
        return False
    words = [word.lower() for word in subject.split() if word.lower() not in grammar.articles]
    if _is_vague(words, subject, grammar) or _INTERFACE_PART.search(subject):
        return False
    is_plural = verb in _PLURAL_VERBS
    is_name = " " not in subject and not is_plural and subject.lower() not in page.small
    if is_name or is_general or gate.is_specific(subject) or page.owner:
        return True
    return _is_topic(subject, words, page, headings)


def _is_vague(words: list[str], subject: str, grammar: Grammar) -> bool:
    """Whether nobody can tell which one is meant: `the PPD file`. `words` are those of the subject without articles."""
    heads = [word for word, link in pairwise([*words, "of"]) if link in grammar.links]
    vague = [head in grammar.vague_nouns for head in heads]
    # `the file format for Tellico data`: a name behind it does not make the noun itself one
    return any(vague[:-1]) or (any(vague) and not _CODE_NAME.search(subject))


def _is_topic(subject: str, words: list[str], page: Page, headings: tuple[str, ...]) -> bool:
    """Whether a common noun is what its section is about; of `the utility` alone nobody knows which."""
    is_definite = subject.split()[0].lower() in ("the", "el", "la", "los", "las")
    if len(words) == 1 and (is_definite or words[0] in page.grammar.vague_nouns):
        return False
    about = " ".join((page.title, *headings[:2])).lower()
    return all(word.rstrip("s")[:5] in about for word in words if word not in page.grammar.links)


def _is_disagreeing(subject: str, verb: str, language: str) -> bool:
    """A plural with a singular verb (`User websites is`), or a lone infinitive that only looks like a noun (`Instalar`)."""
    if language == "es":
        plural = subject[:3].lower() in ("los", "las")
        infinitive = re.fullmatch(r"[A-ZÁÉÍÓÚ][a-zñ]+(?:ar|er|ir)", subject) is not None
        return infinitive or (plural and not verb.endswith(("n", "ó")))
    is_singular = verb == "is" or verb.endswith("s")
    return is_singular and re.search(r" \S*[a-z]{3}(?<![sui])s$", subject) is not None


def frame_question(page: Page, question: str, *, tool: bool = False, product: bool = False) -> str:
    """The question with the owner of the document, the tool of a manual page (`tool`) or the name that the document is
    about (`product`, and for a task without any name), where it does not name it."""
    owner = f"`{page.command}`" if tool and page.command else page.owner
    template = "frame_tool" if tool and page.command else "frame_at"
    if not owner and (product or (tool and not gate.is_specific(question.lstrip("¿")))):
        owner, template = page.product, "frame_in"
    names = [owner.strip("`")] if "`" in owner else re.findall(r"[\w-]{3,}", owner)
    if not owner or any(name in question for name in names):
        return question
    at = int(question[:1] == "¿")  # where its first letter stands
    small = question[:at] + question[at : at + 1].lower() + question[at + 1 :]
    return page.grammar.templates[template].format(owner=owner, question=small)


_SEE = re.compile(
    r"\s*\((?i:see|cf\.|véase|vea|ver|consulte)\b[^()]*(?:\([^()]*\)[^()]*)*\)|(?<=[.!?)])\s(?:(?:For|Para) (?:more|further|más|obtener más) (?:information|details|información|detalles)[^.]{0,40}, )?(?i:(?:please |por favor,? )?(?:see|refer to|véase|vea|ver|consulte)):? [^.]*\.?$"
)


def drop_references(text: str) -> str:
    """The text without `(see section 3)`."""
    return _SEE.sub("", text)


def _find_acronyms(page: Page, sentence: str, start: int, end: int) -> Iterator[Fact]:
    """`Advanced Package Tool (APT)`: what the letters stand for."""
    for match in _ACRONYM.finditer(sentence):
        words = [word for word in match[1].split() if word[0].isupper()]
        words = words[-len(match[2]) :]
        if "".join(word[0] for word in words) != match[2]:
            continue
        name = match[1][match[1].index(words[0]) :]
        question = page.grammar.templates["stands_for"].format(key=match[2])
        if not gate.explain_doubtful_question(question, page.grammar):
            yield Fact(question, f"{name}.", "factual", "stands_for", start, end, match[2])
