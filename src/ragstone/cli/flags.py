"""Flags over config: the Plan that one call of the command line asks for, checked whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError, RagstoneError, suggest_nearest

if TYPE_CHECKING:
    from ragstone.config import Data, Plan
    from ragstone.registry import Metric


def planned(config: str | None, flags: dict[str, Any]) -> tuple[Plan, list[str]]:
    """The plan of the config file with the given flags in its place, and what the user should know of it."""
    from ragstone.config import Plan, load

    complaints: list[str] = []
    notes: list[str] = []
    plan = load(config, notes if flags.get("dry_run") else None) if config is not None else Plan()
    unset = (None, (), False)  # by identity: a floor or a budget of 0 is given
    given = {
        key: value for key, value in flags.items() if not any(value is empty for empty in unset)
    }
    changes: dict[str, Any] = {"data": _data(plan.data, given, complaints)}
    if "metrics" in given:
        changes["metrics"] = metrics_of(given["metrics"], complaints)
        notes += _left_out(plan, changes["metrics"])
        names = {metric.name for metric in changes["metrics"]}
        changes["gates"] = {name: rule for name, rule in plan.gates.items() if name in names}
    if "gates" in given:
        named = _gates(given["gates"], changes.get("metrics", plan.metrics), complaints)
        changes["gates"] = {**changes.get("gates", plan.gates), **named}
    for key in ("name", "judge", "language", "floor", "store", "output", "concurrency",
                "resume", "retry_errors", "max_usd", "max_calls", "on"):  # fmt: skip
        if key in given:
            changes[key] = given[key]
    if complaints:
        raise ConfigError(complaints)
    return replace(plan, **changes), notes


def judge_settings(plan: Plan) -> dict[str, Any]:
    """The plan's judge with all that the plan says about judging, as `make_judge` takes it; secrets in plain text."""
    from ragstone.config import revealed

    judge = revealed(plan.judge if plan.judge is not None else "offline")
    settings = {"model": judge} if isinstance(judge, str) else dict(judge)
    also = {
        "embeddings": revealed(plan.embeddings),
        "language": plan.language,
        "prompts": plan.prompts,
        "concurrency": plan.concurrency,
        "max_usd": plan.max_usd,
        "max_calls": plan.max_calls,
    }
    return settings | {key: value for key, value in also.items() if value is not None}


def metrics_of(texts: Sequence[str], complaints: list[str]) -> tuple[Metric, ...]:
    """The metrics named by `-m`, each with commas between several."""
    from ragstone.metrics import resolve
    from ragstone.registry import split_specs

    found: dict[str, Metric] = {}
    complaints += [
        f"-m {text!r} names no metric; write recall@5" for text in texts if not split_specs(text)
    ]
    for spec in (spec for text in texts for spec in split_specs(text)):
        try:
            metric = resolve(spec)
        except RagstoneError as bad:
            complaints.append(str(bad))
        else:
            found[metric.name] = metric
    return tuple(found.values())


def _data(data: Data, given: dict[str, Any], complaints: list[str]) -> Data:
    changes: dict[str, Any] = {
        key: given[key] for key in ("format", "limit", "skip_bad_rows") if key in given
    }
    if "data" in given:
        changes["path"] = given["data"]
    fields = {**data.fields, **fields_of(given.get("fields", ()), complaints)}
    return replace(data, fields=fields, **changes)


def fields_of(texts: Sequence[str], complaints: list[str]) -> dict[str, str]:
    """Sample field → column, from `--field answer=output.text`."""
    from ragstone.types import SAMPLE_FIELDS

    fields: dict[str, str] = {}
    for text in texts:
        name, equals, where = (part.strip() for part in text.partition("="))
        if not equals or not where:
            complaints.append(f"--field {text!r}: write answer=output.text")
        elif name not in SAMPLE_FIELDS:
            complaints.append(
                f"--field {text!r}: no field {name!r}{suggest_nearest(name, SAMPLE_FIELDS)}"
            )
        else:
            fields[name] = where
    return fields


def _gates(
    texts: Sequence[str], metrics: Sequence[Metric], complaints: list[str]
) -> dict[str, str]:
    """Gates named by `--gate`; without `-m` the metrics are not known yet, so any may be named."""
    from ragstone.config import split_gate
    from ragstone.config.gates import parse_gate
    from ragstone.metrics import resolve

    names = [metric.name for metric in metrics]
    gates: dict[str, str] = {}
    for text in texts:
        try:
            spec, rule = split_gate(text)
            name = resolve(spec).name
            parse_gate(rule)
        except (RagstoneError, ValueError) as bad:
            complaints.append(f"--gate: {bad}")
            continue
        if names and name not in names:
            complaints.append(f"--gate {text!r}: {name!r} is not among the metrics; add -m {name}")
        if name in gates:
            complaints.append(f"--gate {text!r}: {name!r} has another gate already; keep one")
        gates[name] = rule
    return gates


def _left_out(plan: Plan, metrics: Sequence[Metric]) -> list[str]:
    names = {metric.name for metric in metrics}
    return [
        f"not checked, because -m leaves the metric out: {name} {rule}"
        for name, rule in plan.gates.items()
        if name not in names
    ]
