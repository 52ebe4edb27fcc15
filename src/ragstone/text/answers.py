"""Bare answers read with their question: `Which country reported it?` – `France` states that France reported it. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.text.clause_words import CLAUSE_WORDS, to_word_set
from ragstone.text.clauses import has_clause
from ragstone.text.content import find_content_words
from ragstone.text.language import detect_language
from ragstone.text.refusals import declines
from ragstone.text.verbs import WORD, find_verb_form

MAX_BARE_WORDS = 12
"""Words of an answer that only names something."""


def is_bare_answer(text: str, language: str | None = None) -> bool:
    """Whether a text only names something, so that it states nothing without its question: few words, no verb."""
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
    """Whether an answer has every content word of its question, so that it states something whatever its verb is."""
    asked = find_content_words(question)
    return len(asked) > 1 and asked <= find_content_words(answer)


def to_statement(question: str, answer: str, language: str | None = None) -> str:
    """Return the statement that a question and a bare answer make together.

    A question that the rules cannot turn is kept before the answer: `How to apply: by post.`"""
    question_language = detect_language(question, language)
    asked = _QUESTION_MARKS.sub(" ", question.strip().split("\n")[-1])
    asked = _ASKED_AFTER.sub("", " ".join(asked.split()).rstrip(" .:")).strip()
    given = _reduce_to_polar(answer.strip().rstrip(".! "))
    if not asked:
        return answer
    turn = _turn_spanish if question_language == "es" else _turn_english
    statement = turn(asked, given) or f"{asked}: {given}"
    return f"{statement[0].upper()}{statement[1:]}."


def is_polar_exchange(question: str, answer: str, language: str | None = None) -> bool:
    """Whether a question wants yes or no and the answer is no more than that: `No, it is not.`"""
    given = _reduce_to_polar(answer.strip().rstrip(".! "))
    polar = _POLAR.match(given)
    if polar is None or polar[3]:
        return False
    # the statement on any other question ends with the answer
    return not to_statement(question, given, language).lower().endswith(f" {given.lower()}.")


def _reduce_to_polar(answer: str) -> str:
    """Yes or no, where an answer says it in a few words: `Yes, it is`, `They do not`, `Claro que sí`, `No, no lo es`."""
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
# every way to say yes or no; `_POLAR` meets only what is left when these are reduced to Yes, Sí or No
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
_QUESTION_MARKS = re.compile(r"[¿?]")
_ASKED_AFTER = re.compile(
    r"^(?:(?:and|so|please|y|entonces|pues|por favor)[\s,]+|(?:can|could) you tell me[\s,]+|(?:puedes|me puedes) decir(?:me)?[\s,]+)+",
    re.IGNORECASE,
)
# 1: yes, 2: no, 3: what follows
_POLAR = re.compile(r"(?:(yes|yeah|sí|si|correct|correcto)|(no))\b[\s,.:;–-]*(.*)$", re.IGNORECASE)


def _turn_english(asked: str, given: str) -> str | None:
    asked = _CONTRACTED.sub(r"\1 is", asked)
    match = _EN_ASKS.match(asked)
    if match is None:
        return _turn_polar_english(asked, given)
    wanted = " ".join(match["wh"].lower().split())
    rest, clause = _split_clause(asked[match.end() :].strip())
    thing, rest = _split_thing(rest) if wanted in _WITH_THING else ("", rest)
    words = rest.split()
    if not words or words[0].lower() == "to":
        return None
    if words[0].lower() not in _EN_HELPERS:
        return None if match["prep"] else f"{_count(wanted, given, thing)} {rest}{clause}"
    index = _find_inverted_verb(words)
    if index == 1 or (index is None and wanted in _NAMES):
        return f"{_count(wanted, given, thing)} {rest}{clause}"
    measure = (match["measure"] or "").lower()
    # 324 metres tall, but: delivery takes 3 days
    is_adjective = measure not in ("", "many", "much", "often") and words[0].lower() in _EN_BE
    ending = f" {measure}" if is_adjective else ""
    linked = _link(_find_link(match["prep"] or "", thing, wanted, words[-1]), given)
    # without a verb (None) the whole rest is the subject, and the helper comes last
    statement = [*words[1:index], words[0], *(words[index:] if index else [])]
    return f"{' '.join([*statement, _count(wanted, linked, thing)])}{ending}{clause}"


def _find_link(preposition: str, thing: str, wanted: str, last: str) -> str:
    """The preposition that the answer takes, unless the question ends with one: where is it based in."""
    if last.lower() in CLAUSE_WORDS["en"].prepositions:
        return ""
    return (preposition or _EN_LINKS.get(thing.lower()) or _EN_LINKS.get(wanted, "")).lower()


def _link(link: str, given: str) -> str:
    """The answer with the preposition that the question asks for, unless it has one."""
    first = given.split()[0].lower()
    prepositions = CLAUSE_WORDS["en"].prepositions | CLAUSE_WORDS["es"].prepositions
    if first in prepositions:
        return f"{given[0].lower()}{given[1:]}"
    has_link = not link or first in ("because", "porque", "el")
    return given if has_link else f"{link} {given}"


def _split_clause(rest: str) -> tuple[str, str]:
    """A question and the clause that it ends with: how old was he | when he died."""
    words = rest.split()
    for index, word in enumerate(words[2:], 2):
        if word.lower() in ("when", "if", "because", "after", "before", "while"):
            return " ".join(words[:index]), f" {' '.join(words[index:])}"
    return rest, ""


def _turn_polar_english(asked: str, given: str) -> str | None:
    """`Does it have a pool?` – `No`: it does not have a pool."""
    polar, words = _POLAR.match(given), asked.split()
    if polar is None or words[0].lower() not in _EN_HELPERS or len(words) < 3:
        return None
    # the first word after the helper is of the subject, whatever it looks like: is smoking permitted
    index = _find_inverted_verb([words[0], "x", *words[2:]]) or _find_noun_end(words)
    negation = ["not"] if polar[2] else []
    more = [polar[3]] if polar[3] else []
    return " ".join([*words[1:index], words[0].lower(), *negation, *words[index:], *more])


def _find_noun_end(words: Sequence[str]) -> int:
    """Where the predicate of `is the museum free` starts: after a name, or after a determiner and a noun."""
    if words[1].lower() in CLAUSE_WORDS["en"].determiners:
        return min(3, len(words))
    index = 2
    while index < len(words) and words[1][0].isupper() and words[index][0].isupper():
        index += 1
    return index


def _find_inverted_verb(words: Sequence[str]) -> int | None:
    """The index of the verb that stands after helper and subject: was Einstein | born."""
    grammar = CLAUSE_WORDS["en"]
    for index, word in enumerate(words[1:], 1):
        if word[0].isupper() and index > 1:
            continue
        form = find_verb_form(word.lower(), "en")
        before = words[index - 1].lower()
        is_bound = before in grammar.determiners or before in grammar.prepositions
        is_verb = form in ("past", "participle", "base") or word.endswith("ing") or word == "have"
        if (is_verb and not is_bound) or (index == 2 and before in _PRONOUNS):
            return index
    needs_verb = words[0].lower() in ("do", "does", "did") and len(words) > 2
    return len(words) - 1 if needs_verb else None


def _split_thing(rest: str) -> tuple[str, str]:
    """The noun that a question word goes with, and what follows: country | reported the first case."""
    words = rest.split()
    for index, word in enumerate(words):
        form = find_verb_form(word.lower(), "en")
        if word.lower() in _EN_HELPERS or (
            index and form in ("finite", "past", "noun_like", "base")
        ):
            return " ".join(words[:index]), " ".join(words[index:])
    return "", rest


def _count(wanted: str, given: str, thing: str) -> str:
    """The answer in the place of the question word: 40 with the people that were counted, a name alone."""
    return _add_thing(given, thing) if wanted.startswith("how") and thing else given


def _add_thing(given: str, thing: str) -> str:
    return given if thing.split()[-1].lower() in given.lower() else f"{given} {thing}"


_EN_ASKS = re.compile(
    r"(?:(?P<prep>in|on|at|to|from|of|for|with|by|under|during|about|into)\s+)?"
    r"(?P<wh>who|whom|whose|what|which|where|when|why|how(?:\s+(?P<measure>many|much|long|old|tall|high|far|deep|wide|big|large|"
    r"heavy|often|fast|thick|expensive))?)\b\s*",
    re.IGNORECASE,
)
_WITH_THING = to_word_set("what which whose") | {"how many", "how much"}
_NAMES = to_word_set("who whom what which")
_EN_HELPERS = to_word_set(
    "is are was were am do does did has have had can could will would should may might must"
)
_EN_BE = to_word_set("is are was were am")
_EN_LINKS = {"where": "in", "when": "in", "why": "because of"} | dict.fromkeys(
    ("year", "month", "century", "decade", "city", "country", "town", "state"), "in"
)
_PRONOUNS = to_word_set("it he she they we you i there this that")
_CONTRACTED = re.compile(r"^((?:who|what|where|when|how))['’]s\b", re.IGNORECASE)


def _turn_spanish(asked: str, given: str) -> str | None:
    match = _ES_ASKS.match(asked)
    if match is None:
        return _turn_polar_spanish(asked, given)
    wanted, preposition = match["wh"].lower(), match["prep"] or ""
    rest = asked[match.end() :].strip()
    thing, verb = _split_spanish_thing(rest)
    if not verb:
        return None
    if wanted.startswith("cuánt") and thing:
        return _order_spanish(verb, f"{preposition.lower()} {_add_thing(given, thing)}".strip())
    is_name = wanted in _ES_NAMES or (wanted == "qué" and thing)
    if is_name and not preposition:
        return f"{given} {verb}"
    return f"{verb} {_link((preposition or _ES_LINKS.get(wanted, '')).lower(), given)}"


def _order_spanish(predicate: str, counted: str) -> str:
    """A question's verb with what follows it, and the answer: Marte tiene dos lunas, of `tiene Marte` and `dos lunas`."""
    words = predicate.split()
    last = next((n for n, word in enumerate(words) if word.lower() not in _ES_CLITICS), 0)
    if find_verb_form(words[last].lower(), "es") == "finite" and last + 1 < len(words):
        is_perfect = find_verb_form(words[last + 1].lower(), "es") == "participle"
        last += is_perfect and last + 2 < len(words)
    verb, subject = words[: last + 1], words[last + 1 :]
    return " ".join([*subject, *verb, counted] if subject else [counted, *verb])


