"""Ablations: a run for each combination of a grid of settings, and what each setting does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from ragstone.analysis.effects import Effects, compute_effects, format_settings
from ragstone.display import Displayed
from ragstone.engine.sync import run_sync
from ragstone.errors import RagstoneError
from ragstone.experiments.bench import abench
from ragstone.experiments.compare import ComparisonResult, build_frame
from ragstone.experiments.records import keep_ablation
from ragstone.experiments.run import Run
from ragstone.registry import MetricSpec


@dataclass(frozen=True, slots=True, repr=False)
class Ablation(Displayed):
    """One Run for each combination of settings, and what each setting does to each metric."""

    runs: dict[str, Run]
    settings: tuple[dict[str, Any], ...]
    """Of each run, in the same order."""
    effects: tuple[Effects, ...]
    result: ComparisonResult | None = None
    """Every combination against the current settings, with the league of them all; None for a single one."""

    def to_dict(self) -> dict[str, Any]:
        """The runs, the effects and the comparison as plain JSON."""
        runs = [
            {"name": name, "run": run.id, "settings": settings}
            for (name, run), settings in zip(self.runs.items(), self.settings, strict=True)
        ]
        plain = {"runs": runs, "effects": [effects.to_dict() for effects in self.effects]}
        return plain | ({} if self.result is None else {"comparison": self.result.to_dict()})

    def to_frame(self) -> Any:
        """One row for each metric, setting and value: its mean, and the difference to the current value."""
        return build_frame(
            [
                {"metric": effects.metric, "setting": factor.name} | asdict(level)
                for effects in self.effects
                for factor in effects.factors
                for level in factor.levels
            ]
        )

    def __repr__(self) -> str:
        return f"<Ablation: {len(self.runs)} runs>"


def ablate(
    samples: Any,
    system: Any,
    vary: Mapping[str, Sequence[Any]],
    metrics: Sequence[MetricSpec] | None = None,
    **options: Any,
) -> Ablation:
    """Run a grid of settings and say what each does; takes the options of `aablate`."""
    return run_sync(lambda: aablate(samples, system, vary, metrics, **options))


async def aablate(
    samples: Any,
    system: Any,
    vary: Mapping[str, Sequence[Any]],
    metrics: Sequence[MetricSpec] | None = None,
    *,
    full: bool = False,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Ablation:
    """The first value of each factor is the current one; `full` runs every combination, else one factor varies at a time."""
    combinations = build_grid(vary, full=full)
    settings_by_name = {
        format_settings(changed if full else _find_changes(changed, combinations[0])): changed
        for changed in combinations
    }
    configurations = {
        name: {**(settings or {}), **changed} for name, changed in settings_by_name.items()
    }
    benched = await abench(samples, configurations, metrics, system=system, **options)
    pairs = [(settings_by_name[name], run.stored) for name, run in benched.runs.items()]
    first = next(iter(benched.runs.values()))
    scored = [metric.metric for metric in first.summary().metrics if metric.scored]
    if benched.result is not None:
        stored, primary = [run for _, run in pairs], benched.result.comparison.primary
        keep_ablation(first.stored.store, stored, [values for values, _ in pairs], scored, primary)
    return Ablation(
        benched.runs,
        tuple(settings_by_name[name] for name in benched.runs),
        tuple(compute_effects(pairs, metric) for metric in scored) if len(pairs) > 1 else (),
        benched.result,
    )


def build_grid(vary: Mapping[str, Sequence[Any]], *, full: bool = False) -> list[dict[str, Any]]:
    """The settings to run; the first value of each factor is the current one.

    One factor at a time: the current settings, then each other value alone. Full: every combination."""
    for name, values in vary.items():
        if not values:
            raise RagstoneError(f"{name} has no values to try; write {name}=1,2,3")
        # compared by repr: values may be lists, which cannot be put into a set
        if len(set(map(repr, values))) < len(values):
            raise RagstoneError(f"{name} lists a value twice; list each once")
    if full:
        return [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]
    base = {name: values[0] for name, values in vary.items()}
    return [base] + [{**base, name: value} for name, values in vary.items() for value in values[1:]]


def _find_changes(settings: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value != base[name]}
