"""Checks of a test set: what it covers, how it is balanced, what is wrong with it, which differences it can show."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragstone.analysis.power import (
    WORST_SD,
    SampleSize,
    compute_paired_sd,
    detectable_difference,
    plan_sample_size,
)
from ragstone.analysis.stats import Z
from ragstone.data import open_replacement, read
from ragstone.engine.sync import run_sync
from ragstone.judges import Judge
from ragstone.testset.audit import SuspectedUnanswerable, audit_answer, find_doubt, get_evidence
from ragstone.testset.baselines import (
    Search,
    TrivialBaselines,
    is_abstention,
    list_relevant,
    measure_baselines,
)
from ragstone.testset.doubt_reader import (
    ReadingAccount,
    ReadingJudge,
    read_by_figures,
    read_doubts,
)
from ragstone.testset.findings import DROP, FAULTS, Fault, FaultKind, Hint, apply_fixes
from ragstone.testset.likeness import is_dangling, leaks_answer
from ragstone.testset.sampling import Topics, sample_places
from ragstone.testset.sources import Corpus, Source, open_corpus
from ragstone.testset.twins import find_twins
from ragstone.text.evidence import find_quote
from ragstone.types import Sample

EFFECTS = (0.10, 0.05, 0.03)
"""Differences of a score for which the needed number of questions is computed."""


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
    documents: tuple[str, ...]
    """Names of the corpus, where it was given by files or folders."""
    total: int
    answerable: int
    kinds: Mapping[str, int]
    difficulties: Mapping[str, int]
    languages: Mapping[str, int]
    faults: tuple[Fault, ...]
    hints: tuple[Hint, ...]
    """Items that somebody should look at; they may well be right."""
    coverage: Coverage | None
    """None without documents."""
    trivial: TrivialBaselines
    needs: tuple[SampleSize, ...]
    """Questions needed to show each of EFFECTS."""
    shows: float
    """The smallest difference that this many questions show, at worst."""
    reading: ReadingAccount | None = None
    """What a judge was asked; None without one."""

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
    source: str | Path,
    documents: Source | None = None,
    *,
    reading: ReadingJudge | None = None,
    **read_options: Any,
) -> Checkup:
    """Check a test set in any format that `read` accepts, with these options of it; `documents` are its corpus.

    `reading` is a judge that reads what may answer the items which are said to have no answer."""
    judge = reading.open_judge() if reading is not None else None
    samples = [record.sample for record in read(source, **read_options)]
    faults = list(_find_faults(samples))
    doubts: list[SuspectedUnanswerable] = []
    coverage = None
    if documents is None:
        trivial = measure_baselines(samples, None)
    else:
        with open_corpus(documents) as corpus, Search(corpus) as search:
            coverage = _measure_coverage(samples, corpus)
            for found in _find_corpus_faults(samples, corpus, search):
                if isinstance(found, SuspectedUnanswerable):
                    doubts.append(found)
                else:
                    faults.append(found)
            trivial = measure_baselines(samples, search)
    decided, account = _decide_doubts(doubts, judge, reading)
    faults += [found for found in decided if isinstance(found, Fault)]
    hints = [found for found in decided if isinstance(found, Hint)]
    order = {kind: at for at, kind in enumerate(FAULTS)}
    faults.sort(key=lambda fault: order[fault.kind])
    unanswerable = sum(not _is_answerable(sample) for sample in samples)
    # before there is a run nothing is known of the spread, so the worst case is planned for
    sd = compute_paired_sd(WORST_SD)
    half_width = Z * sd / max(1, len(samples)) ** 0.5
    # by position: in the order of the fields of Checkup
    return Checkup(
        str(source),
        _list_names(documents),
        len(samples),
        len(samples) - unanswerable,
        _count_values(samples, lambda s: s.meta.get("kind") or s.meta.get("type")),
        _count_values(samples, lambda s: s.meta.get("difficulty")),
        _count_values(samples, lambda s: s.language),
        tuple(faults),
        tuple(hints),
        coverage,
        trivial,
        tuple(plan_sample_size(effect, sd, binary=True, assumed=True) for effect in EFFECTS),
        detectable_difference(half_width, 0.05),
        account,
    )


def _decide_doubts(
    doubts: Sequence[SuspectedUnanswerable], judge: Judge | None, reading: ReadingJudge | None
) -> tuple[list[Fault | Hint], ReadingAccount | None]:
    """What figures, or a judge, say of the items which are said to have no answer."""
    if judge is None or reading is None:
        return read_by_figures(doubts), None

    async def read_and_close() -> tuple[list[Fault | Hint], ReadingAccount]:
        try:
            return await read_doubts(doubts, judge, reading)
        finally:
            # a judge that the caller made is the caller's to close
            if judge is not reading.judge:
                await judge.close()

    return run_sync(read_and_close)


def _list_names(documents: Source | None) -> tuple[str, ...]:
    given = [documents] if isinstance(documents, str | Path) else documents or ()
    names = list(given) if isinstance(given, Sequence) else []
    return tuple(str(name) for name in names if isinstance(name, str | Path))


def _is_answerable(sample: Sample) -> bool:
    """Whether the set says that there is an answer: a reference that is not an abstention."""
    return not is_abstention(sample)


def _count_values(samples: Sequence[Sample], value: Callable[[Sample], Any]) -> dict[str, int]:
    counts = Counter(str(value(sample)) for sample in samples if value(sample))
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def fix_testset(
    checkup: Checkup, accepted: Sequence[Fault], out: Path, **read_options: Any
) -> tuple[int, int]:
    """Write the set with the fixes of these findings to another file; returns the rows written and those dropped."""
    rows = [
        (record.sample.id, json.loads(record.row))
        for record in read(checkup.source, **read_options)
    ]
    mended = apply_fixes(rows, accepted, read_options.get("fields"))
    with open_replacement(out) as stream:
        for row in mended:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(mended), len(rows) - len(mended)


def _find_faults(samples: Sequence[Sample]) -> Iterator[Fault]:
    """What shows without the documents."""
    for sample in samples:
        yield from _find_own_faults(sample)
    with_question = [sample for sample in samples if (sample.question or "").strip()]
    yield from find_twins(with_question)


def _find_own_faults(sample: Sample) -> Iterator[Fault]:
    """What shows in one sample alone."""
    question, reference = sample.question or "", sample.reference or ""
    if not question.strip():
        yield Fault("no_question", sample.id, question, fix=DROP)
        return
    if not reference.strip():
        yield Fault("no_reference", sample.id, question)
    elif _is_answerable(sample) and leaks_answer(question, reference):
        yield Fault("leaked", sample.id, question, reference, DROP)
    if not sample.meta.get("history") and is_dangling(question, sample.language):
        yield Fault("not_self_contained", sample.id, question, fix=DROP)


def _find_corpus_faults(
    samples: Sequence[Sample], corpus: Corpus, search: Search
) -> Iterator[Fault | SuspectedUnanswerable]:
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
        for piece in get_evidence(sample):
            text = texts.get(piece["document"])
            if text is not None and find_quote(piece["quote"], text) is None:
                yield Fault("quote_not_verbatim", sample.id, question, piece["quote"])
        if _is_answerable(sample):
            yield from audit_answer(sample, texts, search)
        elif (doubt := find_doubt(sample, search)) is not None:
            yield doubt


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
