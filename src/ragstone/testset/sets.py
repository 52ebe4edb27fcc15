"""`generate`: a test set from documents, with an account of what was asked for, made and rejected."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragstone._version import __version__
from ragstone.asks import digest
from ragstone.config import reveal
from ragstone.data import open_replacement
from ragstone.engine import AskBroker, Progress
from ragstone.engine.sync import run_sync
from ragstone.errors import DataError, RagstoneError
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.judges.offline import OfflineJudge
from ragstone.store import Store
from ragstone.testset.formats import check_target, list_planted, write_set
from ragstone.testset.generation import Generation
from ragstone.testset.items import KINDS, REASONS, Item, Rejection
from ragstone.testset.journal import Journal, read_head
from ragstone.testset.judge_writer import GROUP, PER_DOCUMENT, JudgeWriter
from ragstone.testset.parts import Parts, build_parts
from ragstone.testset.plan import TestsetInputs, TestsetPlan, plan_testset
from ragstone.testset.quotas import (
    CAPPED_FROM,
    MAX_RULE_SHARE,
    RULE_KINDS,
    Tally,
    resolve_weights,
)
from ragstone.testset.review import decisions_file
from ragstone.testset.sampling import MAX_POOL_DOCUMENTS, spread_documents
from ragstone.testset.sources import Corpus, Source, open_corpus
from ragstone.testset.styles import STYLES
from ragstone.types import NO_USAGE, Usage


@dataclass(frozen=True, slots=True)
class TestSet:
    """Items that passed every check, with an account of those that did not."""

    __test__ = False  # else pytest would collect the class because of its name

    asked: int
    """Items that were asked for."""
    items: tuple[Item, ...]
    rejected: tuple[Rejection, ...]
    documents: int
    """Documents in the corpus."""
    visited: int
    """Documents that items were looked for in."""
    without_text: int = 0
    unreadable: tuple[str, ...] = ()
    """Why each file was left out that could not be read."""
    other_languages: int = 0
    """Documents left out because they are in none of the languages asked for, where all were looked at for that."""
    given_up: Mapping[str, int] = field(default_factory=dict)
    """Kinds that the corpus does not yield (any more) → documents tried in vain."""
    usage: Usage = NO_USAGE
    stopped: str = ""
    """Why it ended early (budget spent, judge not reached); empty when it did not."""
    out: Path | None = None
    """The file or folder that was written; None when nothing was."""
    rejected_in: Path | None = None
    """Where the rejected items are written, if there are any; None without `out`."""
    planted_in: Path | None = None
    """File of the documents that must be put into the corpus for `hidden_instruction`; None when there are none."""
    spared: str = ""
    """The small judge that was given where rules wrote the questions; empty elsewhere."""

    @property
    def giving(self) -> int:
        """Documents that gave at least one item."""
        quoted = {evidence.document for item in self.items for evidence in item.evidence}
        return len(
            quoted | {str(item.proof["from"]) for item in self.items if "from" in item.proof}
        )

    @property
    def kinds(self) -> dict[str, int]:
        """Kind → how many were made."""
        made = Counter(item.kind for item in self.items)
        return {kind: made[kind] for kind in KINDS if made[kind]}

    @property
    def reasons(self) -> dict[str, int]:
        """Reason → how many were refused for it, most frequent first."""
        counts = Counter(rejection.reason for rejection in self.rejected)
        order = sorted(counts, key=lambda reason: (-counts[reason], REASONS.index(reason)))
        return {reason: counts[reason] for reason in order}

    def rows(self) -> list[dict[str, Any]]:
        """The items as rows that `evaluate` takes."""
        return [item.to_row() for item in self.items]

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        from ragstone.testset.summary_text import format_summary

        return format_summary(self)


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
    """A test set from documents (a folder, files, texts, dicts, Documents, also those of LangChain, LlamaIndex and Haystack); also inside a running event loop.

    Without a judge, or with `offline`, questions come from rules over facts; also with a small one; any other judge writes and answers its own."""
    plan, inputs = plan_testset(
        documents, n, kinds=kinds, languages=languages, judge=judge, seed=seed, styles=styles,
        out=out, format=format, resume=resume, store=store, concurrency=concurrency,
        max_usd=max_usd, max_calls=max_calls, watch=watch,
    )  # fmt: skip
    return run_sync(lambda: execute_testset_plan(plan, inputs))


async def agenerate(documents: Source, n: int | None = None, **options: Any) -> TestSet:
    """`generate` for code that awaits; takes the same options."""
    return await execute_testset_plan(*plan_testset(documents, n, **options))


def part_file(out: Path) -> Path:
    """Where an unfinished generation keeps what it has."""
    return out.with_name(f"{out.name}.part")


def name_rejected_file(out: Path) -> Path:
    """Where the refused items are kept."""
    return out.with_name(f"{out.name if out.is_dir() else out.stem}.rejected.jsonl")


def name_planted_file(out: Path) -> Path:
    """Where the documents are kept that an item needs in the corpus and that are not there."""
    return out.with_name(f"{out.name if out.is_dir() else out.stem}.planted.jsonl")


def load_unfinished(out: Path) -> TestsetPlan | None:
    """The plan of the unfinished generation beside a file; None when there is none, or ragstone 0.1 wrote it."""
    stored = read_head(part_file(out)).get("request")
    return None if stored is None else replace(TestsetPlan.from_json(stored), resume=True)


def open_documents(plan: TestsetPlan, inputs: TestsetInputs) -> Corpus:
    """The documents of a plan, or the given ones."""
    if inputs.documents is not None:
        return open_corpus(inputs.documents)
    return open_corpus(plan.documents[0] if len(plan.documents) == 1 else list(plan.documents))


def build_writer_judge(plan: TestsetPlan, inputs: TestsetInputs) -> Judge | None:
    """The judge that writes; None when questions come from rules."""
    spec = reveal(plan.judge) if inputs.judge is None else inputs.judge
    if spec is None or spec == "offline":
        return None
    judge = make_judge(
        spec, concurrency=plan.concurrency, max_usd=plan.max_usd, max_calls=plan.max_calls
    )
    return None if isinstance(judge, OfflineJudge) else judge


def is_small(judge: Judge | None) -> bool:
    """Whether a judge is a small model, which is asked for one thing at a time."""
    return bool(getattr(judge, "small", False))


def is_ruled(judge: Judge | None, weights: Mapping[str, float], styles: Sequence[str]) -> bool:
    """Whether rules write although there is a judge: a small one, where nothing is asked for that rules do not make.

    Of the questions that a model of 1.5 billion parameters wrote or worded fewer were good (bench/testset_reading)."""
    return is_small(judge) and weights.keys() <= RULE_KINDS and set(styles) <= set(STYLES)


def _build_identity(plan: TestsetPlan, corpus: Corpus, judge: Judge | None) -> dict[str, Any]:
    """All that decides what is made: a generation is resumed only with the same."""
    return {
        "documents": corpus.digest,
        "n": plan.item_count,
        "kinds": resolve_weights(plan.kinds, judged=judge is not None, small=is_small(judge)),
        "languages": sorted(plan.languages),
        "seed": plan.seed,
        "styles": list(plan.styles),
        "judge": judge.name if judge is not None else None,
        # another version may make other items: a set must not be half of each
        "ragstone": __version__,
    }


async def execute_testset_plan(
    plan: TestsetPlan,
    inputs: TestsetInputs = TestsetInputs(),  # noqa: B008  frozen
) -> TestSet:
    """Carry out a plan, or the rest of it, and write the files that it names."""
    wanted = plan.item_count
    out = Path(plan.out) if plan.out is not None else None
    if out is not None:
        check_target(out, plan.format)
        _refuse_reviewed(out)
    given = build_writer_judge(plan, inputs)
    weights = resolve_weights(plan.kinds, judged=given is not None, small=is_small(given))
    judge = None if is_ruled(given, weights, plan.styles) else given
    if judge is None:
        _check_styles(plan.styles)
    with open_documents(plan, inputs) as corpus:
        identity = _build_identity(plan, corpus, judge)
        # Documents of this process cannot be named in a file for another one.
        request = plan.anchor(Path.cwd()).to_json() if inputs.documents is None else None
        path = part_file(out) if out is not None else None
        journal = Journal.open(path, identity, resume=plan.resume, request=request)
        try:
            languages = [language.split("-")[0].lower() for language in plan.languages]
            order = spread_documents(corpus, plan.seed, wanted=wanted, languages=languages)
            parts = build_parts(corpus, judged=judge is not None, styles=plan.styles)
            tally = _build_tally(weights, wanted, judged=judge is not None)
            generation = Generation(
                corpus, order, tally, journal, parts.prover, plan.seed,
                inputs.watch,
            )  # fmt: skip
            try:
                if judge is None:
                    await generation.run_rules(parts.maker())
                else:
                    store = inputs.store or Store.open(plan.store)
                    name = f"generate-{digest(identity)[:12]}"
                    await _write_with_judge(generation, parts, judge, plan, store, name)
            finally:
                parts.close()
        finally:
            journal.close()
            # a judge that the caller made is the caller's to close
            if given is not None and given is not inputs.judge:
                await given.close()
        made = _build_testset(
            generation, plan, out, given.name if given is not None and given is not judge else ""
        )
        if out is not None:
            _write_files(made, out, plan.format, corpus)
    return made


def _build_testset(
    generation: Generation, plan: TestsetPlan, out: Path | None, spared: str
) -> TestSet:
    # by position: in the order of the fields of TestSet
    return TestSet(
        plan.item_count,
        tuple(generation.items),
        tuple(generation.rejected),
        len(generation.corpus),
        len(generation.visited),
        generation.corpus.empty,
        tuple(generation.corpus.unreadable),
        _count_other_languages(generation, plan),
        dict(generation.tally.given_up),
        generation.usage,
        generation.stopped,
        out if generation.items else None,
        name_rejected_file(out) if out is not None else None,
        name_planted_file(out) if out is not None and list_planted(generation.items) else None,
        spared,
    )


def _count_other_languages(generation: Generation, plan: TestsetPlan) -> int:
    documents = len(generation.corpus)
    is_known = plan.languages and documents <= MAX_POOL_DOCUMENTS
    return documents - len(generation.order) if is_known else 0


def _build_tally(weights: dict[str, float], wanted: int, *, judged: bool) -> Tally:
    """What is wanted of each kind; with a judge, or few kinds, or a small set, one kind may fill what others leave."""
    capped = not judged and len(weights) > 2 and wanted >= CAPPED_FROM
    return Tally(weights, wanted, max_share=MAX_RULE_SHARE if capped else 1.0)


async def _write_with_judge(
    generation: Generation, parts: Parts, judge: Judge, plan: TestsetPlan, store: Store, name: str
) -> None:
    """Have a judge write."""
    # a small model loses count of several orders, and its long replies are cut: one order per call
    small = is_small(judge)
    async with AskBroker(judge, store, name, plan.concurrency) as broker:
        writer = JudgeWriter(
            broker,
            judge.name,
            generation.corpus,
            parts.prover,
            parts.nearest,
            generation.corpus.find,
            tuple(plan.styles),
            per_document=1 if small else PER_DOCUMENT,
            group=1 if small else GROUP,
            # a server of one's own answers one call at a time: more would only wait for each other
            window=2 if small else max(2, broker.concurrency // 2),
        )
        await generation.run_writer(writer)


def _check_styles(styles: Sequence[str]) -> None:
    """Rules write a few styles; for any other one a judge is needed."""
    for style in styles:
        if style not in STYLES:
            raise RagstoneError(
                f"only a judge can write as {style!r}; rules write {', '.join(STYLES)}: choose one of "
                "these, or give --judge too"
            )


def _write_files(made: TestSet, out: Path, format: str, corpus: Corpus) -> None:
    """Write the files, each whole or not at all; the unfinished file stays for --resume if the generation was stopped."""
    if made.items:
        write_set(out, made.items, format, corpus)
    rejected_path = name_rejected_file(out)
    if made.rejected:
        with open_replacement(rejected_path) as stream:
            for rejection in made.rejected:
                stream.write(
                    json.dumps(rejection.to_row(), ensure_ascii=True, allow_nan=False) + "\n"
                )
    else:  # of an earlier generation
        rejected_path.unlink(missing_ok=True)
    planted_path = name_planted_file(out)
    if made.planted_in is not None:
        with open_replacement(planted_path) as stream:
            for document in list_planted(made.items):
                row = {"id": document.id, "title": document.title, "text": document.text}
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    else:
        planted_path.unlink(missing_ok=True)
    # the unfinished file goes last: killed before this line, a resumed generation writes the same
    # files again
    if not made.stopped:
        part_file(out).unlink(missing_ok=True)


def _refuse_reviewed(out: Path) -> None:
    """Refuse to overwrite a test set on which a person has made decisions."""
    decided = decisions_file(out)
    if decided.exists():
        raise DataError(
            f"{str(decided)!r} holds a review of {out.name!r}; name another file with -o, or move "
            "the review away"
        )
