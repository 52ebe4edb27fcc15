"""Facts from single sentences: definitions, purposes, places, dates, people and amounts."""

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
from ragstone.testset.offline.setting import Setting
from ragstone.testset.offline.subjects import frame_question, frame_subject, name_subject
from ragstone.testset.outline import DocumentSection
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.verbs import find_verb_form, is_base_form, to_base_form

MAX_SENTENCE_CHARS = 420
"""Longer sentences are not read: they say too many things for one question."""
MIN_ANSWER_WORDS = 4
_SECOND_CLAUSE = re.compile(r", (?:and |y )?\S+ (?:is|are|es|son) ")
"""`X is this, Y is that`: half of it defines something else."""
_DEFINED = re.compile(
    r"(?:(?!, (?:and|but|so|y|pero|aunque)\b).)*? (?:that|which|who|where|of|for|to|from|with|by|in|on|between|used|based|que|donde|de|del|para|con|por|en|entre)\b"
)
"""What tells a definition from praise (`a time consuming operation`): the noun is told from others of its sort."""
_ACRONYM = re.compile(
    r"((?:[A-ZÁÉÍÓÚÑ][\w-]+ (?:(?:of|and|for|the|de|del|la|los|las|y|para) )*){1,5}[A-ZÁÉÍÓÚÑ][\w-]+) \(([A-Z]{2,6})\)"
)


def find_clause_facts(page: Page) -> Iterator[Fact]:
    """Facts of every sentence of the page that matches one of the grammar's patterns."""
    for section in page.sections:
        if section.block.kind in ("paragraph", "item", "entry"):
            for start, end in find_sentences(page, section.block):
                if end - start <= MAX_SENTENCE_CHARS:
                    yield from _find_sentence_facts(page, section, start, end)


def _find_sentence_facts(
    page: Page, section: DocumentSection, start: int, end: int
) -> Iterator[Fact]:
    grammar, headings = page.grammar, section.headings
    sentence = tidy_text(page.document.text[start:end])
    opener = grammar.openers.match(sentence)
    if opener:
        # `However, the server …` → `The server …`: the link to the sentence before would dangle.
        sentence = sentence[opener.end() :][:1].upper() + sentence[opener.end() + 1 :]
    yield from _find_acronyms(page, sentence, start, end)
    yield from _find_roles(page, sentence, start, end)
    if page.has_home and section.block.kind == "paragraph":  # a step leans on those before it
        yield from _find_advice(page, sentence, start, end)
    # most sentences fail here, before any pattern is tried
    if not gate.is_sentence(sentence, grammar):
        return
    for pattern in grammar.patterns:
        match = pattern.sentence.fullmatch(sentence)
        fact = _build_fact(page, headings, pattern, match, sentence) if match else None
        if fact is not None:
            yield replace(fact, start=start, end=end)
            return  # a definition is all that its sentence says
    # the answer of a clause is a part of it: what the rest of the sentence points at does not matter. A manual page
    # tells such facts of anything but its command, which a question would have to name
    for clause in () if page.command else split_clauses(sentence, grammar.language):
        fact = _find_predicate_fact(page, headings, clause)
        if fact is not None:
            yield replace(fact, start=start, end=end)


def _find_predicate_fact(page: Page, headings: tuple[str, ...], clause: Clause) -> Fact | None:
    """The fact of a single clause, by the first pattern that matches it; start and end are set by the caller."""
    rows = (clause.to_row(), clause.to_timed_row(page.grammar.language))
    for pattern in page.grammar.predicates:
        match = next(filter(None, map(pattern.sentence.fullmatch, rows)), None)
        if match is not None:
            return _build_fact(page, headings, pattern, match, match[0])
    return None


def _build_fact(
    page: Page, headings: tuple[str, ...], pattern: Pattern, match: re.Match[str], sentence: str
) -> Fact | None:
    """The fact of a match, or None when it is doubtful; start and end are set by the caller."""
    grammar = page.grammar
    parts = {name: value or "" for name, value in match.groupdict().items()}
    subject = name_subject(page, headings, pattern, parts)
    rest = parts.get("rest", "") if pattern.kind == "factual" else ""
    if subject is None or _has_verb(rest, grammar):
        return None
    parts |= _inflect_parts(parts, grammar) | {"subject": subject}
    question = grammar.fix_question(pattern.question.format(**parts))
    reference = drop_references(
        pattern.reference.format(**parts) if pattern.reference else sentence
    )
    question = re.sub(r" (?=[ ?])", "", question)
    framed = frame_subject(page, pattern, question, subject)
    if framed is None or _is_doubtful(page, pattern, framed, reference):
        return None
    asked = "rest" if "rest" in parts and "answer" not in parts else "answer"
    # the claim is what stands before the answer; proofs.py looks for it elsewhere, because another
    # sentence that begins so may answer otherwise
    claim = sentence[: match.start(asked)].replace("\t", " ").strip()
    return Fact(
        framed, reference, pattern.kind, pattern.name, 0, 0, subject, framed=framed != question, claim=claim,
    )  # fmt: skip


