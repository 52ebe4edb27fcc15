"""The `standalone` Ask: a question reworded so that it can be understood without the conversation
before it.

Three rules, in English and Spanish. A pronoun becomes the topic of the question before it, or the
name that answered that question. A fragment (And the Pro plan? ¿Y en España?) takes its place in
the question before it. In Spanish a verb without a subject gets the topic as one. What these rules
cannot decide is refused, never guessed. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.errors import JudgeFailed
from ragstone.judges.offline.questions import classify_question
from ragstone.text.answers import is_bare_answer
from ragstone.text.clause_words import DETERMINERS, PREPOSITIONS, to_word_set
from ragstone.text.content import find_content_words
from ragstone.text.language import detect_language
from ragstone.text.quantities import find_quantities
from ragstone.text.stopwords import STOPWORDS
from ragstone.text.verbs import NOUN_LIKE, WORD, find_verb_form


def answer_standalone(values: Mapping[str, Any], language: str | None) -> Any:
    """Reply with the question as it stands alone; JudgeFailed where the rules cannot tell what it
    speaks of."""
    question, history = values["question"], values["history"]
    said = [
        (row["role"], row["content"]) for row in history if row["role"] in ("user", "assistant")
    ]
    reworded = make_standalone(question, said, language)
    if reworded is None:
        raise JudgeFailed("unsupported", "question_needs_history", question=question[:80])
    return {"question": reworded}


def choose_question(
    question: str, said: Sequence[tuple[str, str]], answer: str, language: str | None
) -> str | None:
    """The question that an answer is measured against: as it is, unless both are fragments (And the
    Pro plan? Five years.).

    The ellipses of a question go with those of its answer: rewording every question was worse
    (`python -m bench.conversations`)."""
    tongue = detect_language(question, language)
    is_whole = has_clause(question, find_phrases(question, tongue), tongue)
    if is_whole or not is_bare_answer(answer, language):
        return question
    return make_standalone(question, said, language)


def make_standalone(
    question: str, said: Sequence[tuple[str, str]], language: str | None = None
) -> str | None:
    """The question reworded by what was said, (role, text) each; None when the rules do not tell
    what it means."""
    tongue = detect_language(" ".join([*(text for _, text in said), question]), language)
    topic: Topic | None = None
    for index, (role, text) in enumerate(said):
        if role != "user":
            continue
        following = said[index + 1 : index + 2]
        answer = following[0][1] if following and following[0][0] == "assistant" else ""
        alone = _reword(text, topic, tongue)
        topic = None if alone is None else Topic(alone, answer)
    return _reword(question, topic, tongue)


@dataclass(frozen=True, slots=True)
class Topic:
    """The question before, made to stand alone, and the answer to it."""

    question: str
    answer: str

    def find_subject(self, tongue: str) -> str | None:
        """What a pronoun means: the bare name that was the answer, else the first thing that was
        asked about."""
        kind = classify_question(self.question)
        bare = self.answer.strip().rstrip(".!")
        # a plan with few limits describes, the Basic plan names
        is_name = is_bare_answer(self.answer, tongue) and not _INDEFINITE.match(bare)
        if (kind.name or kind.thing) and is_name and not find_quantities(bare, tongue):
            first = bare.split()[0].lower()
            return bare if first not in ARTICLES[tongue] else f"{first}{bare[len(first) :]}"
        phrases = find_phrases(self.question, tongue)
        named = [phrase for phrase in phrases if not phrase.is_asked and phrase.is_definite]
        chosen = named or [phrase for phrase in phrases if not phrase.is_asked] or phrases
        return extend_phrase(chosen[0], phrases, self.question) if chosen else None

    def find_person(self, tongue: str) -> str | None:
        """Who he or she is: the name that was the answer, else the first of the question, else of
        the answer."""
        is_bare = is_bare_answer(self.answer, tongue)
        for text in (self.answer if is_bare else "", self.question, self.answer):
            names = [match[0] for match in _NAME.finditer(text) if match.start() or is_bare]
            if names:
                return names[0]
        return None


def _reword(question: str, topic: Topic | None, tongue: str) -> str | None:
    """The question with what it leaves open filled in; None when that cannot be told."""
    opening = _OPENING[tongue].match(question)
    rest = question[opening.end() :] if opening else question
    phrases = find_phrases(rest, tongue)
    is_whole = has_clause(rest, phrases, tongue)
    if _VAGUE[tongue].search(rest):
        return None
    if not is_whole:
        # a question of a few words without any opening may be complete: Opening hours?
        if topic is None or not phrases:
            return None
        return _put_into(topic.question, rest, phrases[0], tongue)
    reworded, is_open = fill_pronouns(rest, topic, tongue)
    if not is_open and _lacks_subject(rest, phrases, tongue):
        reworded = _add_subject(rest, topic) if tongue == "es" else None
    return None if reworded is None else _tidy(reworded)


def _add_subject(question: str, topic: Topic | None) -> str | None:
    """A Spanish question with the topic behind its verb; None without a topic."""
    subject = topic.find_subject("es") if topic else None
    bare = question.rstrip(" ?.!")
    return None if subject is None else f"{bare} {subject}{question[len(bare) :]}"


def _lacks_subject(question: str, phrases: Sequence[NounPhrase], tongue: str) -> bool:
    """Whether a question names nothing it could be about; in Spanish a verb of the third person
    needs no subject."""
    if not phrases or tongue != "es":
        return not phrases
    if any(not phrase.is_asked and phrase.article != "indefinite" for phrase in phrases):
        return False
    verbs = [w for w in WORD.findall(question.lower()) if find_verb_form(w, tongue) == "finite"]
    return bool(verbs) and _THIRD_PERSON.fullmatch(verbs[0]) is not None


_THIRD_PERSON = re.compile(r"(?!hay$|hace$|había$)(?:es|fue|.*(?:[aeóáé]|[aeo]n|ió))")


def _tidy(text: str) -> str:
    text = _CONTRACTED.sub(r"\1l", " ".join(text.split()))
    # what stood behind an opening begins the sentence now
    first = re.search(r"[^\W\d_]", text)
    if first is None:
        return text
    if text.endswith("?") and "¿" not in text and _SPANISH_WH.match(text):
        text, first = f"¿{text}", None
    at = 1 if first is None else first.start()
    return text[:at] + text[at].upper() + text[at + 1 :]


_CONTRACTED = re.compile(r"\b([Dd]e|[Aa]) el(?=\s)")
"""Spanish joins the preposition and the article: del plan, al plan."""

# ── pronouns ──────────────────────────────────────────────────────────────────────────────


def fill_pronouns(question: str, topic: Topic | None, tongue: str) -> tuple[str | None, bool]:
    """The question with its pronouns replaced, and whether it has any; None when what they mean is
    not known."""
    is_open = False
    for pattern, kind in _PRONOUNS[tongue]:
        matches = list(pattern.finditer(question))
        if len(matches) > 1:  # twice the same word may mean two things
            return None, True
        for match in matches:
            is_expletive = _EXPLETIVE.match(question, match.start())
            has_own = _NAMED_BEFORE[tongue].search(question[: match.start()])
            if kind == "thing" and (is_expletive or has_own):
                continue
            is_open = True
            if topic is None:
                return None, True
            subject = topic.find_person(tongue) if kind == "person" else topic.find_subject(tongue)
            if subject is None:
                return None, True
            filled = match.expand(_FORMS[pattern]).replace("@", subject)
            question = question[: match.start()] + filled + question[match.end() :]
    return question, is_open


_EXPLETIVE = re.compile(
    r"it(?:\s+\w+){1,3}?\s+(?:to|that|if)\b|it\s+(?:possible|true|necessary)\b", re.IGNORECASE
)
"""It that stands for nothing: how long does it take to arrive."""


_NAMED_BEFORE = {
    "en": re.compile(r"\b(?:the|a|an)\s+\w+.*\b(?:and|or|but)\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:el|la|los|las|un|una)\s+\w+.*\b(?:y|o|pero)\b", re.IGNORECASE),
}
"""A clause before that names the thing: where is the tower and when was it built."""


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_EN_PATTERNS = (
    (r"\b(?:its|their|theirs)\b", "thing", "@'s"),
    (r"\b(?:his|her(?=\s+\w)|hers)\b", "person", "@'s"),
    (r"\b(?:he|she|him|her)\b", "person", "@"),
    (r"\b(?:this|that|these|those)\s+(?!is\b|are\b|was\b|were\b|the\b|a\b|in\b|of\b|to\b|it\b)(?P<noun>\w+)(?=\W*$|\s+(?:\w+)\W)", "noun", "@"),
    (r"\b(?:it|they|them)\b", "thing", "@"),
    (r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere(?=\W*$)", "thing", "in @"),
)  # fmt: skip
_ES_PATTERNS = (
    (r"\b(?:él|ella|ellos|ellas)\b", "thing", "@"),
    (r"\b(?:eso|esto|ello)\b", "thing", "@"),
    (r"\b(?:lo|la|los|las)\s+(?P<verb>(?:puedo|puede|pueden|podemos|debo|tengo que|hay que)\s+\w+|[a-záéíóúñ]+(?:o|e|an|en|ó|amos|emos|imos))(?=\W*$|\s+(?:en|con|de|a|por|para|desde)\b)", "thing", r"\g<verb> @"),
    (r"\b(?P<verb>\w+[aei]r)(?:lo|la|los|las)\b", "thing", r"\g<verb> @"),
    (r"\b(?:su|sus)\s+(?P<noun>\w+)", "thing", r"\g<noun> de @"),
    (r"\b(?:ese|esa|esos|esas|este|esta|estos|estas)\s+(?P<noun>[a-záéíóúñ]+)", "noun", "@"),
    (r"\b(?:ahí|allí|allá)\b", "thing", "en @"),
)  # fmt: skip
_FORMS: dict[re.Pattern[str], str] = {}


def _build_patterns(rows: Sequence[tuple[str, str, str]]) -> list[tuple[re.Pattern[str], str]]:
    built = []
    for text, kind, form in rows:
        pattern = _compile(text)
        _FORMS[pattern] = form
        built.append((pattern, kind))
    return built


_PRONOUNS = {"en": _build_patterns(_EN_PATTERNS), "es": _build_patterns(_ES_PATTERNS)}
_VAGUE = {
    "en": _compile(
        r"\b(?:ones|others?|former|latter)\b|\bsame\b(?!\s+(?:time|day|week|month|year)\b)"
        r"|(?<!\bfor )(?<!\bper )(?<!\bin )(?<!\bwith )(?<!\bonly )(?<!\bthan )\bone\b"
    ),
    "es": _compile(
        r"\bmism[oa]s?\b(?!\s+(?:tiempo|día|semana|mes|año)\b)|\botr[oa]s?\b|\baquel(?:la)?\b"
    ),
}
"""Words that choose among things mentioned before, which no rule here can follow; a number or a
time chooses nothing."""

# ── fragments ─────────────────────────────────────────────────────────────────────────────

_OPENING = {
    "en": _compile(r"\W*(?:(?:(?:and|but|so|then|ok|okay|thanks|thank you)[,.!]?\s+)+(?:(?:what|how) about\s+)?|(?:what|how) about\s+)"),
    "es": _compile(r"\W*(?:(?:(?:y|e|pero|entonces|vale|gracias)[,.]?\s+)+¿?(?:qué (?:hay de|tal|pasa con)\s+)?|¿?qué (?:hay de|tal|pasa con)\s+)"),
}  # fmt: skip
_SPANISH_WH = _compile(
    r"(?:(?:a|de|en|por|para|con|desde|hasta)\s+)?(?:qué|cuál|cuáles|quién|quiénes|cómo|cuándo|dónde|cuánt[oa]s?)\b"
)


def _put_into(previous: str, fragment: str, phrase: NounPhrase, tongue: str) -> str | None:
    """The question before with the fragment in the place of what it replaces."""
    text = fragment.strip(" ?¿.!,")
    before = fragment[: phrase.start].strip(" ?¿").lower()
    preposition = (
        before.split()[-1] if before and before.split()[-1] in PREPOSITIONS[tongue] else ""
    )
    candidates = find_phrases(previous, tongue)
    chosen = _choose_replaced(candidates, phrase, previous, preposition, tongue)
    if chosen is None:
        if not preposition:
            return None
        end = len(previous.rstrip(" ?"))
        return _tidy(f"{previous[:end]} {text}{previous[end:]}")
    replacement = fragment[phrase.start :].strip(" ?.!")
    return _tidy(previous[: chosen.start] + replacement + previous[chosen.end :])


def _choose_replaced(
    candidates: Sequence[NounPhrase],
    phrase: NounPhrase,
    previous: str,
    preposition: str,
    tongue: str,
) -> NounPhrase | None:
    """The phrase of the question before that a fragment replaces: of the same head, kind or
    preposition."""
    if preposition:
        return next((c for c in candidates if _get_word_before(previous, c) == preposition), None)
    shared = find_content_words(phrase.text)
    alike = [c for c in candidates if find_content_words(c.text) & shared]
    others = [c for c in candidates if not c.is_asked]
    for group in (
        alike,
        [c for c in others if c.shape == phrase.shape],
        [c for c in others if c.shape == phrase.shape and c.article == phrase.article],
        others,
    ):
        if len(group) == 1:
            return group[0]
    return None


def _get_word_before(text: str, phrase: NounPhrase) -> str:
    before = WORD.findall(text[: phrase.start])
    return before[-1].lower() if before else ""


_INDEFINITE = _compile(r"(?:an?|una?)\s")
_NAME = re.compile(
    r"[A-ZÁÉÍÓÚÑ][\w'’-]+(?:\s+(?:(?:de|of|von|van|la|del)\s+)?[A-ZÁÉÍÓÚÑ][\w'’-]+)*"
)


# ── noun phrases, by tables and places: enough to tell what a question is about ────────────


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A determiner with what follows up to a verb or function word."""

    start: int
    end: int
    text: str
    is_asked: bool
    """Whether a question word goes with it: which plan."""

    @property
    def article(self) -> str:
        """Which article it starts with: indefinite, definite or none."""
        first = self.text.split()[0].lower()
        if first in _INDEFINITES:
            return "indefinite"
        return "definite" if first in ARTICLES["en"] | ARTICLES["es"] else "none"

    @property
    def is_definite(self) -> bool:
        """Whether it names something in particular: the plan, my dog, Acme."""
        return self.article == "definite" or self.shape != "noun"

    @property
    def shape(self) -> str:
        """A name, a figure, or a common noun."""
        if any(character.isdigit() for character in self.text):
            return "figure"
        bare = self.text.split(" ", 1)[-1]
        return "name" if bare[:1].isupper() else "noun"


