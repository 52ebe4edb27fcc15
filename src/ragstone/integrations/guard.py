"""A check in the request path: is what the answer says in the documents? It never raises and keeps its deadline.

The judge runs in a thread with an event loop of its own, so that a judge that hangs, or computes for long, holds up
neither the caller nor its event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.engine.sample_scoring import score_sample
from ragstone.errors import RagstoneError
from ragstone.integrations.answers import JudgeAnswers
from ragstone.judges.factory import make_judge
from ragstone.locale.messages import render
from ragstone.metrics.scoring import build_starter
from ragstone.registry import resolve
from ragstone.systems.replies import parse_contexts
from ragstone.types import Finding, Sample, Score

if TYPE_CHECKING:
    from ragstone.monitor import Monitor

Decision = Literal["pass", "flag", "undecided"]

DEADLINE_SECONDS = 2.0
MAX_OPEN = 64
"""Checks under way, those of callers who no longer wait included; beyond them a check is undecided at once."""


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """What a guard says of one answer."""

    decision: Decision
    claims: tuple[Finding, ...] = ()
    """Every claim of the answer, with verdict, probability, quote and its place in the answer (`span`)."""
    flagged: tuple[Finding, ...] = ()
    """Claims whose probability of being supported is under the bound."""
    reason: str = ""
    """Why it is undecided, or passes without a claim."""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every claim is supported; False also where it is undecided."""
        return self.decision == "pass"

    def cut(self, answer: str) -> str:
        """The answer without the sentences of flagged claims."""
        kept, at = [], 0
        for start, end in sorted({f.span for f in self.flagged if f.span is not None}):
            kept.append(answer[at : max(at, start)])
            at = max(at, end)
        return " ".join(" ".join([*kept, answer[at:]]).split())


