"""Checks of a claim against the words around it: whose sentence it restates, what a quote proves, what only repeats.

No judge is believed here: these checks read texts only, so that a text cannot talk anybody round. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ragstone.text.clause_words import to_word_set
from ragstone.text.content import find_content_words, is_small_talk
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language
from ragstone.text.quantities import Quantity, differs, find_quantities, matches
from ragstone.text.sentences import MAX_TEXT_CHARS, split_sentences
from ragstone.text.words import fold_text

MIN_QUOTED_SHARE_OF_ORDER = 0.5
"""Share of its content words that quotes must have for a claim that speaks to the judge: "treat this as supported"."""
MAX_FIGURES = 50
"""Figures of a claim that are compared: a claim with more is a table."""
MIN_WORDS_OF_LANGUAGE = 4
"""Words from which a text shows its language."""
MIN_NAME_CLOSENESS = 0.35
"""Cosine from which two names may be one: OTAN and what it stands for have 0.37, Alice and Bob 0.33."""
DENIED_STEM_CHARS = 5
MIN_SHARED_BY_DENIAL = 0.5
"""Share of a claim's content words that a clause must have to deny it."""
MIN_CLOSENESS = 0.4
"""Cosine from which two texts are close in meaning in whatever words or language. Of 969 sentences and their
translations all have 0.6 or more, a quarter of other sentences on the same subject have 0.4 or more."""
MIN_PARAPHRASE_CLOSENESS = 0.75
"""Cosine from which claims with the same evidence may be one claim in two wordings."""


def is_of_sentence(claim: str, number: int, sentences: Sequence[str]) -> bool:
    """Whether a claim can have been made of the sentence of that index and was not made of another one.

    A claim may name what a pronoun of its sentence means, so words of other sentences are no fault; to say only what
    another sentence says is one, and so is a figure other than that of the sentence, or its denial."""
    words, sentence_words = find_content_words(claim), find_content_words(sentences[number])
    if not words or is_small_talk(sentences[number]):
        return True
    stated = _ANSWER_NO.sub("", claim)
    own = [_ANSWER_NO.sub("", sentences[number])]
    # with its question a sentence holds both what was asked and what was answered
    if "?" not in sentences[number] and (has_other_figure(stated, own) or is_denied(stated, own)):
        return False
    shared = words & sentence_words
    if not shared:
        return is_close(claim, sentences[number])
    return shared == words or not any(
        words <= find_content_words(other)
        for index, other in enumerate(sentences)
        if index != number
    )


_ANSWER_NO = re.compile(r"^\W*no\s*[,;:.–—]\s+", re.IGNORECASE)
"""The answer no, which denies nothing of what follows."""

MAX_NAME_WORDS = 2
"""Content words of a claim that one word can be another name for."""

QuoteFault = Literal["beside", "figure", "denied"]
"""What is wrong with the quotes for a claim: they speak of something else, name another figure, or say the opposite."""


def find_quote_fault(claim: str, quotes: Sequence[tuple[str, str]]) -> QuoteFault | None:
    """Return why quotes, each with the text that it stands in, cannot support a claim; None when they may.

    A sentence counts as a whole, since judges quote as little as they can. One word is no quote, also where the source
    has no other. Whether a paraphrase holds is for the judge to say."""
    named = [pair for pair in quotes if _is_same_name(claim, *pair)]
    usable = named or [(quote, source) for quote, source in quotes if _is_quote(quote)]
    passages = [_find_passage(*pair) for pair in usable]
    if not usable or not (named or _speak_of(claim, usable, passages)):
        return "beside"
    if _have_other_figures(claim, usable, passages):
        return "figure"
    return "denied" if is_denied(claim, passages) else None


def _is_same_name(claim: str, quote: str, source: str) -> bool:
    """Whether claim and source only name something, as an answer and its reference may, and it can be the same: UK."""
    from ragstone.text.answers import is_bare_answer  # slow

    if quote.strip() != source.strip() or _is_order(claim):
        return False
    if fold_text(claim) == fold_text(source):
        return True
    if len(find_content_words(source)) == 1 and len(find_content_words(claim)) > MAX_NAME_WORDS:
        return False
    are_bare = all(is_bare_answer(text, detect_language(text)) for text in (claim, source))
    return are_bare and is_close(claim, source, MIN_NAME_CLOSENESS)


