"""Items against their documents: is the answer there, with these numbers and names, in this document and no other?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ragstone.systems.pipeline.chunking import DocumentChunk
from ragstone.testset.answerability import HINT_CHANCE, SURE_CHANCE, FoundAnswer, find_answers
from ragstone.testset.baselines import Search, join_turns, list_relevant
from ragstone.testset.findings import Fault, Fix, Hint
from ragstone.testset.items import get_abstention
from ragstone.testset.reader import find_best_sentence
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language
from ragstone.text.quantities import Quantity, find_quantities, is_comparable, matches
from ragstone.text.terms import extract_terms
from ragstone.text.words import fold_text
from ragstone.types import Sample

MIN_HELD_SHARE = 0.5
"""Share of a reference's words that its documents must hold."""
MIN_ELSEWHERE_SHARE = 0.95
"""Share of a question's words that another document must hold to count as telling it too."""
MAX_FOREIGN_SHARE = 0.6
"""Share of a question's words below which its document may be another one than meant."""
MAX_NAME_WORDS = 4
"""Words of a reference that is a name by itself, so that its first word counts as one."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"[^\W\d_][\w'’-]{2,}")


def audit_answer(sample: Sample, texts: Mapping[str, str], search: Search) -> Iterator[Fault]:
    """Faults of an item that claims to have an answer; `texts` are its documents that are there."""
    question, wanted = sample.question or "", list_relevant(sample)
    held = [texts[name] for name in wanted if name in texts]
    if not wanted:
        if sample.relevant is not None:
            yield Fault("not_answerable", sample.id, question, "no relevant document")
        return
    if not held:
        return
    asked = join_turns(sample)
    own = max(search.measure_text_share(text, asked, sample.language) for text in held)
    other = _find_home(sample, held, own, search)
    if other is not None:
        fix = Fix("set", {"relevant": {other.document: 1}})
        sentence = _quote_best(sample, other.titled_text)
        yield Fault("wrong_document", sample.id, question, f"{other.document}: {sentence}", fix)
        return
    fault = _check_reference(sample, held, own)
    if fault is not None:
        yield fault
        return
    yield from _find_other_sources(sample, search)


def _check_reference(sample: Sample, held: Sequence[str], own: float) -> Fault | None:
    """The fault of a reference whose words or values its documents lack; `own` is their share of the question's
    words."""
    question, reference = sample.question or "", sample.reference or ""
    # where the item quotes its evidence, the values must stand there
    quotes = [piece["quote"] for piece in get_evidence(sample)]
    lacking = list_lacking_values(sample, quotes or held)
    is_held = holds_words(reference, held, sample.language)
    # a wrong number may be the whole reference, where the document speaks of what is asked
    is_number = own >= MAX_FOREIGN_SHARE and any(_NUMBER.search(value) for value in lacking)
    if not is_held and not is_number:
        return Fault("not_answerable", sample.id, question, reference, _to_abstention(sample))
    if not lacking:
        return None
    sentence = _quote_best(sample, "\n".join(quotes or held))
    better = _propose_value(sample, lacking, sentence)
    return Fault("wrong_value", sample.id, question, f"{', '.join(lacking)} ≠ {sentence}", better)


class SuspectedUnanswerable(NamedTuple):
    """An item whose reference says that nothing answers it, and the passages that may, the likeliest first."""

    sample: Sample
    answers: Sequence[FoundAnswer]


def find_doubt(sample: Sample, search: Search) -> SuspectedUnanswerable | None:
    """The passages that may answer an item which says that nothing does; None where there are none to look at."""
    proof = sample.meta.get("proof")
    if isinstance(proof, Mapping) and "searched" in proof:
        return None  # whoever made the item searched the corpus for it already
    answers = find_answers(join_turns(sample), sample.language, search)
    return SuspectedUnanswerable(sample, answers) if answers else None


def decide_doubt(sample: Sample, answer: FoundAnswer) -> Fault | Hint | None:
    """What is wrong with an item which says that nothing answers it: this passage does, for sure or perhaps."""
    if answer.chance < HINT_CHANCE:
        return None
    quote = " ".join(answer.quote.split())
    detail = f"{answer.source}: {quote}"
    if answer.chance < SURE_CHANCE:
        return Hint(sample.id, sample.question or "", detail)
    fix = Fix("set", {"reference": quote, "relevant": {answer.source: 1}})
    return Fault("answerable", sample.id, sample.question or "", detail, fix)


def holds_words(reference: str, texts: Sequence[str], given: str | None) -> bool:
    """Whether texts together hold the words of a reference."""
    language = detect_language(reference, given)
    wanted = set(extract_terms(reference, language))
    held = {term for text in texts for term in _extract_text_terms(text, language)}
    return not wanted or len(wanted & held) / len(wanted) >= MIN_HELD_SHARE


def list_lacking_values(sample: Sample, texts: Sequence[str]) -> list[str]:
    """Numbers, dates and names of a reference that stand neither in these texts nor in the question."""
    return list_lacking(sample.reference or "", [*texts, join_turns(sample)], sample.language)


def list_lacking(reference: str, texts: Sequence[str], given: str | None) -> list[str]:
    """Numbers, dates and names of a text that stand in none of these."""
    language = detect_language(reference, given)
    known = "\n".join(texts)
    lacking = _list_lacking_numbers(reference, known, language)
    folded, terms = fold_text(known), _extract_text_terms(known, language)
    for at, match in enumerate(_NAME.finditer(reference)):
        name = match[0]
        # the first word of a longer answer is large for its place, and a form of a word may differ
        is_name = name[0].isupper() and (at or len(reference.split()) <= MAX_NAME_WORDS)
        held = fold_text(name) in folded or not terms.isdisjoint(extract_terms(name, language))
        if is_name and not held and name.lower() not in " ".join(lacking).lower():
            lacking.append(name)
    return lacking


def _list_lacking_numbers(reference: str, known: str, language: str) -> list[str]:
    """Numbers and dates of a reference that a text does not have, in whatever writing."""
    written = {re.sub(r"\D", "", number) for number in _NUMBER.findall(known)}
    told = find_quantities(known, language)
    values = find_quantities(reference, language)
    spans = [
        (value.start, value.end) for value in values if not _tells(value, told, reference, known)
    ]
    # what is no quantity that makes sense (53:00) is compared as it is written
    covered = [(value.start, value.end) for value in values]
    for match in _NUMBER.finditer(reference):
        if not any(start <= match.start() < end for start, end in covered):
            spans.append(match.span())
    texts = [reference[start:end] for start, end in sorted(spans)]
    return [
        text
        for text in texts
        if find_quote(text, known) is None
        and any(
            re.sub(r"\D", "", number) not in written for number in _NUMBER.findall(text) or [text]
        )
    ]


def _tells(value: Quantity, told: Sequence[Quantity], reference: str, known: str) -> bool:
    """Whether a text tells this very value; 108 is not what `from 100` tells, but `five days` is what `up to five
    unused days` does."""
    return any(
        _is_same_number(value, source, reference, known)
        or (matches(value, source) and (value.date is not None or matches(source, value)))
        for source in told
    )


def _is_same_number(value: Quantity, source: Quantity, reference: str, known: str) -> bool:
    """Whether both name one number of one thing, whatever bound or word stands beside it."""
    if (
        value.date
        or source.date
        or value.is_range
        or source.is_range
        or "time" in (value.kind, source.kind)
    ):
        return False
    if value.low / value.factor != source.low / source.factor:
        return False
    if value.unit == source.unit and value.factor == source.factor:
        return bool(value.unit)
    # `unused days` is no unit: its noun must stand right behind the number
    words = reference[value.start : value.end].split()[1:]
    behind = known[source.end : source.end + 60].lower().split()[:4]
    near = [word.strip(".,;:)") for word in behind]
    return bool(words) and all(word.lower() in near for word in words)


def _propose_value(sample: Sample, lacking: Sequence[str], sentence: str) -> Fix | None:
    """The reference with the only value of its sort that the sentence tells, where one value is wrong."""
    reference = sample.reference or ""
    language = detect_language(reference, sample.language)
    wrong = [
        value
        for value in find_quantities(reference, language)
        if reference[value.start : value.end] in lacking
    ]
    if len(lacking) != 1 or len(wrong) != 1:
        return None
    asked = join_turns(sample)
    right = {
        sentence[value.start : value.end]
        for value in find_quantities(sentence, language)
        if is_comparable(wrong[0], value) and find_quote(sentence[value.start : value.end], asked) is None
    }  # fmt: skip
    if len(right) != 1:
        return None
    text = reference[: wrong[0].start] + right.pop() + reference[wrong[0].end :]
    return Fix("set", {"reference": text})


@lru_cache(maxsize=256)
def _extract_text_terms(text: str, language: str) -> frozenset[str]:
    return frozenset(extract_terms(text, language))


def _quote_best(sample: Sample, text: str) -> str:
    """The sentence of a text that comes closest to the question."""
    question = f"{join_turns(sample)} {sample.reference}"
    language = detect_language(question, sample.language)
    best = find_best_sentence(question, text, "", language)
    return " ".join(best.sentence.split()) if best else ""


def _find_home(
    sample: Sample, held: Sequence[str], own: float, search: Search
) -> DocumentChunk | None:
    """The document that the item seems to mean, where the one that it names speaks of something else."""
    question, reference = join_turns(sample), sample.reference or ""
    named = set(sample.relevant or ())
    answers = holds_words(reference, held, sample.language) and not list_lacking_values(
        sample, held
    )
    # a question in another language than its document shares no words with it
    language = detect_language(question, sample.language)
    is_foreign = detect_language(held[0][:2000], None) != language
    if answers and (own >= MAX_FOREIGN_SHARE or is_foreign or get_evidence(sample)):
        return None
    for piece in search.find_nearest(question, sample.language):
        text = piece.titled_text
        better = search.measure_held_share(piece, question) > max(own, MAX_FOREIGN_SHARE)
        if piece.document in named or not better:
            continue
        if holds_words(reference, [text], sample.language) and not list_lacking_values(
            sample, [text]
        ):
            return piece
    return None


def _find_other_sources(sample: Sample, search: Search) -> Iterator[Fault]:
    """A document that is not called relevant, yet holds the question's words and the answer's very words."""
    reference = sample.reference or ""
    if sample.relevant is None or len(reference.split()) < 2:
        return
    for piece in search.find_nearest(join_turns(sample), sample.language):
        # also with grade 0: the set says of it that it does not answer
        judged = piece.document in (sample.relevant or {})
        if judged or find_quote(reference, piece.titled_text) is None:
            continue
        # what the question names in code must stand there as it is: `borg create` is not `borg info`
        names = re.findall(r"`([^`]+)`", join_turns(sample))
        if any(name not in piece.titled_text for name in names):
            continue
        if search.measure_held_share(piece, join_turns(sample)) >= MIN_ELSEWHERE_SHARE:
            detail = f"{piece.document}: {reference}"
            fix = Fix("set", {"relevant": {**(sample.relevant or {}), piece.document: 1}})
            yield Fault("answered_elsewhere", sample.id, sample.question or "", detail, fix)
            return


def get_evidence(sample: Sample) -> list[Mapping[str, Any]]:
    """The quotes that an item gives as its evidence, each with its document."""
    given = sample.meta.get("evidence")
    return [piece for piece in given if "quote" in piece] if isinstance(given, list) else []


def _to_abstention(sample: Sample) -> Fix:
    """The fix that marks an item as one that nothing answers."""
    language = detect_language(sample.question or "", sample.language)
    return Fix("set", {"reference": get_abstention(language), "relevant": {}})