def _is_doubtful(page: Page, pattern: Pattern, question: str, reference: str) -> bool:
    """Whether the gate refuses the pair, or it says nothing, too little or something else."""
    if gate.explain_doubt(question, reference, page.grammar, owned=page.has_home):
        return True
    if is_empty_answer(question, reference, page.grammar.language):
        return True
    if pattern.reference and _has_second_predicate(reference, page.grammar.language):
        return True
    if pattern.name not in ("definition", "part"):
        return False
    told = re.split(r" (?:is|are|es|son) ", reference, maxsplit=1)[-1]
    return not _DEFINED.match(told) or _SECOND_CLAUSE.search(reference) is not None


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


def is_empty_answer(question: str, reference: str, language: str, least: int = 2) -> bool:
    """Whether a reference says hardly more than its question does: `The Edit tab lets you edit the molecule.`"""
    # `FontSize` is the font size
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", question)
    asked = set(extract_content_stems(f"{question} {parts}", language))
    told = [stem for stem in extract_content_stems(reference, language) if stem not in asked]
    least = least if len(reference.split()) > MIN_ANSWER_WORDS else least - 1
    return len(told) < least and not re.search(r"[`\d]", reference)


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
    r"\s*\((?i:see|cf\.|véase|vea|ver|consulte)\b[^()]*(?:\([^()]*\)[^()]*)*\)|(?<=[.!?)])\s(?:(?:For|Para) (?:more|further|más|obtener más) (?:information|details|información|detalles)[^.]{0,40}, )?(?i:(?:please |por favor,? )?(?:see|refer to|véase|vea|ver|consulte)):? [^.]*\.?$"
)


def drop_references(text: str) -> str:
    """The text without `(see section 3)`."""
    return _SEE.sub("", text)


def _find_roles(page: Page, sentence: str, start: int, end: int) -> Iterator[Fact]:
    """`the warden, Ishbel Craig,`: who has a role in the house that the page is about."""
    for match in page.grammar.apposition.finditer(sentence) if page.has_home else ():
        called = match["role"] or match["called"]
        role = page.grammar.templates["who_is"].format(role=called[0].lower() + called[1:])
        question = frame_question(page, page.grammar.fix_question(role))
        if not gate.explain_doubtful_question(question, page.grammar):
            name = match["name"] or match["first"]
            claim = f"{called}, {name}" if match["role"] else f"{name}, {called}"
            yield Fact(question, name, "factual", "who", start, end, role, framed=True, claim=claim)


def _find_advice(page: Page, sentence: str, start: int, end: int) -> Iterator[Fact]:
    """`If you have lost a receipt, fill in the form`: what its reader should do in a case."""
    match = page.grammar.advice.fullmatch(sentence)
    if match is None or (page.grammar.language == "en" and not is_base_form(match["first"])):
        return
    if re.search(r"\b(?:cannot|no puede) \w+$", match["case"]):
        return  # `If you cannot come`: to what, only its section tells
    case = page.grammar.to_own_words(match["case"]).replace("I are ", "I am ")
    asked = page.grammar.templates["advice"].format(case=case)
    question = frame_question(page, page.grammar.fix_question(asked))
    reference = drop_references(f"{match['first'].capitalize()}{match['rest']}")
    doubt = gate.explain_doubtful_question(question, page.grammar, is_written=True)
    if not doubt and not gate.explain_doubtful_reference(reference, page.grammar, owned=True):
        claim = sentence[: match.start("first")].strip(" ,")
        yield Fact(question, reference, "how_to", "advice", start, end, case, framed=True, claim=claim)  # fmt: skip


def _name_page(page: Page) -> Page:
    """A manual page as one whose questions name the page: its command does not use the words."""
    if not page.command:
        return page
    templates = page.grammar.templates
    frame = templates["frame_page"].replace("{title}", templates["quote"].format(page.command))
    return replace(page, command="", setting=Setting("", frame))


def _find_acronyms(page: Page, sentence: str, start: int, end: int) -> Iterator[Fact]:
    """`Advanced Package Tool (APT)`: what the letters stand for."""
    for match in _ACRONYM.finditer(sentence) if "(" in sentence else ():
        words = [word for word in match[1].split() if word[0].isupper()]
        words = words[-len(match[2]) :]
        if "".join(word[0] for word in words) != match[2]:
            continue
        name = match[1][match[1].index(words[0]) :]
        bare = page.grammar.templates["stands_for"].format(key=match[2])
        # the same letters stand for other words elsewhere
        question = frame_question(_name_page(page), bare, product=True)
        if question != bare and not gate.explain_doubtful_question(question, page.grammar):
            yield Fact(question, f"{name}.", "factual", "stands_for", start, end, match[2])
