"""Checks of a test set: what it covers, how it is balanced, what is wrong with it, which differences it can show."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ragstone.analysis.power import (
    WORST_SD,
    SampleSize,
    compute_paired_sd,
    detectable_difference,
    plan_sample_size,
)
from ragstone.analysis.stats import Z
from ragstone.data import read
from ragstone.testset.baselines import (
    Search,
    TrivialBaselines,
    join_turns,
    list_relevant,
    measure_baselines,
)
from ragstone.testset.likeness import find_alike, is_dangling, leaks_answer
from ragstone.testset.sampling import Topics, sample_places
from ragstone.testset.sources import Corpus, Source, open_corpus
from ragstone.text.evidence import find_quote
from ragstone.text.language import ABSTENTIONS
from ragstone.text.words import fold_text
from ragstone.types import Sample

FaultKind = Literal[
    "no_question",
    "no_reference",
    "duplicate",
    "ambiguous",
    "leaked",
    "not_self_contained",
    "unknown_document",
    "quote_not_verbatim",
    "not_answerable",
    "answered_elsewhere",
]
FAULTS: tuple[FaultKind, ...] = get_args(FaultKind)
"""What can be wrong with an item; the last four show only with the documents."""

EFFECTS = (0.10, 0.05, 0.03)
"""Differences of a score for which the needed number of questions is computed."""
MIN_HELD_SHARE = 0.5
"""Share of a reference's words that its documents must hold."""
MIN_ELSEWHERE_SHARE = 0.85
"""Share of a question's words that another document must hold to count as telling it too."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with one item."""

    kind: FaultKind
    id: str
    text: str
    """The question, or what there is of it."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the corpus is asked about."""

    documents: int
    asked: int
    """Documents that are relevant to a question."""
    topics: int
    topics_asked: int
    most: tuple[tuple[str, int], ...]
    """Id and number of questions of the three documents with most questions."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All that is known of a test set."""

    source: str
    total: int
    answerable: int
    kinds: Mapping[str, int]
    difficulties: Mapping[str, int]
    languages: Mapping[str, int]
    faults: tuple[Fault, ...]
    coverage: Coverage | None
    """None without documents."""
    trivial: TrivialBaselines
    needs: tuple[SampleSize, ...]
    """Questions needed to show each of EFFECTS."""
    shows: float
    """The smallest difference that this many questions show, at worst."""

    @property
    def faulty(self) -> int:
        """Items with at least one fault."""
        return len({fault.id for fault in self.faults})

    def by_kind(self) -> dict[FaultKind, list[Fault]]:
        """The faults of each kind that occurs."""
        by_kind: dict[FaultKind, list[Fault]] = {}
        for kind in FAULTS:
            faults = [fault for fault in self.faults if fault.kind == kind]
            if faults:
                by_kind[kind] = faults
        return by_kind

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON."""
        return {**asdict(self), "faulty": self.faulty}


def check_testset(
    source: str | Path, documents: Source | None = None, **read_options: Any
) -> Checkup:
    """Check a test set in any format that `read` accepts, with these options of it; `documents` are its corpus."""
    samples = [record.sample for record in read(source, **read_options)]
    faults = list(_find_faults(samples))
    coverage = None
    if documents is None:
        trivial = measure_baselines(samples, None)
    else:
        with open_corpus(documents) as corpus, Search(corpus) as search:
            coverage = _measure_coverage(samples, corpus)
            faults += _find_corpus_faults(samples, corpus, search)
            trivial = measure_baselines(samples, search)
    order = {kind: at for at, kind in enumerate(FAULTS)}
    faults.sort(key=lambda fault: order[fault.kind])
    unanswerable = sum(not _is_answerable(sample) for sample in samples)
    # before there is a run nothing is known of the spread, so the worst case is planned for
    sd = compute_paired_sd(WORST_SD)
    half_width = Z * sd / max(1, len(samples)) ** 0.5
    # by position: in the order of the fields of Checkup
    return Checkup(
        str(source),
        len(samples),
        len(samples) - unanswerable,
        _count_values(samples, lambda s: s.meta.get("kind") or s.meta.get("type")),
        _count_values(samples, lambda s: s.meta.get("difficulty")),
        _count_values(samples, lambda s: s.language),
        tuple(faults),
        coverage,
        trivial,
        tuple(plan_sample_size(effect, sd, binary=True, assumed=True) for effect in EFFECTS),
        detectable_difference(half_width, 0.05),
    )


def _is_answerable(sample: Sample) -> bool:
    """Whether the set says that there is an answer: a reference that is not an abstention."""
    return fold_text(sample.reference or "") not in _ABSTENTIONS


_ABSTENTIONS = frozenset(fold_text(text) for text in ABSTENTIONS)


def _count_values(samples: Sequence[Sample], value: Callable[[Sample], Any]) -> dict[str, int]:
    counts = Counter(str(value(sample)) for sample in samples if value(sample))
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _find_faults(samples: Sequence[Sample]) -> Iterator[Fault]:
    """What shows without the documents."""
    for sample in samples:
        yield from _find_own_faults(sample)
    with_question = [sample for sample in samples if (sample.question or "").strip()]
    # first turns and follow-ups apart: the same words mean something else as a second turn
    yield from _find_duplicates(
        [sample for sample in with_question if not sample.meta.get("history")]
    )
    yield from _find_duplicates([sample for sample in with_question if sample.meta.get("history")])


def _find_own_faults(sample: Sample) -> Iterator[Fault]:
    """What shows in one sample alone."""
    question, reference = sample.question or "", sample.reference or ""
    if not question.strip():
        yield Fault("no_question", sample.id, question)
        return
    if not reference.strip():
        yield Fault("no_reference", sample.id, question)
    elif _is_answerable(sample) and leaks_answer(question, reference):
        yield Fault("leaked", sample.id, question, reference)
    if not sample.meta.get("history") and is_dangling(question, sample.language):
        yield Fault("not_self_contained", sample.id, question)


def _find_duplicates(samples: Sequence[Sample]) -> Iterator[Fault]:
    for first_position, second_position in find_alike(
        [sample.question or "" for sample in samples]
    ):
        first, second = samples[first_position], samples[second_position]
        # the same second turn means another thing after another first one
        histories = [
            " ".join(map(str, sample.meta.get("history") or ())) for sample in (first, second)
        ]
        if any(histories) and not list(find_alike(histories)):
            continue
        same = fold_text(first.reference or "") == fold_text(second.reference or "")
        kind: FaultKind = "duplicate" if same else "ambiguous"
        detail = f"{first.id}: {first.question}"
        if not same:
            detail += f" ({first.reference} / {second.reference})"
        yield Fault(kind, second.id, second.question or "", detail)


def _find_corpus_faults(
    samples: Sequence[Sample], corpus: Corpus, search: Search
) -> Iterator[Fault]:
    for sample in samples:
        question = sample.question or ""
        texts: dict[str, str] = {}
        for name in sample.relevant or {}:
            try:
                document = corpus.find(name)
            except KeyError:
                yield Fault("unknown_document", sample.id, question, name)
            else:
                texts[name] = f"{document.title}\n{document.text}"
        for piece in _get_evidence(sample):
            text = texts.get(piece["document"])
            if text is not None and find_quote(piece["quote"], text) is None:
                yield Fault("quote_not_verbatim", sample.id, question, piece["quote"])
        if _is_answerable(sample):
            yield from _find_unanswerable(sample, texts)
            yield from _find_other_sources(sample, search)


def _find_unanswerable(sample: Sample, texts: Mapping[str, str]) -> Iterator[Fault]:
    """Whether the relevant documents do not hold the reference, or there are none."""
    question, wanted = sample.question or "", list_relevant(sample)
    held = [texts[name] for name in wanted if name in texts]
    if wanted and texts and not _holds_reference(sample, held):
        yield Fault("not_answerable", sample.id, question, sample.reference or "")
    elif not wanted and sample.relevant is not None:
        yield Fault("not_answerable", sample.id, question, "no relevant document")


def _get_evidence(sample: Sample) -> list[Mapping[str, Any]]:
    given = sample.meta.get("evidence")
    return [piece for piece in given if "quote" in piece] if isinstance(given, list) else []


def _holds_reference(sample: Sample, texts: Sequence[str]) -> bool:
    """Whether the relevant documents together hold the words of the reference."""
    from ragstone.text.language import detect_language
    from ragstone.text.terms import extract_terms

    reference = sample.reference or ""
    language = detect_language(reference, sample.language)
    wanted = set(extract_terms(reference, language))
    held = {term for text in texts for term in extract_terms(text, language)}
    return not wanted or len(wanted & held) / len(wanted) >= MIN_HELD_SHARE


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
        if search.measure_held_share(piece, join_turns(sample)) >= MIN_ELSEWHERE_SHARE:
            detail = f"{piece.document}: {reference}"
            yield Fault("answered_elsewhere", sample.id, sample.question or "", detail)
            return


def _measure_coverage(samples: Sequence[Sample], corpus: Corpus) -> Coverage:
    wanted = Counter(name for sample in samples for name in list_relevant(sample))
    pool = sample_places(corpus, 0)
    topics = Topics(corpus, pool, random.Random(0))
    all_topics = {topics.find_topic(corpus[position].text) for position in pool}
    touched: set[int] = set()
    known = 0
    for name in wanted:
        try:
            touched.add(topics.find_topic(corpus.find(name).text))
        except KeyError:
            continue
        known += 1
    most = tuple(sorted(wanted.items(), key=lambda entry: (-entry[1], entry[0]))[:3])
    return Coverage(len(corpus), known, len(all_topics | touched), len(touched), most)
