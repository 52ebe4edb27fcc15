"""A judge reads the passages that may answer an item which says that nothing does.

A small model says yes or no of the likeliest passage, and its probability is weighed with the figures; any other
judge
answers the question from the passages with a quote, which code looks for in them. A judge that fails leaves an
item as the
figures say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ragstone.asks import Problem, Reply, check_passage, solve
from ragstone.engine import AskBroker, Progress
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.judges.offline import OfflineJudge
from ragstone.locale.messages import render
from ragstone.store import Store
from ragstone.testset.answerability import (
    HINT_CHANCE,
    JUDGED_CHANCE,
    LARGE_CHANCE,
    SURE_CHANCE,
    FoundAnswer,
    compute_chance,
    cut_passage,
)
from ragstone.testset.audit import SuspectedUnanswerable, decide_doubt
from ragstone.testset.baselines import join_turns
from ragstone.testset.findings import Fault, Hint
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language
from ragstone.types import NO_USAGE, Chunk, Usage

BARE_CHANCES = (0.3, 0.7)
"""What the no and the yes of a small model count that gives no probabilities: about the average of those that it
gives."""
MAX_UNREACHED = 3
"""Items in a row whose judge could not be reached, after which the rest is not asked."""


@dataclass(frozen=True, slots=True)
class ReadingJudge:
    """Who reads the passages, where replies are kept, and what they may cost."""

    judge: Any
    """As `ragstone generate --judge` takes it, or a judge."""
    store: str | Store | None = None
    concurrency: int | None = None
    max_usd: float | None = None
    max_calls: int | None = None
    watch: Callable[[Progress], None] | None = None
    """Called with a Progress now and then."""

    def open_judge(self) -> Judge | None:
        """The judge; None for the embedded one, which reads no better than the figures."""
        judge = make_judge(
            self.judge,
            concurrency=self.concurrency,
            max_usd=self.max_usd,
            max_calls=self.max_calls,
        )
        return None if isinstance(judge, OfflineJudge) else judge


@dataclass(frozen=True, slots=True)
class ReadingAccount:
    """What a judge was asked about the items that say that nothing answers them."""

    judge: str
    read: int
    """Items of which the judge read a passage."""
    confirmed: int
    """Of these, items that a passage answers."""
    failed: int = 0
    """Items that the judge could not read, which are left as the figures say."""
    reason: str = ""
    """Why the first of them failed."""
    usage: Usage = NO_USAGE
    given: str = ""
    """The judge as `--judge` takes it; empty for one that the command line cannot name."""


class _Opinion(NamedTuple):
    """What became of an item, or why the judge could not say."""

    found: Fault | Hint | None
    failure: JudgeFailed | OutOfBudget | None
    usage: Usage


def read_by_figures(doubts: Sequence[SuspectedUnanswerable]) -> list[Fault | Hint]:
    """What the figures alone say of the items."""
    decided = [decide_doubt(doubt.sample, doubt.answers[0]) for doubt in doubts]
    return [found for found in decided if found is not None]


async def read_doubts(
    doubts: Sequence[SuspectedUnanswerable], judge: Judge, reading: ReadingJudge
) -> tuple[list[Fault | Hint], ReadingAccount]:
    """What a judge says of the items, in their order, and what it was asked."""
    store = reading.store if isinstance(reading.store, Store) else Store.open(reading.store)
    opinions: list[_Opinion] = []
    least = JUDGED_CHANCE if getattr(judge, "small", False) else LARGE_CHANCE
    likely = [doubt for doubt in doubts if doubt.answers[0].chance >= least]
    async with AskBroker(judge, store, "testset-check", reading.concurrency) as broker:
        for start in range(0, len(likely), broker.concurrency):
            part = likely[start : start + broker.concurrency]
            if _is_unreachable(opinions):
                opinions += [_fail(doubt, opinions[-1].failure) for doubt in part]
                continue
            opinions += await asyncio.gather(*(_read_doubt(doubt, judge, broker) for doubt in part))
            if reading.watch is not None:
                reading.watch(_count_progress(opinions, len(likely)))
    found = [one.found for one in opinions if one.found is not None]
    account = _build_account(judge.name, opinions)
    return found, replace(account, given=reading.judge if isinstance(reading.judge, str) else "")


def _build_account(judge: str, opinions: Sequence[_Opinion]) -> ReadingAccount:
    """What was asked; a judge that never answered is an error."""
    failures = [one.failure for one in opinions if one.failure is not None]
    reason = failures[0].reason if failures else ""
    if failures and len(failures) == len(opinions) and isinstance(failures[0], JudgeFailed):
        raise RagstoneError(
            f"{judge} did not answer ({render(reason, 'en')}); leave --judge out to check without it"
        )
    confirmed = sum(one.failure is None and isinstance(one.found, Fault) for one in opinions)
    usage = _count_progress(opinions, len(opinions)).usage
    read = len(opinions) - len(failures)
    return ReadingAccount(judge, read, confirmed, len(failures), reason, usage)


async def _read_doubt(doubt: SuspectedUnanswerable, judge: Judge, broker: AskBroker) -> _Opinion:
    ask = _ask_small if getattr(judge, "small", False) else _ask_large
    return await ask(doubt, broker)


async def _ask_small(doubt: SuspectedUnanswerable, broker: AskBroker) -> _Opinion:
    """A yes or no of the likeliest passage, weighed with its figures; reading the next one too found no more."""
    question, language = _get_question(doubt)
    best = doubt.answers[0]
    ask = check_passage(cut_passage(best.figures.text), question, language=language)
    (reply,) = await broker.answer([ask])
    usage = reply.usage or NO_USAGE
    if not isinstance(reply, Reply):
        return _fail(doubt, reply, usage)
    yes = reply.value.get("probability", BARE_CHANCES[reply.value["yes"]])
    return _Opinion(_decide(doubt, best, compute_chance(best.figures, yes)), None, usage)


async def _ask_large(doubt: SuspectedUnanswerable, broker: AskBroker) -> _Opinion:
    """One answer from the passages, which counts where its quote stands in one of them."""
    question, language = _get_question(doubt)
    shown = doubt.answers
    sources = tuple(Chunk(a.source, cut_passage(a.figures.text)) for a in shown)
    (reply,) = await broker.answer([solve(Problem((question,), sources), language=language)])
    usage = reply.usage or NO_USAGE
    if not isinstance(reply, Reply):
        return _fail(doubt, reply, usage)
    row = reply.value["answers"][0]
    if not row["told"]:
        # where the figures are sure of the contrary, somebody should look
        chance = HINT_CHANCE if doubt.answers[0].chance >= SURE_CHANCE else 0.0
        return _Opinion(_decide(doubt, doubt.answers[0], chance), None, usage)
    quote = row["quote"].strip()
    # `the` stands in every passage and proves nothing
    told = set(extract_content_stems(quote, language)).difference(
        extract_content_stems(question, language)
    )
    home = next((a for a in shown if told and find_quote(quote, a.figures.text)), None)
    if home is None:
        return _fail(doubt, JudgeFailed("unparseable", "told_without_quote"), usage)
    return _Opinion(_decide(doubt, home._replace(quote=quote), 1.0), None, usage)


def _decide(
    doubt: SuspectedUnanswerable, answer: FoundAnswer, chance: float
) -> Fault | Hint | None:
    return decide_doubt(doubt.sample, answer._replace(chance=chance))


def _get_question(doubt: SuspectedUnanswerable) -> tuple[str, str]:
    """The question with the turns before it, and its language."""
    question = join_turns(doubt.sample)
    return question, detect_language(question, doubt.sample.language)


def _fail(
    doubt: SuspectedUnanswerable, failure: JudgeFailed | OutOfBudget | None, usage: Usage = NO_USAGE
) -> _Opinion:
    return _Opinion(decide_doubt(doubt.sample, doubt.answers[0]), failure, usage)


def _is_unreachable(opinions: Sequence[_Opinion]) -> bool:
    """Whether the judge does not answer any more, or may not be asked any more."""
    last = opinions[-MAX_UNREACHED:]
    if last and isinstance(last[-1].failure, OutOfBudget):
        return True
    return len(last) == MAX_UNREACHED and all(_is_transport(one.failure) for one in last)


def _is_transport(failure: JudgeFailed | OutOfBudget | None) -> bool:
    return isinstance(failure, JudgeFailed) and failure.kind == "transport"


def _count_progress(opinions: Sequence[_Opinion], total: int) -> Progress:
    failed = sum(one.failure is not None for one in opinions)
    usage = sum((one.usage for one in opinions), NO_USAGE)
    return Progress(len(opinions), total, failed, usage)
