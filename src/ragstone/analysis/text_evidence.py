"""What texts show without a judge: whether one holds the reference, whether an answer repeats its sources, or rambles.

Texts overrule ids and judges: a relevant document whose text lacks the answer is no evidence, and what stands word for
word in a retrieved chunk was not made up."""

from __future__ import annotations

import re

from ragstone.text.content import find_content_words, is_small_talk
from ragstone.text.evidence import find_quote
from ragstone.text.language import is_in_language
from ragstone.text.sentences import split_sentences
from ragstone.types import Ranked, Sample

_MARKER = re.compile(r"\s*\[\d+\]")
"""A citation."""
MIN_HELD_SHARE, MAX_LACKED_SHARE = 0.6, 0.34
"""Share of the reference's content words from which a text holds it, and up to which it lacks it."""
MIN_WORDS_BESIDE = 40
"""Words beside the point from which an answer rambles, if they are more than half of it."""
MIN_SHARED_WORDS = 2
"""Content words that a sentence shares with question and reference when it is about them."""


def holds_reference(text: str, reference: str, language: str) -> bool | None:
    """Whether a text holds all quantities and most words of the reference; None where that is not clear.

    In another language than the reference's only the quantities can be compared, and they do not suffice."""
    from ragstone.text.quantities import find_quantities, matches  # a slow import

    wanted = find_quantities(reference, language)
    present = find_quantities(text, language) if wanted else []
    if not all(any(matches(quantity, other) for other in present) for quantity in wanted):
        return False
    if is_in_language(text, language) is False:
        return None
    words = find_content_words(reference)
    share = len(words & find_content_words(text)) / len(words) if words else 1.0
    if share >= MIN_HELD_SHARE:
        return True
    return False if share <= MAX_LACKED_SHARE and not wanted else None


def lacks_evidence(sample: Sample, language: str) -> bool:
    """Whether relevant documents were retrieved and their texts surely lack the reference: cut, stale or badly read."""
    if not sample.reference or not sample.relevant or not sample.contexts:
        return False
    wanted = {name for name, grade in sample.relevant.items() if grade > 0}
    texts = [chunk.text for chunk in sample.contexts if chunk.id in wanted and chunk.text.strip()]
    if not texts:
        return False
    return holds_reference("\n".join(texts), sample.reference, language) is False


def replaces_reference(sample: Sample, language: str) -> bool:
    """Whether an answer repeats a retrieved sentence that tells the reference, but for the reference: another name or number."""
    wanted, said = (
        find_content_words(sample.reference or ""),
        find_content_words(sample.answer or ""),
    )
    if not wanted or wanted <= said:
        return False
    for chunk in sample.contexts or ():
        for start, end in split_sentences(chunk.text, language):
            words = find_content_words(chunk.text[start:end])
            frame = words - wanted
            is_telling = wanted <= words and len(frame) > MIN_SHARED_WORDS
            if is_telling and len(frame & said) >= MIN_HELD_SHARE * len(frame):
                return True
    return False


def is_verbatim(answer: str, contexts: Ranked | None, language: str) -> bool:
    """Whether every sentence of the answer stands word for word in a retrieved chunk, small talk aside."""
    plain = _MARKER.sub("", answer)
    parts = [plain[start:end].strip(" .") for start, end in split_sentences(plain, language)]
    parts = [part for part in parts if part and not is_small_talk(part)]
    texts = [chunk.text for chunk in contexts or ()]
    return bool(parts) and all(any(find_quote(part, text) for text in texts) for part in parts)


def is_rambling(sample: Sample, language: str) -> bool:
    """Whether most of a long answer has nothing to do with the question or the reference."""
    answer = sample.answer or ""
    sentences = split_sentences(answer, language)
    if len(answer.split()) + len(sentences) <= MIN_WORDS_BESIDE:  # a sentence may begin in a word
        return False
    about = find_content_words(f"{sample.question or ''} {sample.reference or ''}")
    beside = total = 0
    for start, end in sentences:
        sentence = answer[start:end]
        count = len(sentence.split())
        total += count
        if len(find_content_words(sentence) & about) < MIN_SHARED_WORDS:
            beside += count
    return beside >= MIN_WORDS_BESIDE and 2 * beside > total
