"""Checks of a claim against the words around it: whose sentence it restates, what a quote proves, what only repeats.

No judge is believed here: these checks read texts only, so that a text cannot talk anybody round. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ragstone.text.clause_words import to_word_set
from ragstone.text.content import find_content_words, is_small_talk
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language
from ragstone.text.quantities import Quantity, find_quantities, matches
from ragstone.text.sentences import split_sentences

MAX_NAME_WORDS = 6
"""Words of a claim or a source that is no more than a name, a date or a number."""
MIN_QUOTED_SHARE = 0.15
"""Share of a claim's content words that the sentences of its quotes must have, unless they are close in meaning."""
MIN_QUOTED_SHARE_OF_ORDER = 0.5
"""The same for a claim that speaks to the judge ("treat this as supported"): its words, not their sense, must be there."""
MIN_CLOSENESS = 0.4
"""Cosine from which two texts are close in meaning in whatever words or language. Of 969 sentences and their
translations all have 0.6 or more, a quarter of other sentences on the same subject have 0.4 or more."""
MIN_PARAPHRASE_CLOSENESS = 0.75
MIN_PARAPHRASE_SHARE = 0.5
"""Cosine and share of content words from which claims with the same evidence are one claim in two wordings. Three of
four hand-written paraphrases are; of 1,713 pairs of claims in answers of real systems 2 are, and rightly so."""


def is_of_sentence(claim: str, number: int, sentences: Sequence[str]) -> bool:
    """Whether a claim can have been made of the sentence of that index and was not made of another one.

    A claim may name what a pronoun of its sentence means, so words of other sentences are no fault; to say only what
    another sentence says is one."""
    words, sentence_words = find_content_words(claim), find_content_words(sentences[number])
    if not words or is_small_talk(sentences[number]):
        return True
    shared = words & sentence_words
    if not shared:
        return is_close(claim, sentences[number])
    return shared == words or not any(
        words <= find_content_words(other)
        for index, other in enumerate(sentences)
        if index != number
    )


def is_proof(claim: str, quotes: Sequence[tuple[str, str]]) -> bool:
    """Whether quotes, each with the text that it stands in, can be what supports a claim.

    They must have some of its content words or be close to it in meaning. A sentence counts as a whole, since judges
    quote as little as they can; a quote without a content word ("The") proves nothing."""
    if _are_bare_names(claim, quotes) or _have_same_figure(claim, quotes):
        return True
    plain = _LONG_QUOTATION.sub(" ", claim)
    words = find_content_words(plain) or find_content_words(claim)
    usable = [pair for pair in quotes if find_content_words(pair[0])]
    if not words or not usable or is_small_talk(claim):
        return bool(usable)
    quoted = words & _unite_content_words([quote for quote, _ in usable])
    if len(quoted) >= MIN_QUOTED_SHARE_OF_ORDER * len(words):
        return True  # as most claims have it
    is_order = _is_order(claim)
    if quoted and _are_quoted(words, quoted, usable, is_order):
        return True
    return not is_order and _has_close_quote(plain, usable)


def _are_quoted(
    words: frozenset[str], quoted: frozenset[str], quotes: Sequence[tuple[str, str]], is_order: bool
) -> bool:
    """Whether enough words of a claim stand in its quotes or in their sentences."""
    wanted = (MIN_QUOTED_SHARE_OF_ORDER if is_order else MIN_QUOTED_SHARE) * len(words)
    return len(quoted) >= wanted or _have_passages(quotes, words, wanted)


def _is_order(claim: str) -> bool:
    """Whether a claim speaks to the judge."""
    return bool(_VERDICT.search(claim) and _ADDRESS.search(claim))


def _have_passages(quotes: Sequence[tuple[str, str]], words: frozenset[str], wanted: float) -> bool:
    """Whether the sentences that quotes stand in have enough words of a claim."""
    return len(words & _unite_content_words([_find_passage(*pair) for pair in quotes])) >= wanted


def _has_close_quote(claim: str, quotes: Sequence[tuple[str, str]]) -> bool:
    return any(is_close(claim, text) for pair in quotes for text in (pair[0], _find_passage(*pair)))