_WH_WORDS = to_word_set(
    "who whom whose what which when where why how quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas"
)
_VERBAL_WH = to_word_set("how when where why cómo cuándo dónde")
_MEASURES = to_word_set(
    "long many much old tall high far deep wide big large heavy often fast soon"
)


def find_phrases(text: str, tongue: str) -> list[NounPhrase]:
    """The noun phrases of a question, in order; possessives and demonstratives are no part of
    one."""
    tokens = list(WORD.finditer(text))
    words = [token[0].lower() for token in tokens]
    verb = _find_verb(words) if tongue == "en" else None
    runs: list[list[int]] = []
    for index, token in enumerate(tokens):
        is_joined = bool(runs) and runs[-1][-1] == index - 1
        is_joined = is_joined and not text[tokens[index - 1].end() : token.start()].strip()
        if words[index] in ARTICLES[tongue]:
            runs.append([index])
        elif index != verb and _is_nominal(tokens, index, is_joined, tongue):
            if is_joined:
                runs[-1].append(index)
            else:
                runs.append([index])
    phrases = [
        NounPhrase(start, end, text[start:end], _is_asked(words, run[0]))
        for run in runs
        for start, end in [(tokens[run[0]].start(), tokens[run[-1]].end())]
    ]
    return [phrase for phrase in phrases if _has_noun(phrase.text)]


