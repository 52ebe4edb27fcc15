"""The `support` Ask: a probability for each claim, then a verdict with its reason and its quotes.

A claim's verdict depends on the claim and its sources alone, never on the other claims of the
answer. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.judges.offline.alignment import (
    Alignment,
    Sources,
    align,
    index_sources,
)
from ragstone.judges.offline.features import measure, predict_answer, predict_claim
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, Reading, Unit, read
from ragstone.judges.offline.rules import Conflict, find_conflict
from ragstone.locale.messages import compose
from ragstone.text.answers import is_bare_answer, says_yes, split_joined
from ragstone.text.appeals import is_appeal
from ragstone.text.claims import asks
from ragstone.text.language import detect_language

SUPPORT_BAR = 0.5
"""Probability from which a claim counts as supported."""
CONTRADICTED = 0.2
"""The most that a claim gets which a rule sees contradicted: on labelled claims the rules are right
in seven cases of ten."""
NEAR_COVER = 0.3
"""Share of a claim that a unit must hold to be shown as the nearest one."""
MAX_QUOTES = 3


class JudgedClaim(NamedTuple):
    """A claim with its verdict."""

    probability: float
    verdict: str
    evidence: tuple[tuple[int, str], ...]
    """Index of a source, and a passage of it."""
    reason: str


def answer_support(values: Mapping[str, Any], language: str | None) -> Any:
    """The verdicts on the claims of every case, and for each case the chance that all its claims
    are supported."""
    rows, chances = [], []
    for case in values["cases"]:
        texts = [source["text"] for source in case["sources"]]
        claims = [(claim["text"], claim.get("answer", "")) for claim in case["claims"]]
        judged = judge_claims(claims, texts, language, case.get("question", ""))
        chances.append(round(predict_answer([claim.probability for claim in judged]), 4))
        for claim, verdict in zip(case["claims"], judged, strict=True):
            quotes = [
                {"source": case["sources"][source]["id"], "quote": quote}
                for source, quote in verdict.evidence
            ]
            row = {"id": claim["id"], "verdict": verdict.verdict, "evidence": quotes}
            rows.append(
                row | {"reason": verdict.reason, "probability": round(verdict.probability, 4)}
            )
    return {"verdicts": rows, "case_probabilities": chances}


def judge_claims(
    claims: Sequence[tuple[str, str]],
    sources: Sequence[str],
    language: str | None,
    question: str = "",
) -> list[JudgedClaim]:
    """Judge claims, each with the bare answer that it was made of or "", by the texts of their
    sources.

    `question` is what bare claims and bare sources answer."""
    indexed = index_sources(tuple(read(text, language) for text in sources))
    judged = []
    for text, answer in claims:
        if not any(unit.words for _, unit in indexed.units):
            reason = compose("no_source", language or detect_language(text))
            judged.append(JudgedClaim(0.0, "not_found", (), reason))
            continue
        asked, said = split_joined(text)
        if answer and not asked:  # the claim is a statement that was made of both
            asked, said = text, answer
        judged.append(_judge(asked, said, indexed, language, question))
    return judged


def _judge(
    asked: str, said: str, sources: Sources, language: str | None, question: str
) -> JudgedClaim:
    """Judge what was said, in answer to what was asked where it needs that."""
    claim = read(f"{asked} {said}" if asked else said, language)
    alignment = align(claim, sources)
    if not alignment.words or (
        not asked and (asks(said) or is_appeal(said)) and not _is_title(said)
    ):
        return JudgedClaim(0.0, "not_found", (), compose("states_nothing", claim.language))
    bare = _compare_bare(said, sources, language, question or asked)
    if bare is not None:
        return _decide(alignment, bare, None)
    if asked:
        return _judge_answer(alignment, asked, said, language)
    if (chance := _compare_languages(alignment)) is not None:
        return _decide(alignment, chance, None)
    return _decide(
        alignment,
        predict_claim(measure(alignment)),
        find_conflict(alignment) if alignment.held else None,
    )


def _is_title(text: str) -> bool:
    """Whether a short text that begins like a question is a name: Will Smith."""
    return (
        not text.rstrip("\"'”’ ").endswith("?")
        and sum(word[0].isupper() for word in text.split()) > 1
    )


def _judge_answer(alignment: Alignment, asked: str, said: str, language: str | None) -> JudgedClaim:
    """Judge a bare answer with its question: the words of the answer must stand where those of the
    question do."""
    yes = says_yes(said)
    if yes is not None:
        best = alignment.sources.units[alignment.best][1] if alignment.held else None
        chance = predict_claim(measure(alignment))
        if best is not None and alignment.cover() >= 0.5 and _is_denied(best) == yes:
            conflict = Conflict("negation", said, best.text, alignment.best)
            return _decide(alignment, min(chance, CONTRADICTED), conflict)
        return _decide(alignment, chance, None)
    answer = align(read(said, language), alignment.sources)
    if not answer.words:
        return _decide(alignment, predict_claim(measure(alignment)), None)
    _, unknown_end, names, _ = measure(answer)
    cover = math.sqrt(max(answer.held.values(), default=0) / len(answer.words))
    chance = predict_claim((cover, unknown_end, names, float(answer.unmatched)))
    binding = _measure_binding(alignment, answer)
    bound = binding / BOUND / 2 if binding < BOUND else 1 - (1 - binding) / (1 - BOUND) / 2
    chance = min(chance, bound)
    return _decide(alignment, chance, find_conflict(alignment) if alignment.held else None)


BOUND = 0.75
"""Share of the question from which an answer stands in the right place: see `python -m
bench.judge`."""


def _measure_binding(alignment: Alignment, answer: Alignment) -> float:
    """Whether the answer stands where most of the question does: the right figure of another
    question is there, too.

    The question's words of the best unit that has the answer, by those of the best unit of all; a
    word of the unit before counts half."""
    given = {word.key for word in answer.words}
    asked = [
        units
        for word, units in zip(alignment.words, alignment.places, strict=True)
        if word.key not in given
    ]
    reached: dict[int, float] = {}
    for units in asked:
        for unit in units:
            reached[unit] = reached.get(unit, 0) + 1
            if unit + 1 not in units:
                reached[unit + 1] = reached.get(unit + 1, 0) + 0.5
    most = max(reached.values(), default=0)
    return max(
        (
            count / len(answer.words) * (reached.get(unit, 0) / most if most else 1.0)
            for unit, count in answer.held.items()
        ),
        default=0.0,
    )


def _is_denied(unit: Unit) -> bool:
    return sum(word.kind == NEGATION for word in unit.words) % 2 == 1


def _compare_bare(said: str, sources: Sources, language: str | None, question: str) -> float | None:
    """Compare a text with a source that only names something, both ways; None where no source is
    bare.

    Words of the question are known already, and count a third."""
    if len(sources.readings) != 1 or not _is_bare(sources.readings[0], language):
        return None
    known = {word.key for word in read(question, language).words} if question else set()
    source = sources.readings[0]
    own, other = read(said, language), source
    if says_yes(said) is not None or says_yes(source.raw) is not None:
        return 1.0 if says_yes(said) == says_yes(source.raw) else 0.0
    back = _measure_share(other, own, known)
    if not is_bare_answer(said, language):
        return back
    forth = _measure_share(own, other, known)
    return 2 * forth * back / (forth + back) if forth + back else 0.0


def _is_bare(source: Reading, language: str | None) -> bool:
    """Whether a source only names something; a record does not, and more than a few words with a
    full stop are a sentence, whatever its verb."""
    is_stopped = source.raw.rstrip().endswith(".") and len(source.words) > MAX_STOPPED_WORDS
    return not source.is_record and not is_stopped and is_bare_answer(source.raw, language)


MAX_STOPPED_WORDS = 4


def _measure_share(part: Reading, whole: Reading, known: set[str]) -> float:
    """Share of the words of one text that another has."""
    alignment = align(part, index_sources((whole,)))
    weights = [0.3 if word.key in known else 1.0 for word in alignment.words]
    found = [weight for weight, units in zip(weights, alignment.places, strict=True) if units]
    if not alignment.words:  # function words alone: The Who
        return float(part.raw.strip(" .").lower() in whole.raw.lower())
    return sum(found) / sum(weights)


def _compare_languages(alignment: Alignment) -> float | None:
    """The chance of a claim in another language than its sources, from the sentence encoder; None
    in the same language, or where a record has too few words to be of any.

    Names and numbers must stand in the sources all the same."""
    if len(alignment.claim.words) < MIN_WORDS_OF_LANGUAGE:
        return None
    if any(reading.is_record for reading in alignment.sources.readings):
        return None
    others = {detect_language(reading.raw[:2000]) for reading in alignment.sources.readings}
    if detect_language(alignment.claim.raw) in others:
        return None
    from ragstone.text.encoder import encode  # loads numpy

    texts = [unit.text for _, unit in alignment.sources.units][:MAX_ENCODED_UNITS]
    vectors = encode([alignment.claim.raw, *texts])
    cosine = float((vectors[1:] @ vectors[0]).max())
    cover = min(max((cosine - 0.2) / 0.5, 0.0), 1.0) ** 0.5
    names = measure(alignment)[2]
    return predict_claim((cover, 0.0, names, float(alignment.unmatched)))


MIN_WORDS_OF_LANGUAGE = 4
MAX_ENCODED_UNITS = 60


def _decide(alignment: Alignment, chance: float, conflict: Conflict | None) -> JudgedClaim:
    language = alignment.claim.language
    if conflict is not None:
        source, quote = alignment.sources.quote(conflict.unit, conflict.unit)
        code = _REASONS[conflict.rule]
        reason = compose(code, language, mine=conflict.claim_side, theirs=conflict.source_side)
        return JudgedClaim(min(chance, CONTRADICTED), "contradicted", ((source, quote),), reason)
    if chance >= SUPPORT_BAR:
        reason = compose("found_in_source", language, p=round(chance, 2))
        return JudgedClaim(chance, "supported", choose_evidence(alignment), reason)
    missing = [
        word for word, units in zip(alignment.words, alignment.places, strict=True) if not units
    ]
    # names and numbers first, then long words: they say most
    shown = sorted(missing, key=lambda word: (word.kind not in (NAME, NUMBER), -len(word.written)))[
        :4
    ]
    words = ", ".join(word.written for word in missing if word in shown)
    reason = (
        compose("words_missing", language, words=words, p=round(chance, 2))
        if words
        else compose("words_apart", language, p=round(chance, 2))
    )
    best = alignment.best
    is_near = best >= 0 and alignment.held[best] >= NEAR_COVER * len(alignment.words)
    quotes = (alignment.sources.quote(best, best),) if is_near else ()
    return JudgedClaim(chance, "not_found", quotes, reason)


_REASONS = {
    "figures": "number_differs",
    "negation": "source_denies",
    "quantifiers": "quantifier_differs",
    "relations": "comparison_reversed",
    "opposites": "word_opposite",
}


def choose_evidence(alignment: Alignment) -> tuple[tuple[int, str], ...]:
    """The units that hold the claim's words, the best first, then those that add most; neighbours
    as one quote."""
    if not alignment.held:
        first = _find_nearest(alignment)
        return (alignment.sources.quote(first, first),)
    chosen = [alignment.best]
    missing = [units for units in alignment.places if units and alignment.best not in units]
    while missing and len(chosen) < MAX_QUOTES:
        counts: dict[int, int] = {}
        for units in missing:
            for unit in units:
                counts[unit] = counts.get(unit, 0) + 1
        # of units that add as much, the nearest to the best one
        unit = min(counts, key=lambda n: (-counts[n], abs(n - alignment.best)))
        chosen.append(unit)
        missing = [units for units in missing if unit not in units]
    return tuple(
        alignment.sources.quote(first, last) for first, last in _join(chosen, alignment.sources)
    )


def _join(chosen: Sequence[int], sources: Sources) -> list[list[int]]:
    """Runs of units, each joined with a neighbour of the same source."""
    runs: list[list[int]] = []
    for unit in chosen:
        source = sources.units[unit][0]
        for run in runs:
            if sources.units[run[0]][0] == source and run[0] - 1 <= unit <= run[1] + 1:
                run[:] = [min(run[0], unit), max(run[1], unit)]
                break
        else:
            runs.append([unit, unit])
    return runs


def _find_nearest(alignment: Alignment) -> int:
    """The unit nearest in meaning, where no word is shared: a claim in another language."""
    from ragstone.text.encoder import encode  # loads numpy

    texts = [unit.text for _, unit in alignment.sources.units][:MAX_ENCODED_UNITS]
    vectors = encode([alignment.claim.raw, *texts])
    return int((vectors[1:] @ vectors[0]).argmax())