def _turn_polar_spanish(asked: str, given: str) -> str | None:
    polar = _POLAR.match(given)
    verb = next((word for word in asked.lower().split() if word not in _ES_CLITICS), "")
    if polar is None or find_verb_form(verb, "es") != "finite":
        return None
    more = f" {polar[3]}" if polar[3] else ""
    return f"{'no ' if polar[2] else ''}{asked[0].lower()}{asked[1:]}{more}"


def _split_spanish_thing(rest: str) -> tuple[str, str]:
    words = rest.split()
    for index, word in enumerate(words):
        if word.lower() in _ES_CLITICS or find_verb_form(word.lower(), "es") in (
            "finite",
            "noun_like",
        ):
            return " ".join(words[:index]), " ".join(words[index:])
    return "", ""


_ES_ASKS = re.compile(
    r"(?:(?P<prep>en|a|de|desde|con|por|para|sobre|hasta|durante|bajo)\s+(?!qué\b(?=\s*$)))?"
    r"(?P<wh>quién|quiénes|qué|cuál|cuáles|dónde|cuándo|cómo|cuánto|cuánta|cuántos|cuántas)\b\s*",
    re.IGNORECASE,
)
_ES_CLITICS = to_word_set("se no le les lo")
_ES_NAMES = to_word_set("quién quiénes cuál cuáles")
_ES_LINKS = {"dónde": "en", "cuándo": "en"}
