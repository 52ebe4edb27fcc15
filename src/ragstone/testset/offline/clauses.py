"""Facts from single sentences: definitions, purposes, places, dates, people, amounts, and how something is done."""

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

MAX_SENTENCE_CHARS = 420
"""Longer sentences are not read: they say too many things for one question."""
MIN_TASK_STEMS = 4
MIN_ANSWER_WORDS = 4
MIN_WAY_WORDS = 12
"""Words of an instruction that says enough without a name."""
_SECOND_CLAUSE = re.compile(r", (?:and |y )?\S+ (?:is|are|es|son) ")
"""`X is this, Y is that`: half of it defines something else."""
_HALF_TASK = re.compile(
    r"\b(?:not|just|only|sino|no|first|second|next|last|primer[ao]?|segund[ao]|últim[ao])\b|\b(?:by|with|to|of|for|in|on|from|is|are|con|por|de|en|a|que|es|está|están)$"
)
"""Words of a task that was cut in the wrong place."""
_HALF_WAY = re.compile(
    r"\b(?:first|primero|en primer lugar|if you (?:wish|want|like)|si (?:lo )?desea|(?:the )?(?:Close|OK|Cancel) button|botón (?:Cerrar|Aceptar|Cancelar)|appropriate|suitable|relevant|desired|corresponding|adecuad|apropiad|desead|correspondiente|pertinente)|^(?:you can |puede )?(?:also|también)\b",
    re.IGNORECASE,
)
"""Words of an instruction that is a first step, a second way, or leaves to its reader what to use."""
_NAMED_PATTERNS = ("when", "who")
"""Patterns whose subject has a name that is known outside of its program."""
_CODE_NAME = re.compile(r"[`_“«]|\w\.\w|[a-z][A-Z]| [A-Z][a-z]")
"""Signs of a name: written as in code, or with a capital inside the phrase."""
_PLURAL_VERBS = ("are", "were", "can", "must", "may")
"""Verbs that a plural may have: a capital before them is no name."""
_ACRONYM = re.compile(
    r"((?:[A-ZÁÉÍÓÚÑ][\w-]+ (?:(?:of|and|for|the|de|del|la|los|las|y|para) )*){1,5}[A-ZÁÉÍÓÚÑ][\w-]+) \(([A-Z]{2,6})\)"
)


def find_clause_facts(page: Page) -> Iterator[Fact]:
    """Facts of every sentence of the page that matches one of the grammar's patterns."""
    for section in page.sections:
        if section.block.kind not in ("paragraph", "item", "entry"):
            continue
        spans = find_sentences(page, section.block)
        for (start, end), (after, stop) in zip(spans, [*spans[1:], (0, 0)], strict=True):
            if end - start > MAX_SENTENCE_CHARS:
                continue
            is_step = section.block.kind == "item" and section.block.level > 0
            goes_on = page.grammar.next_step.match(page.document.text[after:stop].lstrip())
            for fact in _find_sentence_facts(page, section.headings, start, end):
                # of several steps one is not how it is done
                if fact.kind != "how_to" or not (is_step or goes_on):
                    yield fact


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
    is_whole = gate.is_sentence(sentence, grammar)
    is_whole = is_whole and not gate.explain_doubtful_reference(
        sentence, grammar, owned=bool(page.owner)
    )
    for pattern in grammar.patterns if is_whole else grammar.standing_alone:
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
    if reference[-1:] not in ".!?)”»" and pattern.is_instruction:
        reference += "."
    framed = _frame_subject(page, pattern, question, subject)
    if framed is None or _is_doubtful(page, pattern, framed, reference):
        return None
    asked = "rest" if "rest" in parts and "answer" not in parts else "answer"
    # the claim is what stands before the answer; proofs.py looks for it elsewhere, because another
    # sentence that begins so may answer otherwise
    claim = subject if pattern.is_instruction else sentence[: match.start(asked)].strip()
    return Fact(
        framed, reference, pattern.kind, pattern.name, 0, 0, subject, framed=framed != question, claim=claim,
    )  # fmt: skip


def _frame_subject(page: Page, pattern: Pattern, question: str, subject: str) -> str | None:
    """The question with the name that it needs; None when it needs one and the page gives none."""
    is_code = not pattern.is_instruction and _is_local_code(subject)
    # a product of its own (`SpamAssassin`) is what it is everywhere
    is_defined = pattern.name == "definition" and "`" not in subject and gate.is_specific(subject)
    is_named = is_defined or pattern.name in _NAMED_PATTERNS
    tool = pattern.is_instruction or is_code
    framed = frame_question(page, question, tool=tool, product=not is_named)
    is_common = pattern.kind == "factual" and pattern.name != "where"
    is_common = is_common or pattern.name in ("definition", "purpose")
    is_known = is_common or gate.is_specific(question.lstrip("¿"))
    return None if framed == question and (is_code or not is_known) else framed


def _is_doubtful(page: Page, pattern: Pattern, question: str, reference: str) -> bool:
    """Whether the gate refuses the pair, or it says nothing, too little or something else."""
    if gate.explain_doubt(question, reference, page.grammar, owned=bool(page.owner)):
        return True
    if is_empty_answer(question, reference, page.grammar.language):
        return True
    return pattern.name == "definition" and _SECOND_CLAUSE.search(reference) is not None


