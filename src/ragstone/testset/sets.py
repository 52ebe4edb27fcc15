"""`generate`: a test set from documents, from a log or by a judge, with an account of what was asked for, made and
refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
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
from ragstone.testset.asking import Line
from ragstone.testset.formats import check_target, list_planted, write_set
from ragstone.testset.from_documents import ask_documents
from ragstone.testset.from_judge import JudgeRoute, resolve_weights
from ragstone.testset.items import KINDS, REASONS, Item, Outcome, Rejection
from ragstone.testset.plan import TestsetInputs, TestsetPlan, plan_testset
from ragstone.testset.review import decisions_file
from ragstone.testset.sampling import spread_documents
from ragstone.testset.sources import Corpus, Source, open_corpus
from ragstone.types import Usage


@dataclass(frozen=True, slots=True)
class TestSet:
    """Items that passed every check, with an account of those that did not."""

    __test__ = False  # else pytest would collect the class because of its name

    asked: int
    """Items that were asked for."""
    outcome: Outcome
    documents: int
    """Documents in the corpus."""
    route: str
    """Where the questions come from: `documents`, `log` or `judge`."""
    without_text: int = 0
    unreadable: tuple[str, ...] = ()
    """Why each file was left out that could not be read."""
    out: Path | None = None
    """The file or folder that was written; None when nothing was."""
    rejected_in: Path | None = None
    """Where the refused items are written, if there are any; None without `out`."""
    planted_in: Path | None = None
    """File of the documents that must be put into the corpus for `hidden_instruction`; None when there are none."""
    items: tuple[Item, ...] = field(init=False)
    rejected: tuple[Rejection, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(self.outcome.items))
        object.__setattr__(self, "rejected", tuple(self.outcome.rejected))

    @property
    def visited(self) -> int:
        """Documents that items were looked for in."""
        return self.outcome.visited

    @property
    def given_up(self) -> Mapping[str, int]:
        """Kinds that did not come → orders in vain."""
        return self.outcome.given_up

    @property
    def usage(self) -> Usage:
        """What the judges were asked and cost, replies from the store left out."""
        return self.outcome.usage

    @property
    def stopped(self) -> str:
        """Why it ended early (budget spent, judge not reached); empty when it did not."""
        return self.outcome.stopped

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
    documents: Source | None = None,
    n: int | None = None,
    *,
    log: Any = None,
    from_monitor: bool = False,
    redact: Any = True,
    kinds: Mapping[str, float] | str | None = None,
    languages: Sequence[str] = (),
    judge: Any = None,
    checker: Any = None,
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
    """A test set from documents (a folder, files, texts, dicts, Documents, also those of LangChain, LlamaIndex and
    Haystack); also inside a running event loop.

    Without a judge, the questions that the documents ask themselves; with a `log` (or `from_monitor`), those that
    people
    asked; with a judge, questions that it writes and that `checker` (else the same judge) proves."""
    plan, inputs = plan_testset(
        documents,
        n,
        log=log,
        from_monitor=from_monitor,
        redact=redact,
        kinds=kinds,
        languages=languages,
        judge=judge,
        checker=checker,
        seed=seed,
        styles=styles,
        out=out,
        format=format,
        resume=resume,
        store=store,
        concurrency=concurrency,
        max_usd=max_usd,
        max_calls=max_calls,
        watch=watch,
    )
    return run_sync(lambda: execute_testset_plan(plan, inputs))


async def agenerate(
    documents: Source | None = None, n: int | None = None, **options: Any
) -> TestSet:
    """`generate` for code that awaits; takes the same options."""
    return await execute_testset_plan(*plan_testset(documents, n, **options))


def part_file(out: Path) -> Path:
    """Where the plan of an unfinished generation is kept."""
    return out.with_name(f"{out.name}.part")


def name_rejected_file(out: Path) -> Path:
    """Where the refused items are kept."""
    return out.with_name(f"{out.name if out.is_dir() else out.stem}.rejected.jsonl")


def name_planted_file(out: Path) -> Path:
    """Where the documents are kept that an item needs in the corpus and that are not there."""
    return out.with_name(f"{out.name if out.is_dir() else out.stem}.planted.jsonl")


def load_unfinished(out: Path) -> TestsetPlan | None:
    """The plan of the unfinished generation beside a file; None when there is none."""
    stored = _read_part(part_file(out)).get("request")
    return None if stored is None else replace(TestsetPlan.from_json(stored), resume=True)


def open_documents(plan: TestsetPlan, inputs: TestsetInputs) -> Corpus:
    """The documents of a plan, or the given ones."""
    if inputs.documents is not None:
        return open_corpus(inputs.documents)
    return open_corpus(plan.documents[0] if len(plan.documents) == 1 else list(plan.documents))


def build_judge(spec: Any, plan: TestsetPlan) -> Judge | None:
    """A judge that can write; None without one, and for the embedded one."""
    if spec is None or spec == "offline":
        return None
    judge = make_judge(
        spec, concurrency=plan.concurrency, max_usd=plan.max_usd, max_calls=plan.max_calls
    )
    return None if isinstance(judge, OfflineJudge) else judge


def is_small(judge: Judge | None) -> bool:
    """Whether a judge is a small model."""
    return bool(getattr(judge, "small", False))


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
    from_log = plan.from_monitor or plan.log is not None or inputs.log is not None
    has_documents = bool(plan.documents) or inputs.documents is not None
    if not from_log and not has_documents:
        raise RagstoneError("nothing to make questions of; name documents, or a log of questions")
    with open_documents(plan, inputs) if has_documents else nullcontext() as corpus:
        async with AsyncExitStack() as stack:
            if from_log:
                from ragstone.testset.from_log import ask_log  # loads the encoder

                _begin_part(plan, inputs, corpus, out)
                outcome, route = ask_log(plan, inputs, corpus, wanted), "log"
            else:
                judge = build_judge(
                    reveal(plan.judge) if inputs.judge is None else inputs.judge, plan
                )
                if judge is not None and judge is not inputs.judge:
                    stack.push_async_callback(judge.close)
                _begin_part(plan, inputs, corpus, out, judge)
                languages = [language.split("-")[0].lower() for language in plan.languages]
                if judge is None:
                    _refuse_orders(plan)
                    outcome = ask_documents(
                        _require(corpus), wanted, plan.seed, languages, inputs.watch
                    )
                    route = "documents"
                else:
                    outcome = await _ask_judge(
                        plan, inputs, _require(corpus), judge, languages, stack
                    )
                    route = "judge"
        made = TestSet(
            wanted,
            outcome,
            len(corpus) if corpus is not None else 0,
            route,
            corpus.empty if corpus is not None else 0,
            tuple(corpus.unreadable) if corpus is not None else (),
            out if outcome.items else None,
            name_rejected_file(out) if out is not None else None,
            name_planted_file(out) if out is not None and list_planted(outcome.items) else None,
        )
        if out is not None:
            _write_files(made, out, plan.format, corpus)
    return made


def _require(corpus: Corpus | None) -> Corpus:
    if corpus is None:  # what has neither documents nor a log was refused before
        raise RagstoneError("nothing to make questions of; name documents")
    return corpus


def _refuse_orders(plan: TestsetPlan) -> None:
    """What documents ask themselves cannot be ordered."""
    for name, given in (("kinds", plan.kinds), ("style", plan.styles), ("checker", plan.checker)):
        if given:
            raise RagstoneError(
                f"--{name} needs a judge that writes: without one the questions are those that the documents "
                "ask themselves; give --judge too"
            )


async def _ask_judge(
    plan: TestsetPlan,
    inputs: TestsetInputs,
    corpus: Corpus,
    judge: Judge,
    languages: Sequence[str],
    stack: AsyncExitStack,
) -> Outcome:
    """Have the judge write, and the checker, else the same judge, prove."""
    store = inputs.store or Store.open(plan.store)
    name = f"generate-{digest(_build_identity(plan, corpus, judge))[:12]}"
    broker = await stack.enter_async_context(AskBroker(judge, store, name, plan.concurrency))
    writer = prover = Line(broker, judge.name, is_small(judge))
    spec = reveal(plan.checker) if inputs.checker is None else inputs.checker
    checker = build_judge(spec, plan)
    if spec is not None and checker is None:
        raise RagstoneError(f"{spec!r} cannot prove questions; name a model, such as openai:MODEL")
    if checker is not None:
        if checker is not inputs.checker:
            stack.push_async_callback(checker.close)
        other = await stack.enter_async_context(AskBroker(checker, store, name, plan.concurrency))
        prover = Line(other, checker.name, is_small(checker))
    wanted = plan.item_count
    route = JudgeRoute(
        corpus,
        spread_documents(corpus, plan.seed, wanted=wanted, languages=languages),
        resolve_weights(plan.kinds),
        wanted,
        writer,
        prover,
        tuple(plan.styles),
        plan.seed,
        # a server of one's own answers one call at a time: more would only wait for each other
        window=2 if is_small(judge) else max(2, broker.concurrency),
        watch=inputs.watch,
    )
    return await route.run()


def _build_identity(
    plan: TestsetPlan, corpus: Corpus | None, judge: Judge | None
) -> dict[str, Any]:
    """All that decides what is made: a generation is resumed only with the same."""
    return {
        "documents": corpus.digest if corpus is not None else None,
        "n": plan.item_count,
        "kinds": resolve_weights(plan.kinds) if judge is not None else None,
        "languages": sorted(plan.languages),
        "seed": plan.seed,
        "styles": list(plan.styles),
        "judge": judge.name if judge is not None else None,
        "log": str(plan.log) if plan.log is not None else None,
        # another version may make other items: a set must not be half of each
        "ragstone": __version__,
    }


def _begin_part(
    plan: TestsetPlan,
    inputs: TestsetInputs,
    corpus: Corpus | None,
    out: Path | None,
    judge: Judge | None = None,
) -> None:
    """Keep the plan beside the file, so that `--resume` alone can start again; the judge's replies are in the
    store."""
    if out is None:
        return
    path = part_file(out)
    identity = json.loads(json.dumps(_build_identity(plan, corpus, judge)))
    before = _read_part(path).get("plan", identity) if plan.resume else identity
    for name in identity:
        if before.get(name) != identity[name]:
            raise DataError(
                f"{str(path)!r} was begun with another {name} ({before.get(name)!r}, now "
                f"{identity[name]!r}); start again without --resume"
            )
    # objects of this process cannot be named in a file for another one
    is_named = inputs.documents is None and inputs.log is None
    request = {"request": plan.anchor(Path.cwd()).to_json()} if is_named else {}
    try:
        path.write_text(json.dumps({"plan": identity, **request}) + "\n", "utf-8")
    except OSError as bad:
        raise DataError(f"cannot write {str(path)!r}: {bad.strerror or bad}") from None


def _read_part(path: Path) -> dict[str, Any]:
    try:
        head = json.loads(path.read_text("utf-8").split("\n", 1)[0])
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) else {}


def _write_files(made: TestSet, out: Path, format: str, corpus: Corpus | None) -> None:
    """Write the files, each whole or not at all; the plan stays for --resume if the generation was stopped."""
    if made.items:
        write_set(out, made.items, format, corpus if corpus is not None else ())
    _write_rows(name_rejected_file(out), [rejection.to_row() for rejection in made.rejected])
    planted = list_planted(made.items) if made.planted_in is not None else []
    _write_rows(
        name_planted_file(out), [{"id": d.id, "title": d.title, "text": d.text} for d in planted]
    )
    # the plan goes last: killed before this line, a resumed generation writes the same files again
    if not made.stopped:
        part_file(out).unlink(missing_ok=True)


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:  # of an earlier generation
        path.unlink(missing_ok=True)
        return
    with open_replacement(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n")


def _refuse_reviewed(out: Path) -> None:
    """Refuse to overwrite a test set on which a person has made decisions."""
    decided = decisions_file(out)
    if decided.exists():
        raise DataError(
            f"{str(decided)!r} holds a review of {out.name!r}; name another file with -o, or move "
            "the review away"
        )
