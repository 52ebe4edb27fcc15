"""Which route fits a model: a few controls on each, JSON replies and one-token decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.errors import RagstoneError
from ragstone.experiments.judge_check import KindResult, check_set
from ragstone.experiments.judge_check.controls import build_control_sets
from ragstone.judges.dialects import DIALECTS
from ragstone.judges.factory import make_judge
from ragstone.judges.limits import Budget
from ragstone.judges.scale import MIN_REPLY_RATE

Route = Literal["json", "hybrid"]
TRIAL_CONTROLS = 12
"""Controls of `support` that each route is tried on."""


@dataclass(frozen=True, slots=True)
class RouteTrial:
    """What a model did on one route."""

    route: Route
    result: KindResult


def list_routes(settings: Mapping[str, Any]) -> list[Route]:
    """Return the routes that a judge could take; a judge that is no language model has none to choose from."""
    kind = str(settings.get("model", "")).partition(":")[0]
    if kind not in (*DIALECTS, "gguf", "hf"):
        return []
    if "small" in settings:
        return ["hybrid" if settings["small"] else "json"]
    return ["json", "hybrid"]


def set_route(settings: Mapping[str, Any], route: Route) -> dict[str, Any]:
    """Return the settings of a judge on a route."""
    return {**settings, "small": route == "hybrid"}


async def try_routes(
    settings: Mapping[str, Any], language: str, budget: Budget, count: int = TRIAL_CONTROLS
) -> list[RouteTrial]:
    """Put the first controls of `support` to the model on each route."""
    controls = build_control_sets(language, count)[0]
    trials = []
    for route in list_routes(settings):
        judge = make_judge(set_route(settings, route), budget=budget)
        try:
            result, _ = await check_set(judge, controls, language)
        finally:
            await judge.close()
        if result.is_unreachable:
            raise RagstoneError(f"{judge.name} could not be asked: {next(iter(result.failures))}")
        trials.append(RouteTrial(route, result))
    return trials


def choose_route(trials: Sequence[RouteTrial]) -> Route:
    """Return JSON where nearly every reply was usable and no fewer were right than on the hybrid route."""
    by_route = {trial.route: trial.result for trial in trials}
    if "json" not in by_route or "hybrid" not in by_route:
        return trials[0].route
    json, hybrid = by_route["json"], by_route["hybrid"]
    is_usable = json.replies >= MIN_REPLY_RATE * json.controls
    return "json" if is_usable and json.right >= hybrid.right else "hybrid"
