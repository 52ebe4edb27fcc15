"""Which route fits a model: a few answers on each, beside one bare question about the whole answer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.asks.choices import Choice, read_yes
from ragstone.asks.support import build_support_request
from ragstone.engine import Progress, ProgressCallback
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.experiments.judge_check.controls import Control, build_answers
from ragstone.experiments.run import aevaluate
from ragstone.judges import Judge
from ragstone.judges.completion import Completion, CompletionRequest, LanguageModel
from ragstone.judges.dialects import DIALECTS
from ragstone.judges.factory import make_judge
from ragstone.judges.limits import Budget
from ragstone.judges.model_judge import ModelJudge
from ragstone.judges.plain import PlainJudge
from ragstone.judges.scale import MIN_REPLY_RATE
from ragstone.prompts import PromptLoader
from ragstone.types import NO_USAGE, OutcomeKind, Score, Usage

Route = Literal["json", "plain"]
Way = Route | Literal["bare"]
"""How the answers are put: a route of a run, or one bare question about the whole answer."""
FIRST_ANSWERS = 2
"""Answers that are put first: a model that cannot reply to these is asked no more."""
MAX_WRITTEN_TOKENS = 300
"""Of a reply to a control by a small model, and twice as many when asked again: by estimate twice
what a good reply has. A poor model fills whatever it is given, and its limit for runs is minutes of
that on a processor."""


@dataclass(frozen=True, slots=True)
class RouteTrial:
    """What a model made of the answers, asked in one way."""

    way: Way
    controls: tuple[Control, ...]
    scores: tuple[Score, ...]
    """Of the answers, or of the first ones where none of them got a usable reply."""
    seconds: float

    @property
    def usable(self) -> int:
        """Answers with a usable reply."""
        return sum(score.ok for score in self.scores)

    @property
    def usage(self) -> Usage:
        """What it cost."""
        return sum((score.usage for score in self.scores), NO_USAGE)

    @property
    def failures(self) -> Mapping[str, int]:
        """Reasons why there was no score, each with its count."""
        return dict(Counter(s.reason for s in self.scores if not s.ok).most_common())

    @property
    def skipped(self) -> int:
        """Answers that the budget did not reach."""
        return sum(score.outcome == "skipped_budget" for score in self.scores)

    def count_right(self, language: str | None = None) -> int:
        """Answers that were called what they are, in one language or in all; a failed reply is not right."""
        return sum(
            score.ok and _is_supported(score) == control.is_good
            for control, score in zip(self.controls, self.scores, strict=False)
            if language in (None, control.sample.language)
        )


def _is_supported(score: Score) -> bool:
    """Whether every claim is supported, by the least likely one where the judge states chances."""
    return score.value == 1.0 if score.probability is None else score.probability >= 0.5


def list_routes(settings: Mapping[str, Any]) -> list[Route]:
    """Return the routes that a judge could take; a judge that is no language model has none to choose from."""
    kind = str(settings.get("model", "")).partition(":")[0]
    if kind not in (*DIALECTS, "gguf", "hf", "local"):
        return []
    if "small" in settings:
        return ["plain" if settings["small"] else "json"]
    return ["json", "plain"]


def set_route(settings: Mapping[str, Any], route: Route) -> dict[str, Any]:
    """Return the settings of a judge on a route."""
    return {**settings, "small": route == "plain"}


async def try_routes(
    settings: Mapping[str, Any],
    languages: Sequence[str],
    budget: Budget,
    watch: ProgressCallback | None = None,
) -> list[RouteTrial]:
    """Put the same answers to the model: one bare question about each, then every route that it may take."""
    controls = [control for language in languages for control in build_answers(language)]
    ways: list[Way] = ["bare", *list_routes(settings)]
    trials: list[RouteTrial] = []
    for way in ways:
        judge = make_judge(set_route(settings, "json" if way == "json" else "plain"), budget=budget)
        limit_writing(judge)
        started = time.monotonic()
        scores: list[Score] = []
        try:
            for part in (controls[:FIRST_ANSWERS], controls[FIRST_ANSWERS:]):
                scores += await (_ask_bare if way == "bare" else _ask_faithfulness)(judge, part)
                if not any(score.ok for score in scores):
                    break
        finally:
            await judge.close()
        seconds = time.monotonic() - started
        trials.append(RouteTrial(way, tuple(controls), tuple(scores), seconds))
        if watch is not None:
            usage = sum((trial.usage for trial in trials), NO_USAGE)
            watch(Progress(len(trials), len(ways), 0, usage))
    # of all ways, because long JSON replies may time out where one token does not
    scores = [score for trial in trials for score in trial.scores]
    if all(score.kind == "transport" for score in scores):
        raise RagstoneError(f"{judge.name} could not be asked: {scores[-1].reason}")
    return trials


async def _ask_bare(judge: Judge, controls: Sequence[Control]) -> list[Score]:
    """Put one question about each whole answer, and nothing else."""
    assert isinstance(judge, PlainJudge)
    load_prompt = PromptLoader(judge.language, judge.folder)
    requests = [
        build_support_request(
            load_prompt("choose_support", control.sample.language),
            [chunk.text for chunk in control.sample.contexts or ()],
            control.sample.answer or "",
        )
        for control in controls
    ]
    scores = []
    for choice, request in zip(await judge.model.choose(requests), requests, strict=True):
        if isinstance(choice, Choice):
            is_yes, chance = read_yes(choice, request)
            scores.append(Score(float(is_yes), usage=choice.usage, probability=chance))
        else:
            outcome: OutcomeKind = "skipped_budget"
            fault = None
            if isinstance(choice, JudgeFailed):
                outcome, fault = "judge_error", choice.kind
            usage = choice.usage or NO_USAGE
            scores.append(Score(outcome=outcome, reason=choice.reason, kind=fault, usage=usage))
    return scores


async def _ask_faithfulness(judge: Judge, controls: Sequence[Control]) -> list[Score]:
    """Score the answers as a run would."""
    run = await aevaluate(
        [control.sample for control in controls],
        ["faithfulness"],
        judge=judge,
        store=":memory:",  # stored replies of an earlier check would cost nothing and take no time
    )
    scores = [row["faithfulness"] for row in run.scores().values()]
    run.stored.store.close()
    return scores


def choose_route(trials: Sequence[RouteTrial]) -> Route:
    """Return JSON where nearly every reply was usable and no fewer were right than on the plain route."""
    by_way = {trial.way: trial for trial in trials}
    json, plain = by_way.get("json"), by_way.get("plain")
    if json is None or plain is None:
        return "plain" if json is None else "json"
    is_usable = json.usable >= MIN_REPLY_RATE * len(json.controls)
    return "json" if is_usable and json.count_right() >= plain.count_right() else "plain"


class BriefModel:
    """A language model whose replies are limited more than in a run; it goes by the name and identity that it has there."""

    def __init__(self, model: LanguageModel, max_tokens: int = MAX_WRITTEN_TOKENS) -> None:
        self.model = model
        self.max_tokens = max_tokens
        self.name, self.notes = model.name, model.notes
        self.concurrency, self.deadline = model.concurrency, model.deadline

    def identity(self) -> Mapping[str, Any]:
        """Return that of the model: no score of a run comes from a reply that is limited here."""
        return self.model.identity()

    async def complete(self, request: CompletionRequest) -> Completion:
        """Complete one prompt, briefly."""
        return await self.model.complete(request._replace(max_tokens=self.max_tokens))

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()


def limit_writing(judge: Judge) -> None:
    """Limit what a judge on the plain route writes; large models may think first and keep their limit."""
    if isinstance(judge, PlainJudge) and isinstance(judge.writer, ModelJudge):
        judge.writer.model = BriefModel(judge.writer.model)