def _name_subject(
    page: Page, headings: tuple[str, ...], pattern: Pattern, parts: dict[str, str]
) -> str | None:
    """The subject as the question names it; None when nobody could tell from it what is asked about."""
    if pattern.is_instruction:
        return _name_task(page, parts)
    subject = parts["subject"]
    if not _is_good_subject(subject, parts["verb"], page, headings):
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


def _name_task(page: Page, parts: dict[str, str]) -> str | None:
    """The task of an instruction as the question names it; None for half a task, and where nobody could tell of what."""
    task = parts["subject"]
    framed = bool(page.command or page.product)
    is_known = bool(page.owner) or gate.is_specific(task)
    if not is_known and not _tells_task(task, page.grammar, framed=framed):
        return None
    return page.grammar.to_own_words(task) if _is_whole_task(task, parts) else None


def _is_whole_task(task: str, parts: dict[str, str]) -> bool:
    """Whether an instruction says all of a task and names what is used for it; not a first step or a second way."""
    way = parts.get("answer") or parts["means"]
    if _HALF_TASK.search(task) or _HALF_WAY.search(way):
        return False
    return gate.is_specific(f"x {way[:1].lower()}{way[1:]}") or len(way.split()) >= MIN_WAY_WORDS


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


def _tells_task(task: str, grammar: Grammar, *, framed: bool) -> bool:
    """Whether a task without a name says by its words what it is about; `reorder the list` does not.

    `framed`: the question will name the tool or product, and needs fewer."""
    is_definite = task.split()[1] in ("the", "el", "la", "los", "las")
    if is_definite and not re.match(r"\S+ \S+ (?:\S+ ){1,2}(?:of|for|de|del|para)\b", task):
        return False
    least = MIN_TASK_STEMS - 1 if framed else MIN_TASK_STEMS + is_definite
    return len(extract_content_stems(task, grammar.language)) >= least


def _inflect_parts(parts: dict[str, str], grammar: Grammar) -> dict[str, str]:
    """Forms of the verb and the answer that templates may use."""
    verb, answer = parts.get("verb", ""), parts.get("answer", "")
    plural = grammar.language == "en" and not verb.endswith("s")
    return {
        # capital: the part begins the question or the reference
        "modal": "can" if verb == "may" else verb,
        "base": grammar.base_forms.get(verb, verb),
        "do": "do" if plural else "does",
        "many": "Cuántas" if parts.get("gender") in ("as", "iones", "dades") else "Cuántos",
        "Answer": answer[:1].upper() + answer[1:],
    }


def _is_good_subject(subject: str, verb: str, page: Page, headings: tuple[str, ...]) -> bool:
    """Whether a subject is a simple noun phrase that is known by its name, or is what its section is about."""
    grammar = page.grammar
    if subject.split()[0].lower() in grammar.bad_starts - grammar.articles:
        return False
    is_phrase = gate.is_noun_phrase(subject, grammar)
    if not is_phrase or _is_disagreeing(subject, verb, grammar.language):
        return False
    words = [word.lower() for word in subject.split() if word.lower() not in grammar.articles]
    if _is_vague(words, subject, grammar):
        return False
    is_plural = verb in _PLURAL_VERBS
    is_name = " " not in subject and not is_plural and subject.lower() not in page.small
    if is_name or gate.is_specific(subject) or page.owner:
        return True
    return _is_topic(subject, words, page, headings)


def _is_vague(words: list[str], subject: str, grammar: Grammar) -> bool:
    """Whether nobody can tell which one is meant: `the PPD file`. `words` are those of the subject without articles."""
    heads = [word for word, link in pairwise([*words, "of"]) if link in grammar.links]
    return not grammar.vague_nouns.isdisjoint(heads) and not _CODE_NAME.search(subject)


def _is_topic(subject: str, words: list[str], page: Page, headings: tuple[str, ...]) -> bool:
    """Whether a common noun is what its section is about; of `the utility` alone nobody knows which."""
    is_definite = subject.split()[0].lower() in ("the", "el", "la", "los", "las")
    if len(words) == 1 and (is_definite or words[0] in page.grammar.vague_nouns):
        return False
    about = " ".join((page.title, *headings[:2])).lower()
    return all(word[:5] in about for word in words if word not in page.grammar.links)


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
    if not owner or any(word in question for word in re.findall(r"[\w-]{3,}|^`.+`$", owner)):
        return question
    at = int(question[:1] == "¿")  # where its first letter stands
    small = question[:at] + question[at : at + 1].lower() + question[at + 1 :]
    return page.grammar.templates[template].format(owner=owner, question=small)


_SEE = re.compile(
    r"\s*\((?i:see|cf\.|véase|vea|ver|consulte)\b[^()]*(?:\([^()]*\)[^()]*)*\)|(?<=[.!?)])\s(?:(?:For|Para) (?:more|further|más|obtener más) (?:information|details|información|detalles)[^.]{0,40}, )?(?i:see|refer to|véase|vea|ver|consulte):? [^.]*\.?$"
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
