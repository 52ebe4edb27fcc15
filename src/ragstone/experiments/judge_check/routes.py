"""Which route fits a model: a few controls on each, JSON replies and one-token decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.engine import ProgressCallback
from ragstone.errors import RagstoneError
from ragstone.experiments.judge_check import KindResult, check_set
from ragstone.experiments.judge_check.controls import build_control_sets
from ragstone.judges import Judge
from ragstone.judges.completion import Completion, CompletionRequest, LanguageModel
from ragstone.judges.dialects import DIALECTS
from ragstone.judges.factory import make_judge
from ragstone.judges.limits import Budget
from ragstone.judges.model_judge import ModelJudge
from ragstone.judges.plain import PlainJudge
from ragstone.judges.scale import MIN_REPLY_RATE

Route = Literal["json", "plain"]
FIRST_CONTROLS, QUICK_CONTROLS, TRIAL_CONTROLS = 2, 4, 12
"""Controls of `support` that each route is tried on: the first ones, and unless too many of them fail, these many."""
MAX_WRITTEN_TOKENS = 300
"""Of a reply to a control by a small model, and twice as many when asked again: by estimate twice what a good reply has. A poor model
fills whatever it is given, and its limit for runs is minutes of that on a processor."""


@dataclass(frozen=True, slots=True)
class RouteTrial:
    """What a model did on one route."""

    route: Route
    result: KindResult


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
    language: str,
    budget: Budget,
    *,
    quick: bool = False,
    watch: ProgressCallback | None = None,
) -> list[RouteTrial]:
    """Put the first controls of `support` to the model on each route; `list_routes` must name at least one."""
    trials = []
    for route in list_routes(settings):
        judge = make_judge(set_route(settings, route), budget=budget)
        try:
            # the first set is that of `support`
            controls = build_control_sets(language, QUICK_CONTROLS if quick else TRIAL_CONTROLS)[0]
            result, _ = await check_set(judge, controls, language, watch, first=FIRST_CONTROLS)
        finally:
            await judge.close()
        trials.append(RouteTrial(route, result))
    # on every route, because long JSON replies may time out where one token does not
    if all(trial.result.is_unreachable for trial in trials):
        reason = next(iter(trials[-1].result.failures))
        raise RagstoneError(f"{judge.name} could not be asked: {reason}")
    return trials


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


def choose_route(trials: Sequence[RouteTrial]) -> Route:
    """Return JSON where nearly every reply was usable and no fewer were right than on the plain route."""
    by_route = {trial.route: trial.result for trial in trials}
    if "json" not in by_route or "plain" not in by_route:
        return trials[0].route
    json, plain = by_route["json"], by_route["plain"]
    is_better = plain.agreement > json.agreement
    return "json" if _is_usable(json) and not is_better else "plain"


def _is_usable(result: KindResult) -> bool:
    return result.replies >= MIN_REPLY_RATE * result.controls