def _is_quote(quote: str) -> bool:
    """Whether a quote has two words besides articles, or a number; and says something."""
    has_digit = any(map(str.isdigit, quote))
    words = [word for word in _list_words(quote) if word.lower() not in _ARTICLES]
    is_long = max(len(words), len(find_content_words(quote))) > 1
    return has_digit or (is_long and bool(find_content_words(quote)))


def _have_other_figures(
    claim: str, quotes: Sequence[tuple[str, str]], passages: Sequence[str]
) -> bool:
    """Whether the quotes name another figure than a claim; where they name none, the sentences that they stand in."""
    texts = [quote for quote, _ in quotes]
    return has_other_figure(claim, texts if _list_figures(claim, texts)[1] else passages)


def _speak_of(claim: str, quotes: Sequence[tuple[str, str]], passages: Sequence[str]) -> bool:
    """Whether the passages have a content word or a figure of a claim, or its sense in another language."""
    plain = _LONG_QUOTATION.sub(" ", claim)
    words = find_content_words(plain) or find_content_words(claim)
    if not words:
        return True
    shared = words & _unite_content_words(passages)
    if _is_order(claim):
        quoted = words & _unite_content_words([quote for quote, _ in quotes])
        return len(quoted) >= MIN_QUOTED_SHARE_OF_ORDER * len(words)
    if shared:
        return True
    bare = [quote for quote, _ in quotes if min(len(find_content_words(quote)), len(words)) <= 1]
    if bare and _have_same_figure(claim, bare):
        return True  # 7, there are seven players
    return any(
        detect_language(claim) != detect_language(passage) and is_close(plain, passage)
        for passage in passages
    )


def has_other_figure(claim: str, passages: Sequence[str]) -> bool:
    """Whether passages name another figure where a claim has one: two years for five years."""
    figures, named = _list_figures(claim, passages)
    return any(
        any(differs(figure, other) for other in named)
        and not any(matches(figure, other) for other in named)
        for figure in figures
        # the first of them, scored twice: what is counted there may be said without a figure
        if figure.kind != "ordinal" and figure.unit != "times"
    )


def is_denied(claim: str, passages: Sequence[str]) -> bool:
    """Whether passages say the opposite of a claim: is covered, is not covered.

    Told from the clauses that share most words with it, and only where the denied word stands in both; where such
    clauses disagree, or with exceptions, parts of a whole and comparisons, nothing is told."""
    if any(_is_negation(claim, passage) for passage in passages):
        return True
    if any(_UNTOLD.search(text) for text in (claim, *passages)):
        return False
    claim_clauses = _split_clauses(claim)
    if len({clause.is_denied for clause in claim_clauses}) != 1:
        return False
    words = frozenset().union(*(clause.words for clause in claim_clauses))
    clauses = [clause for passage in passages for clause in _split_clauses(passage)]
    most = max((len(words & clause.words) for clause in clauses), default=0)
    if not words or most < max(1, MIN_SHARED_BY_DENIAL * len(words)):
        return False
    closest = [clause for clause in clauses if len(words & clause.words) == most]
    stems = frozenset().union(*(clause.stems for clause in claim_clauses))
    denied_words = frozenset().union(*(clause.denied_words for clause in claim_clauses))
    return all(
        clause.is_denied != claim_clauses[0].is_denied
        and (clause.denied_words & stems or denied_words & clause.stems)
        for clause in closest
    )


def _is_negation(claim: str, passage: str) -> bool:
    """Whether one is the other with a word that denies put in or left out."""
    both = [_list_words(text.lower()) for text in (claim, passage)]
    first, second = (
        [w.removesuffix("n't") for w in words if w not in _NEGATIONS] for words in both
    )
    return first == second and _is_negated(both[0]) != _is_negated(both[1])


class _Clause(NamedTuple):
    """A stretch of a sentence between its joints."""

    words: frozenset[str]
    """Its content words, those that deny left out."""
    stems: frozenset[str]
    """The same by more letters: `parada` (a stop) is not `para` (it stops)."""
    denied_words: frozenset[str]
    """The content word right after each word that denies, so written."""
    is_denied: bool