def _are_bare_names(claim: str, quotes: Sequence[tuple[str, str]]) -> bool:
    """Whether one name stands against another, quoted whole: a short reference has nothing else to quote."""
    return len(claim.split()) <= MAX_NAME_WORDS and any(
        quote.strip() == source.strip() and len(source.split()) <= MAX_NAME_WORDS
        for quote, source in quotes
    )


def _have_same_figure(claim: str, quotes: Sequence[tuple[str, str]]) -> bool:
    """Whether a claim or a whole source is nothing but a number that the other has: 7, there are seven players."""
    for quote, source in quotes:
        language = detect_language(max(claim, quote, key=len))
        mine, theirs = (find_quantities(text, language) for text in (claim, quote))
        is_bare = quote.strip() == source.strip() and _is_only(quote, theirs)
        if (is_bare or _is_only(claim, mine)) and any(
            matches(one, other) and matches(other, one) for one in mine for other in theirs
        ):
            return True
    return False


def _is_only(text: str, quantities: Sequence[Quantity]) -> bool:
    """Whether a text has no word beside its quantities."""
    for quantity in reversed(quantities):
        text = text[: quantity.start] + text[quantity.end :]
    return bool(quantities) and not any(map(str.isalnum, text))


def _unite_content_words(texts: Sequence[str]) -> frozenset[str]:
    return frozenset().union(*map(find_content_words, texts))


def is_rewording(claim: str, other: str, evidence: str) -> bool:
    """Whether two claims with the same quoted sentence as evidence are one claim in two wordings.

    Claims that differ in a number, a name or a negation are never one. Otherwise neither may hold words of the evidence
    that the other lacks, unless it has all of the other's, and they must be close in meaning. So `opens at nine` and
    `closes at nine`, which stand in one sentence, are two claims."""
    if not has_common_words(claim, other):
        return False
    evidence_words = find_content_words(evidence)
    first, second = (
        find_content_words(claim) & evidence_words,
        find_content_words(other) & evidence_words,
    )
    is_nested = bool(first and second) and (first <= second or second <= first)
    return is_nested and _agree(claim, other) and is_close(claim, other, MIN_PARAPHRASE_CLOSENESS)


def has_common_words(claim: str, other: str) -> bool:
    """Whether two claims have enough content words in common to be wordings of one."""
    first, second = find_content_words(claim), find_content_words(other)
    return len(first & second) >= MIN_PARAPHRASE_SHARE * max(len(first), len(second), 1)


def is_close(first: str, second: str, bar: float = MIN_CLOSENESS) -> bool:
    """Whether the sentence encoder finds two texts close in meaning."""
    from ragstone.text.encoder import encode  # loads numpy

    vectors = encode((first, second))
    return float(vectors[0] @ vectors[1]) >= bar


def find_quoted_sentence(source: str, start: int, end: int) -> str:
    """Return the sentences of the source that a quoted span touches."""
    touched = [(a, b) for a, b in split_sentences(source) if a < end and b > start]
    return source[touched[0][0] : touched[-1][1]] if touched else source[start:end]


def _agree(claim: str, other: str) -> bool:
    """Whether the claims have the same numbers, names and negation."""
    language = detect_language(claim)
    # imported late: its patterns take long to compile, and only a judged metric comes here
    from ragstone.text.quantities import find_quantities, matches

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
    return sum(w.lower() in _NEGATIONS or w.lower().endswith("n't") for w in words) % 2 == 1


@lru_cache(maxsize=1024)
def _list_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.replace("’", "'")))


def _find_passage(quote: str, source: str) -> str:
    span = find_quote(quote, source)
    return find_quoted_sentence(source, *span) if span else quote


_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
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
_NEGATIONS = to_word_set(
    """
    no not never none nobody nothing neither nor cannot without unable lacks lack fails failed false unlikely hardly barely
    nunca jamás nadie nada ninguno ninguna ningún tampoco sin ni falso carece apenas
    """
)
