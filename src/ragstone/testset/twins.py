"""Questions of a test set that ask the same: duplicates, near-duplicates, and the same question with two answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.testset.findings import DROP, Fault, FaultKind
from ragstone.testset.likeness import agrees, find_alike
from ragstone.text.language import detect_language
from ragstone.text.terms import extract_terms
from ragstone.text.words import fold_text
from ragstone.types import Sample

MIN_SIMILARITY, MIN_TELLING_SIMILARITY = 0.72, 0.5
"""Cosines of two questions, with the same answer from the same document, from which they are one: where the answer
is a
bare `yes` or a number that many questions may have, and where it is long enough to be of one question only."""
MIN_SHARED_WORDS = 0.6
"""Words that two answers share, of those of both, from which they may be one answer."""
MIN_TELLING_WORDS = 4
"""Words of meaning from which an answer is that of one question."""


def find_twins(samples: Sequence[Sample]) -> Iterator[Fault]:
    """Each item that asks what an earlier one asks, reported once, with the earlier one as its proof."""
    reported: set[str] = set()
    for first, second in _find_pairs(samples):
        if second.id in reported or not _has_same_history(first, second):
            continue
        reported.add(second.id)
        detail = f"{first.id}: {first.question}"
        told, other = first.reference or "", second.reference or ""
        same = _say_the_same(told, other, detect_language(told, first.language))
        if same:
            is_exact = _fold(first.question) == _fold(second.question)
            kind: FaultKind = "duplicate" if is_exact else "near_duplicate"
            yield Fault(kind, second.id, second.question or "", detail, DROP)
        else:
            detail += f" ({first.reference} / {second.reference})"
            yield Fault("ambiguous", second.id, second.question or "", detail)


def _find_pairs(samples: Sequence[Sample]) -> Iterator[tuple[Sample, Sample]]:
    """Pairs of items, the earlier first: by their words, by a frame around the same words, by meaning."""
    for first, second in find_alike([sample.question or "" for sample in samples]):
        yield samples[first], samples[second]
    yield from _find_framed(samples)
    yield from _find_similar(samples)


def _find_framed(samples: Sequence[Sample]) -> Iterator[tuple[Sample, Sample]]:
    """One question inside another: `Please tell me: How high is the tower?`"""
    by_text: dict[str, list[int]] = {}
    stripped = [_fold(sample.question).strip("¿? ") for sample in samples]
    for at, text in enumerate(stripped):
        by_text.setdefault(text, []).append(at)
    for at, text in enumerate(stripped):
        words = text.split()
        for start in range(1, min(len(words) - 2, 9)):
            for other in by_text.get(" ".join(words[start:]), ()):
                yield samples[min(at, other)], samples[max(at, other)]


def _find_similar(samples: Sequence[Sample]) -> Iterator[tuple[Sample, Sample]]:
    """Questions of like meaning with the same answer from the same document; others may be about two things."""
    from ragstone.text.encoder import encode

    groups: dict[tuple[str, frozenset[str]], list[Sample]] = {}
    for sample in samples:
        named = frozenset(sample.relevant or ())
        if named and sample.reference:
            # a question in another language is another test
            groups.setdefault((sample.language or "", named), []).append(sample)
    for group in groups.values():
        if len(group) < 2:
            continue
        vectors = encode([(sample.question or "").strip("¿?¡! ").lower() for sample in group])
        cosines = vectors @ vectors.T
        for at in range(1, len(group)):
            for other in range(at):
                if cosines[at, other] >= MIN_TELLING_SIMILARITY and _is_paraphrase(
                    group[other], group[at], float(cosines[at, other])
                ):
                    yield group[other], group[at]


def _is_paraphrase(first: Sample, second: Sample, cosine: float) -> bool:
    """Whether two questions that are near in meaning want one thing: their answers agree, and what they name is
    the same."""
    told, other = first.reference or "", second.reference or ""
    language = detect_language(told, first.language)
    if not _say_the_same(told, other, language):
        return False
    words = min(len(set(extract_terms(text, language))) for text in (told, other))
    if cosine < (MIN_TELLING_SIMILARITY if words >= MIN_TELLING_WORDS else MIN_SIMILARITY):
        return False
    return list_names(first.question or "") == list_names(second.question or "")


def _say_the_same(first: str, second: str, language: str) -> bool:
    """Whether two answers are the same words, or most of the same with the same names and figures."""
    if _fold(first) == _fold(second):
        return True
    words, others = (set(extract_terms(text, language)) for text in (first, second))
    is_near = len(words & others) >= MIN_SHARED_WORDS * len(words | others)
    return is_near and agrees(first, second, language) and list_names(first) == list_names(second)


def list_names(question: str) -> frozenset[str]:
    """What tells two alike questions apart: figures, code and names, which two wordings share."""
    inside = question[1:] if question[:1] not in '`"“«' else question
    found = re.findall(
        r"`[^`]+`|\d+(?:[.,]\d+)*|(?<!\w)-{1,2}\w[\w-]*|(?<=[\w,;] )(?!I\b)[A-ZÁÉÍÓÚÑ][\w’'-]+",
        inside,
    )
    return frozenset(name.strip("`").lower() for name in found)


def _has_same_history(first: Sample, second: Sample) -> bool:
    """Whether both follow the same turns: the same second turn means another thing after another first one."""
    histories = [" ".join(map(str, sample.meta.get("history") or ())) for sample in (first, second)]
    return histories[0] == histories[1] or (all(histories) and bool(list(find_alike(histories))))


def _fold(text: str | None) -> str:
    return " ".join(fold_text(text or "").split())