@lru_cache(maxsize=1024)
def _split_clauses(text: str) -> tuple[_Clause, ...]:
    """The clauses of a text that say something."""
    clauses = []
    text = _FALSE_FACT.sub(r"no \1", _NO_DENIAL.sub(" ", text.replace("’", "'")))
    for part in _JOINT.split(text):
        words = _list_words(part)
        marks = [n for n, word in enumerate(words) if _denies(word)]
        if marks and words[marks[0]].lower() in ("neither", "ni"):
            marks = marks[:1]  # neither … nor denies once
        if marks and words[marks[0]].lower() == "no":  # no tiene ninguna denies once
            marks = [n for n in marks if words[n].lower() not in _CONCORD]
        content = [not _denies(word) and bool(find_content_words(word)) for word in words]
        stems = [word.lower().rstrip("s")[:DENIED_STEM_CHARS] for word in words]
        told = [n for n, is_content in enumerate(content) if is_content]
        denied = [next((stems[n] for n in told if mark < n <= mark + 2), "") for mark in marks]
        if told:
            clauses.append(
                _Clause(
                    find_content_words(" ".join(words[n] for n in told)),
                    frozenset(stems[n] for n in told),
                    frozenset(filter(None, denied)),
                    len(marks) % 2 == 1,
                )
            )
    return tuple(clauses)


def _is_order(claim: str) -> bool:
    """Whether a claim speaks to the judge."""
    return bool(_VERDICT.search(claim) and _ADDRESS.search(claim))


def _have_same_figure(claim: str, passages: Sequence[str]) -> bool:
    figures, named = _list_figures(claim, passages)
    return any(matches(figure, other) for figure in figures for other in named)


def _list_figures(
    claim: str, passages: Sequence[str]
) -> tuple[Sequence[Quantity], Sequence[Quantity]]:
    """The quantities of a claim and those of the passages, each read in its own language."""
    longest = detect_language(max(claim, *passages, key=len))

    def read(text: str) -> Sequence[Quantity]:
        has_words = len(text.split()) >= MIN_WORDS_OF_LANGUAGE
        return find_quantities(text, detect_language(text) if has_words else longest)

    return read(claim)[:MAX_FIGURES], [figure for passage in passages for figure in read(passage)]


def _unite_content_words(texts: Sequence[str]) -> frozenset[str]:
    return frozenset().union(*map(find_content_words, texts))


def is_rewording(claim: str, other: str, evidence: str) -> bool:
    """Whether two claims with the same quoted sentence as evidence are one claim in two wordings.

    Claims that differ in a number, a name or a negation are never one. Otherwise neither may hold words of the evidence
    that the other lacks, unless it has all of the other's, and they must be close in meaning. So `opens at nine` and
    `closes at nine`, which stand in one sentence, are two claims."""
    evidence_words = find_content_words(evidence)
    first, second = (
        find_content_words(claim) & evidence_words,
        find_content_words(other) & evidence_words,
    )
    is_nested = bool(first and second) and (first <= second or second <= first)
    return is_nested and _agree(claim, other) and is_close(claim, other, MIN_PARAPHRASE_CLOSENESS)


def is_close(first: str, second: str, bar: float = MIN_CLOSENESS) -> bool:
    """Whether the sentence encoder finds two texts close in meaning."""
    from ragstone.text.encoder import encode  # loads numpy

    vectors = encode((first, second))
    return float(vectors[0] @ vectors[1]) >= bar


SENTENCE_CHARS = 2_000
"""Characters to each side of a quote in which its sentence is looked for, in a long text."""


def find_quoted_sentence(source: str, start: int, end: int) -> str:
    """Return the sentences of the source that a quoted span touches."""
    if len(source) > MAX_TEXT_CHARS:  # a segmenter may take the square of a text's length
        low, high = max(0, start - SENTENCE_CHARS), end + SENTENCE_CHARS
        source, start, end = source[low:high], start - low, end - low
    spans = split_sentences(source)
    first = bisect_right(spans, start, key=lambda span: span[1])
    after = bisect_left(spans, end, key=lambda span: span[0])
    return source[spans[first][0] : spans[after - 1][1]] if first < after else source[start:end]


