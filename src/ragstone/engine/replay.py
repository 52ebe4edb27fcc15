"""The judge's calls behind the scores of a stored sample, found again: the metrics ask once more, the store answers.

No judge is called. Only models behind an API keep their replies in the store; the embedded judge and models on this
machine are asked anew in every run and leave none. Metrics are taken from those of the package: the name of another one
could be a file to load."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.asks import Answered, Ask
from ragstone.engine.identity import identify_reply
from ragstone.engine.reuse import is_remote
from ragstone.engine.sample_scoring import score_sample
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.judges.model_judge import ModelJudge
from ragstone.judges.session import build_first_prompt
from ragstone.metrics import REGISTERED, resolve
from ragstone.metrics.scoring import build_starter
from ragstone.store import StoredReply, StoredRow, StoredRun


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One question to the judge, and what the store has of its answer."""

    ask: Ask
    prompt: tuple[str, str] | None
    """System and user message of the first attempt; None where the question is no prompt (embeddings, a jury).

    The mark that fences the text under test is another one: it is a secret of the process that asked."""
    stored: StoredReply | None
    """None when the judge failed: a failure is never stored as an answer."""
    is_own: bool
    """Whether this run paid for it; else it came from the store."""


def replay_calls(run: StoredRun, row: StoredRow) -> list[JudgeCall]:
    """The calls behind one sample, in order; empty for a judge that leaves none."""
    settings = run.info.plan.judge_settings()
    metrics = {}
    for described in run.info.metrics:
        if described["judged"] and described["family"] in REGISTERED:
            metric = resolve(str(described["name"]))
            metrics[metric.name] = metric
    # other models would be loaded, or run code of the user, only to be looked at
    if not metrics or not is_remote(settings):
        return []
    try:
        judge = make_judge(settings, missing_keys=[])
    except RagstoneError:  # a dialect or a folder of prompts that this installation does not have
        return []
    answerer = _StoredAnswers(judge, run)
    starts = {name: build_starter(metric) for name, metric in metrics.items()}

    async def replay() -> None:
        try:
            await score_sample(row.sample, metrics, starts, answerer)
        finally:
            await judge.close()

    asyncio.run(replay())
    return answerer.calls


class _StoredAnswers:
    """Answers Asks from the store alone, and remembers them."""

    def __init__(self, judge: Judge, run: StoredRun) -> None:
        self._judge = judge
        self._run = run
        self.calls: list[JudgeCall] = []

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks, in order."""
        keys = [identify_reply(ask, self._judge) for ask in asks]
        stored = self._run.store.stored_replies(keys)
        answers: list[Answered] = []
        for ask, key in zip(asks, keys, strict=True):
            found = stored.get(key)
            is_own = found is not None and found.run == self._run.id
            self.calls.append(JudgeCall(ask, self._build_prompt(ask), found, is_own))
            answers.append(
                JudgeFailed("transport", "question_not_asked")
                if found is None
                else replace(found.reply, usage=found.usage)
            )
        return answers

    def _build_prompt(self, ask: Ask) -> tuple[str, str] | None:
        judge = self._judge
        if not isinstance(judge, ModelJudge) or ask.kind == "embed":
            return None
        return build_first_prompt(ask, lambda name: judge.load_prompt(name, ask.language))
