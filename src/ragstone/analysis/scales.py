"""The scales of a run's judge: what conclusions on its judged metrics rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragstone.analysis.classes import Scales, get_family
from ragstone.store import load_scales

if TYPE_CHECKING:
    from ragstone.store import RunInfo, Store


class JudgedRun(Protocol):
    """What is read of a run to find its judge's scales."""

    @property
    def info(self) -> RunInfo: ...
    @property
    def store(self) -> Store: ...


def find_scales(run: JudgedRun) -> Scales:
    """The scales of the judge that scored a run, by language and metric; empty for a judge that was never measured."""
    return load_scales(run.store, run.info.facts.judge_identity)


@dataclass(frozen=True, slots=True)
class UnfitGate:
    """A gate on a judged metric whose judge was measured and found not fit to gate on."""

    metric: str
    language: str


def find_unfit_gates(run: JudgedRun) -> tuple[UnfitGate, ...]:
    """The gates of a run's plan that its judge is not fit for, in the plan's language or in any that was measured."""
    plan = run.info.plan
    if not plan.gates:
        return ()
    language = (plan.language or "").split("-")[0].lower()
    judged = {str(metric["name"]) for metric in run.info.metrics if metric.get("judged")}
    return tuple(
        UnfitGate(gate, scale.language)
        for gate in plan.gates
        if gate in judged
        for scale in find_scales(run).values()
        if scale.metric == get_family(gate)
        and scale.fitness != "fit"
        and language in ("", scale.language)
    )
