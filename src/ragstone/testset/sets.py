"""The door: `generate` documents into a test set that says what was asked, made and refused."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone._version import __version__
from ragstone.asks import digest
from ragstone.data import replacing
from ragstone.engine import AskBroker, Progress
from ragstone.errors import DataError, RagstoneError
from ragstone.judges import Judge
from ragstone.store import Store
from ragstone.testset.formats import check_target, planted, write_set
from ragstone.testset.items import KINDS, REASONS, Item, Rejection
from ragstone.testset.journal import Journal
from ragstone.testset.making import Generation
from ragstone.testset.parts import Parts, parts_of
from ragstone.testset.quotas import CAPPED_FROM, MAX_RULE_SHARE, Tally, weights_of
from ragstone.testset.review import decisions_file
from ragstone.testset.sampling import spread
from ragstone.testset.sources import Corpus, Source, open_corpus
from ragstone.types import NOTHING_USED, Usage

USUAL = 100
"""Items that are made when no number is asked for, or fewer when the documents do not bear as many."""


@dataclass(frozen=True, slots=True)
class TestSet:
    """Items that stood every check, with the account of those that did not."""

    __test__ = False  # for pytest, which takes the name for its own

    asked: int
    items: tuple[Item, ...]
    rejected: tuple[Rejection, ...]
    documents: int
    """Documents in the corpus."""
    visited: int
    """Documents that were asked about."""
    without_text: int = 0
    given_up: Mapping[str, int] = field(default_factory=dict)
    """Kinds that the corpus does not yield (any more) → documents tried in vain."""
    usage: Usage = NOTHING_USED
    stopped: str = ""
    """Why it ended before its time; empty when it did not."""
    out: Path | None = None
    rejected_in: Path | None = None
    planted_in: Path | None = None
    """Where the documents lie that must be put into the corpus for `hidden_instruction`; None when there are none."""

    @property
    def kinds(self) -> dict[str, int]:
        """Kind → how many were made."""
        made = Counter(item.kind for item in self.items)
        return {kind: made[kind] for kind in KINDS if made[kind]}

    @property
    def reasons(self) -> dict[str, int]:
        """Reason → how many were refused for it, most frequent first."""
        counts = Counter(one.reason for one in self.rejected)
        order = sorted(counts, key=lambda reason: (-counts[reason], REASONS.index(reason)))
        return {reason: counts[reason] for reason in order}

    def rows(self) -> list[dict[str, Any]]:
        """The items as rows that `evaluate` takes."""
        return [item.row() for item in self.items]

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        from ragstone.testset.account import text

        return text(self)


@dataclass(frozen=True, slots=True)
class Request:
    """Everything `generate` was asked to do."""

    documents: Source
    n: int | None = None
    kinds: Mapping[str, float] | str | None = None
    languages: Sequence[str] = ()
    judge: Any = None
    seed: int = 0
    styles: Sequence[str] = ()
    out: str | Path | None = None
    format: str = "ragstone"
    resume: bool = False
    store: str | Path | Store | None = None
    concurrency: int | None = None
    max_usd: float | None = None
    max_calls: int | None = None
    watch: Callable[[Progress], None] | None = None


def generate(
    documents: Source,
    n: int | None = None,
    *,
    kinds: Mapping[str, float] | str | None = None,
    languages: Sequence[str] = (),
    judge: Any = None,
    seed: int = 0,
    styles: Sequence[str] = (),
    out: str | Path | None = None,
    format: str = "ragstone",
    resume: bool = False,
    store: str | Path | Store | None = None,
    concurrency: int | None = None,
    max_usd: float | None = None,
    max_calls: int | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> TestSet:
    """A test set from documents (a folder, files, a BEIR folder, Documents); also inside a running event loop.

    Without a judge, or with `offline`, questions come from rules over facts; with any other judge it writes and answers them."""
    request = Request(
        documents, n, kinds, languages, judge, seed, styles, out, format, resume, store,
        concurrency, max_usd, max_calls, watch,
    )  # fmt: skip
    return finished(request)


async def agenerate(documents: Source, n: int | None = None, **options: Any) -> TestSet:
    """`generate` for code that awaits; takes the same options."""
    return await _carry_out(Request(documents, n, **options))


def part_file(out: Path) -> Path:
    """Where an unfinished generation keeps what it has."""
    return out.with_name(f"{out.name}.part")


def rejected_file(out: Path) -> Path:
    """Where the refused items are kept."""
    return out.with_name(f"{out.name if out.is_dir() else out.stem}.rejected.jsonl")


def planted_file(out: Path) -> Path:
    """Where the documents are kept that an item needs in the corpus and that are not there."""
    return out.with_name(f"{out.name if out.is_dir() else out.stem}.planted.jsonl")


def plan_of(request: Request, corpus: Corpus, judge: Judge | None) -> dict[str, Any]:
    """All that decides what is made: a generation goes on only with the same."""
    return {
        "documents": corpus.digest,
        "n": wanted_of(request),
        "kinds": weights_of(request.kinds, judged=judge is not None),
        "languages": sorted(request.languages),
        "seed": request.seed,
        "styles": list(request.styles),
        "judge": judge.name if judge is not None else None,
        "ragstone": __version__,
    }


def wanted_of(request: Request) -> int:
    """How many items are wanted."""
    if request.n is not None and (isinstance(request.n, bool) or request.n < 1):
        raise RagstoneError(f"{request.n!r} items cannot be made; give 1 or more")
    return USUAL if request.n is None else request.n


def judge_of(request: Request) -> Judge | None:
    """The judge that writes; None when questions come from rules."""
    if request.judge is None or request.judge == "offline":
        return None
    from ragstone.judges.factory import make_judge
    from ragstone.judges.offline import OfflineJudge

    judge = make_judge(
        request.judge,
        concurrency=request.concurrency,
        max_usd=request.max_usd,
        max_calls=request.max_calls,
    )
    return None if isinstance(judge, OfflineJudge) else judge


async def _carry_out(request: Request) -> TestSet:
    wanted = wanted_of(request)
    out = Path(request.out) if request.out is not None else None
    if out is not None:
        check_target(out, request.format)
        _spare_reviewed(out)
    judge = judge_of(request)
    weights = weights_of(request.kinds, judged=judge is not None)
    if judge is None:
        _known_styles(request.styles)
    with open_corpus(request.documents) as corpus:
        plan = plan_of(request, corpus, judge)
        journal = Journal.open(
            part_file(out) if out is not None else None, plan, resume=request.resume
        )
        try:
            languages = [one.split("-")[0].lower() for one in request.languages]
            order = spread(corpus, request.seed, wanted=wanted, languages=languages)
            parts = parts_of(corpus, judged=judge is not None, styles=request.styles)
            capped = judge is None and len(weights) > 2 and wanted >= CAPPED_FROM
            tally = Tally(weights, wanted, max_share=MAX_RULE_SHARE if capped else 1.0)
            generation = Generation(
                corpus, order, tally, journal, parts.prover, request.seed,
                request.watch,
            )  # fmt: skip
            try:
                if judge is None:
                    await generation.offline(parts.maker())
                else:
                    await _written(generation, parts, judge, request, digest(plan))
            finally:
                parts.close()
        finally:
            journal.close()
            if judge is not None and judge is not request.judge:
                await judge.close()
        made = TestSet(
            wanted,
            tuple(generation.items),
            tuple(generation.rejected),
            len(corpus),
            len(generation.visited),
            corpus.empty,
            dict(generation.tally.given_up),
            generation.usage,
            generation.stopped,
            out if generation.items else None,
            rejected_file(out) if out is not None else None,
            planted_file(out) if out is not None and planted(generation.items) else None,
        )
        if out is not None:
            _write(made, out, request.format, corpus)
    return made


async def _written(
    generation: Generation, parts: Parts, judge: Judge, request: Request, run: str
) -> None:
    from ragstone.testset.written import GROUP, PER_DOCUMENT, JudgeWriter

    store = Store.open(request.store)
    name = f"generate-{run[:12]}"
    # a small model loses count of several orders, and a long reply of it is cut: one order a call
    small = getattr(judge, "small", False)
    async with AskBroker(judge, store, name, request.concurrency) as desk:
        writer = JudgeWriter(
            desk,
            judge.name,
            generation.corpus,
            parts.prover,
            parts.nearest,
            generation.corpus.find,
            tuple(request.styles),
            per_document=1 if small else PER_DOCUMENT,
            group=1 if small else GROUP,
            window=max(2, desk.concurrency // 2),
        )
        await generation.written(writer)


def _known_styles(styles: Sequence[str]) -> None:
    """Rules write a few styles; for any other one a judge is needed."""
    from ragstone.testset.offline.styles import STYLES

    for style in styles:
        if style not in STYLES:
            raise RagstoneError(
                f"only a judge can write as {style!r}; rules write {', '.join(STYLES)}: choose one of "
                "these, or give --judge too"
            )


def _write(made: TestSet, out: Path, format: str, corpus: Corpus) -> None:
    """The files, each whole or not there; what was unfinished stays for --resume only if there is more to be made."""
    if made.items:
        write_set(out, made.items, format, corpus)
    place = rejected_file(out)
    if made.rejected:
        with replacing(place) as stream:
            for one in made.rejected:
                stream.write(json.dumps(one.row(), ensure_ascii=True, allow_nan=False) + "\n")
    else:
        place.unlink(missing_ok=True)
    place = planted_file(out)
    if made.planted_in is not None:
        with replacing(place) as stream:
            for document in planted(made.items):
                row = {"id": document.id, "title": document.title, "text": document.text}
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    else:
        place.unlink(missing_ok=True)
    if not made.stopped:
        part_file(out).unlink(missing_ok=True)


def _spare_reviewed(out: Path) -> None:
    """A person's decisions are not written over."""
    decided = decisions_file(out)
    if decided.exists():
        raise DataError(
            f"{str(decided)!r} holds a review of {out.name!r}; name another file with -o, or move "
            "the review away"
        )


def finished(request: Request) -> TestSet:
    """The test set of a request, on a loop of its own; in a thread of its own when a loop is already running (Jupyter)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_carry_out(request))
    results: list[TestSet] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(_carry_out(request)))
        except BaseException as raised:
            errors.append(raised)

    thread = threading.Thread(target=run, name="ragstone-generate", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