class Guard:
    """Checks answers with one judge; make one per process and share it between threads.

    guard = Guard(judge="openai:gpt-4o-mini", deadline=1.5)
    verdict = guard.check(question, answer, contexts)
    """

    def __init__(
        self,
        judge: Any = None,
        *,
        min_probability: float = 0.5,
        deadline: float = DEADLINE_SECONDS,
        language: str | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        if not 0 < min_probability <= 1:
            raise RagstoneError(
                f"min_probability is {min_probability!r}; give a number from 0 to 1"
            )
        if not deadline > 0:
            raise RagstoneError(f"the deadline is {deadline!r}; give seconds, such as 1.5")
        self.min_probability = min_probability
        self.deadline = deadline
        self.language = language
        self.monitor = monitor
        self._judge = make_judge(judge)
        self._metric = resolve("faithfulness")
        self._start = {self._metric.name: build_starter(self._metric)}
        self._open = 0
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def check(
        self,
        question: str | None,
        answer: str,
        contexts: Any,
        *,
        min_probability: float | None = None,
        deadline: float | None = None,
    ) -> GuardVerdict:
        """Check an answer; returns by the deadline. Never raises."""
        began = time.monotonic()
        limit = self.deadline if deadline is None else deadline
        try:
            scoring = self._submit(question, answer, contexts, limit)
            score: Score | str = scoring.result(max(0.0, limit - (time.monotonic() - began)))
        except TimeoutError:
            score = f"no verdict within {limit:g} s"
        except Exception as raised:
            score = _describe(raised)
        return self._conclude(question, answer, contexts, score, min_probability, began)

    async def acheck(
        self,
        question: str | None,
        answer: str,
        contexts: Any,
        *,
        min_probability: float | None = None,
        deadline: float | None = None,
    ) -> GuardVerdict:
        """The same for async code: the caller's event loop goes on meanwhile."""
        began = time.monotonic()
        limit = self.deadline if deadline is None else deadline
        try:
            scoring = asyncio.wrap_future(self._submit(question, answer, contexts, limit))
            score: Score | str = await asyncio.wait_for(scoring, limit)
        except TimeoutError:
            score = f"no verdict within {limit:g} s"
        except Exception as raised:
            score = _describe(raised)
        return self._conclude(question, answer, contexts, score, min_probability, began)

    def close(self) -> None:
        """Close the judge's connections and end the thread."""
        loop = self._loop
        if loop is not None:
            self._loop = None
            closing = asyncio.run_coroutine_threadsafe(self._judge.close(), loop)
            try:
                closing.result(self.deadline)
            finally:
                loop.call_soon_threadsafe(loop.stop)

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _submit(
        self, question: str | None, answer: str, contexts: Any, limit: float
    ) -> Future[Score]:
        sample = Sample(
            id="guard",
            question=question,
            answer=answer,
            contexts=parse_contexts(contexts, None, None),
            language=self.language,
        )
        with self._lock:
            if self._open >= MAX_OPEN:
                raise RagstoneError(f"{MAX_OPEN} checks are under way")
            self._open += 1
            loop = self._loop or self._start_loop()
        scoring = asyncio.run_coroutine_threadsafe(self._score(sample, limit), loop)
        scoring.add_done_callback(self._note_done)
        return scoring

    def _start_loop(self) -> asyncio.AbstractEventLoop:
        loop = self._loop = asyncio.new_event_loop()
        threading.Thread(target=_run_loop, args=(loop,), name="ragstone guard", daemon=True).start()
        return loop

    def _note_done(self, scoring: Future[Score]) -> None:
        with self._lock:
            self._open -= 1

    async def _score(self, sample: Sample, limit: float) -> Score:
        # the limit holds here too: a call that nobody waits for must not stay open
        async with asyncio.timeout(limit):
            metrics = {self._metric.name: self._metric}
            scores = await score_sample(sample, metrics, self._start, JudgeAnswers(self._judge))
        return scores[self._metric.name]

    def _conclude(
        self,
        question: str | None,
        answer: str,
        contexts: Any,
        score: Score | str,
        min_probability: float | None,
        began: float,
    ) -> GuardVerdict:
        bound = self.min_probability if min_probability is None else min_probability
        verdict = _read_score(score, bound, time.monotonic() - began)
        if self.monitor is not None:
            self.monitor.log(
                question,
                contexts,
                answer,
                guard=verdict.decision,
                guard_flagged=len(verdict.flagged),
            )
        return verdict


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _read_score(score: Score | str, bound: float, seconds: float) -> GuardVerdict:
    if isinstance(score, str):
        return GuardVerdict("undecided", reason=score, seconds=seconds)
    if score.outcome == "not_applicable":  # a refusal, small talk: nothing is claimed
        return GuardVerdict("pass", reason=render(score.reason, "en"), seconds=seconds)
    if score.value is None:
        return GuardVerdict("undecided", reason=render(score.reason, "en"), seconds=seconds)
    flagged = tuple(claim for claim in score.findings if _get_chance(claim) < bound)
    return GuardVerdict("flag" if flagged else "pass", score.findings, flagged, seconds=seconds)


def _get_chance(claim: Finding) -> float:
    return float(claim.verdict == "supported") if claim.probability is None else claim.probability


def _describe(raised: Exception) -> str:
    return (
        str(raised) if isinstance(raised, RagstoneError) else f"{type(raised).__name__}: {raised}"
    )


_shared: dict[str, Guard] = {}
_shared_lock = threading.Lock()


def guard(
    question: str | None,
    answer: str,
    contexts: Any,
    *,
    judge: str | None = None,
    min_probability: float = 0.5,
    deadline: float = DEADLINE_SECONDS,
) -> GuardVerdict:
    """Check one answer against its contexts; `undecided` when the judge fails or the deadline passes, never an exception.

    The judge of a name is made once a process. For a judge with settings, logging to a monitor, or async code see `Guard`."""
    with _shared_lock:
        name = judge or "offline"
        if name not in _shared:
            _shared[name] = Guard(name)
    return _shared[name].check(
        question, answer, contexts, min_probability=min_probability, deadline=deadline
    )