def _is_asked(words: Sequence[str], index: int) -> bool:
    before = words[max(index - 2, 0) : index]
    return bool(before) and (before[-1] in _WH_WORDS or _is_measure(before))


def _is_measure(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[0] == "how" and words[1] in _MEASURES


def _has_noun(text: str) -> bool:
    return bool(find_content_words(text)) or any(character.isdigit() for character in text)


def _find_verb(words: Sequence[str]) -> int | None:
    """The verb of an English question with a helper: the last word that can be one, the first that
    is nothing else.

    Does the Pro plan | include …; how much does the Pro plan | cost."""
    helpers = [at for at, word in enumerate(words) if word.lower() in _HELPERS]
    chosen = None
    prepositions = PREPOSITIONS["en"]
    for index in range(helpers[0] + 2, len(words)) if helpers else ():
        word, before = words[index].lower(), words[index - 1].lower()
        if word in prepositions:
            break
        if find_verb_form(word, "en") != "base" or before in DETERMINERS["en"]:
            continue
        chosen = index
        if word not in NOUN_LIKE:
            break
    return chosen


_COUNTED_VERB = re.compile(r"\bcuántos? \w+(?:a|an|e|en)\b", re.IGNORECASE)
"""How much something weighs: of a noun, cuánto would have its gender."""
_BEFORE_VERBS = to_word_set("i you we they he she se me te nos le les")
"""Pronouns that a verb follows."""
_HELPERS = to_word_set("do does did can could will would should may might must")
_INDEFINITES = to_word_set(
    "a an un una unos unas mucho mucha muchos muchas algún alguna algunos algunas"
)
ARTICLES = {
    "en": to_word_set("a an the my your our"),
    "es": to_word_set(
        "el la los las un una unos unas mi mis tu tus nuestro nuestra nuestros nuestras"
    ),
}


def _is_nominal(tokens: Sequence[re.Match[str]], index: int, in_phrase: bool, tongue: str) -> bool:
    """Whether a word can be part of a noun phrase, as far as tables and its place tell."""
    word = tokens[index][0]
    lower, before = word.lower(), tokens[index - 1][0].lower() if index else ""
    if _is_verb_place(lower, before) or lower in _WH_WORDS or _is_measure((before, lower)):
        return False
    if word[0].isdigit() or (word[0].isupper() and index and word != "I"):
        return True
    if lower in STOPWORDS[tongue] or lower in PREPOSITIONS[tongue]:
        return False
    return _is_noun_here(lower, before, in_phrase, tongue)


def _is_noun_here(lower: str, before: str, in_phrase: bool, tongue: str) -> bool:
    """Whether a word that may be a verb is a noun in this place."""
    form = find_verb_form(lower, tongue)
    if form == "" or (form == "participle" and in_phrase):
        return True
    is_bound = before in DETERMINERS[tongue] or before in PREPOSITIONS[tongue]
    if tongue == "es":
        return is_bound and form != "infinitive"
    # a word that is verb or noun: a noun after its determiner, and at the end of a phrase if it
    # usually is one
    return is_bound or (in_phrase and form in ("base", "noun_like") and lower in NOUN_LIKE)


def _is_verb_place(word: str, before: str) -> bool:
    return before in _BEFORE_VERBS or _COUNTED_VERB.fullmatch(f"{before} {word}") is not None


def has_clause(text: str, phrases: Sequence[NounPhrase], tongue: str) -> bool:
    """Whether a text has a verb outside its noun phrases: a whole question, not a fragment of
    one."""
    for token in WORD.finditer(text):
        is_inside = any(phrase.start <= token.start() < phrase.end for phrase in phrases)
        form = "" if is_inside else find_verb_form(token[0].lower(), tongue)
        if form in ("finite", "past", "base", "infinitive") and token[0].lower() not in _WH_WORDS:
            return True
    words = [word.lower() for word in WORD.findall(text)]
    if _WH_WORDS.isdisjoint(words):
        return False
    if any(not phrase.is_asked for phrase in phrases) or _COUNTED_VERB.search(text):
        return True  # qué | significa | el código, with a verb that no table knows
    # how and where go with a verb, if only with one that no table knows: cómo lo contrato
    asks = [at for at, word in enumerate(words) if word in _VERBAL_WH]
    return bool(asks) and any(word not in _MEASURES for word in words[asks[0] + 1 :])


def extend_phrase(phrase: NounPhrase, phrases: Sequence[NounPhrase], text: str) -> str:
    """The phrase with those that `of` hangs on it: the warranty of the Basic plan."""
    end = phrase.end
    for following in phrases:
        if following.start > end and _OF.fullmatch(text[end : following.start]):
            end = following.end
    return text[phrase.start : end]


_OF = re.compile(r"\s+(?:of|de|del)\s+", re.IGNORECASE)
