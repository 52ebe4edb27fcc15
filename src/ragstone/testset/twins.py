"""Questions of a test set that ask the same: duplicates, near-duplicates, and the same question with two answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.testset.findings import DROP, Fault, FaultKind
from ragstone.testset.likeness import find_alike
from ragstone.testset.question_terms import extract_question_stems
from ragstone.text.language import detect_language
from ragstone.text.words import fold_text
from ragstone.types import Sample

MIN_SIMILARITY = 0.85
"""Cosine of two questions, with the same answer from the same document, from which they are one."""
MAX_EXTRA_STEMS = 3
"""Words of meaning that a frame (`Please tell me: …`) may add to a question."""


def find_twins(samples: Sequence[Sample]) -> Iterator[Fault]:
    """Each item that asks what an earlier one asks, reported once, with the earlier one as its proof."""
    reported: set[str] = set()
    for first, second in _find_pairs(samples):
        if second.id in reported or not _has_same_history(first, second):
            continue
        reported.add(second.id)
        detail = f"{first.id}: {first.question}"
        same = _fold(first.reference) == _fold(second.reference)
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

    groups: dict[tuple[str, str, frozenset[str]], list[Sample]] = {}
    for sample in samples:
        named = frozenset(sample.relevant or ())
        if named and sample.reference:
            # a question in another language is another test
            key = (_fold(sample.reference), sample.language or "", named)
            groups.setdefault(key, []).append(sample)
    for group in groups.values():
        if len(group) < 2:
            continue
        vectors = encode([sample.question or "" for sample in group])
        cosines = vectors @ vectors.T
        for at in range(1, len(group)):
            for other in range(at):
                alike = cosines[at, other] >= MIN_SIMILARITY
                if alike and _share_names(group[other], group[at]):
                    yield group[other], group[at]


def _share_names(first: Sample, second: Sample) -> bool:
    """Whether neither question has several words of meaning that the other lacks: `-a` and `-b` are two things."""
    stems = [
        set(extract_question_stems(text, detect_language(text, sample.language)))
        for sample in (first, second)
        for text in (sample.question or "",)
    ]
    extra = min(len(stems[0] - stems[1]), len(stems[1] - stems[0]))
    return extra <= 1 and len(stems[0] ^ stems[1]) <= 2 * MAX_EXTRA_STEMS


def _has_same_history(first: Sample, second: Sample) -> bool:
    """Whether both follow the same turns: the same second turn means another thing after another first one."""
    histories = [" ".join(map(str, sample.meta.get("history") or ())) for sample in (first, second)]
    return histories[0] == histories[1] or (all(histories) and bool(list(find_alike(histories))))


def _fold(text: str | None) -> str:
    return " ".join(fold_text(text or "").split())