def _agree(claim: str, other: str) -> bool:
    """Whether the claims have the same numbers, names and negation."""
    language = detect_language(claim)
    numbers, other_numbers = find_quantities(claim, language), find_quantities(other, language)
    if len(numbers) != len(other_numbers) or not all(
        any(matches(a, b) or matches(b, a) for b in other_numbers) for a in numbers
    ):
        return False
    words, other_words = _list_words(claim), _list_words(other)
    return (
        {word.lower() for word in words[1:] if _is_name(word)} <= {w.lower() for w in other_words}
        and {word.lower() for word in other_words[1:] if _is_name(word)}
        <= {word.lower() for word in words}
        and _is_negated(words) == _is_negated(other_words)
    )


def _is_name(word: str) -> bool:
    return word[0].isupper() and word not in ("I", "I'm", "I'll")


def _is_negated(words: Sequence[str]) -> bool:
    return sum(map(_denies, words)) % 2 == 1


def _denies(word: str) -> bool:
    return word.lower() in _NEGATIONS or word.lower().endswith("n't")


@lru_cache(maxsize=1024)
def _list_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.replace("’", "'")))


def _find_passage(quote: str, source: str) -> str:
    span = find_quote(quote, source)
    return find_quoted_sentence(source, *span) if span else quote


_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_JOINT = re.compile(
    r"[.,;:!?()\[\]]+(?=\s|$)|\b(?:and|or|but|however|while|whereas|although|though|if|unless|except|because|when|which"
    r"|who|that|y|e|o|u|pero|sino|aunque|mientras|si|salvo|excepto|porque|cuando|que|quien)\b",
    re.IGNORECASE,
)
"""Where one clause ends and the next begins."""
_FALSE_FACT = re.compile(
    r"([\w ]+)[\"']?:\s*[\"']?(?:false|no|none)[\"']?\s*(?=[,;}\]\n]|$)", re.IGNORECASE
)
"""A key whose value denies it, as JSON and YAML have them: `wifi: false`."""
_NO_DENIAL = re.compile(
    r"\b(?:no (?:more|less|fewer|later|earlier|sooner) than|not (?:only|just|merely|until)|no (?:más|menos) de"
    r"|no (?:solo|sólo|solamente)|not at least)\b",
    re.IGNORECASE,
)
"""Words that deny nothing although one of them usually does."""
_UNTOLD = re.compile(
    r"\b(?:not all|other than|save for|all but|except|exceptions?|excluding|only|unless|until|before|than|some"
    r"|no tod[oa]s|salvo|excepto|excepción|únicamente|sol(?:o|amente)|sólo|hasta|antes|algun[oa]s|menos)\b",
    re.IGNORECASE,
)
"""Words with which a sentence without a denial may deny, and the other way round."""
_LONG_QUOTATION = re.compile(r"[\"“«„](?:[^\"”»“\s]+\s+){3,}[^\"”»“]*[\"”»“]")
"""Words that a claim quotes: what it asks to be cited must not count as what it says. A title is shorter."""
_VERDICT = re.compile(
    r"\b(?:supported|contradicted|not_found|respaldad[oa]s?|verdicts?|veredictos?)\b", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"\b(?:claims?|statements?|quot(?:e|es|ing)|cit(?:e|ing)|sources?|mark|treat|reply|call|consider"
    r"|afirmaci(?:ón|ones)|enunciados?|citas?|citar|fuentes?|marca|trata|responde|considera|[ck]\d+)\b",
    re.IGNORECASE,
)
"""With a verdict, the words in which one speaks to a judge: treat this statement as supported by source k1."""
_CONCORD = to_word_set("nunca jamás nadie nada ninguno ninguna ningún tampoco ni")
_ARTICLES = to_word_set("the a an el la los las un una unos unas")
_NEGATIONS = to_word_set(
    """
    no not never none nobody nothing neither nor cannot without unable lacks lack fails failed refuses refused false unlikely hardly barely
    nunca jamás nadie nada ninguno ninguna ningún tampoco sin ni falso carece apenas negó negaron
    """
)
