"""The Plan that a call of the command line asks for: the config file, with flags replacing parts of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ragstone.config import Data, Plan, SystemPlan, load, split_gate
from ragstone.config.gates import parse_gate
from ragstone.config.metric_specs import from_spec, resolve_metrics, to_spec
from ragstone.config.paths import anchor_existing
from ragstone.errors import ConfigError, RagstoneError, suggest_nearest
from ragstone.registry import Metric, parse_spec, split_specs
from ragstone.types import SAMPLE_FIELDS

REPLACED_FIELDS = (
    "name", "judge", "language", "floor", "labels", "store", "output", "explain", "concurrency",
    "workers",
    "resume", "restart",
    "retry_errors", "max_usd", "max_calls", "on", "run_id",
)  # fmt: skip
"""Fields of a plan that a flag of the same name replaces."""


def _is_given(value: Any) -> bool:
    # by identity: a floor or a budget of 0 is given, and 0 == False
    return not any(value is empty for empty in (None, (), False))


def build_plan(
    flags: Mapping[str, Any], base: Plan | None = None, *, folder: Path | None = None
) -> tuple[Plan, list[str]]:
    """The plan of the config file, or `base`, with what the flags replace; and notes to print for the user.

    `flags` are those of `ragstone eval`; any may be missing. Metric files of the user are looked for in `folder`, else in
    the current folder."""
    notes: list[str] = []
    plan = base or Plan()
    if flags.get("config") is not None:
        # A dry run asks nobody: a missing API key is a note there, not a mistake.
        plan = load(flags["config"], notes if flags.get("dry_run") else None)
    errors: list[str] = []
    given = {key: value for key, value in flags.items() if _is_given(value)}
    changes: dict[str, Any] = {key: given[key] for key in REPLACED_FIELDS if key in given}
    changes["data"] = _replace_data(plan.data, given, errors)
    changes["system"] = _replace_system(plan.system, given)
    if given.get("no_calibration"):
        judge = changes.get("judge", plan.judge) or "offline"
        settings = {"model": judge} if isinstance(judge, str) else dict(judge)
        changes["judge"] = {**settings, "calibration": False}
    gates = dict(plan.gates)
    names = None
    if "metrics" in given:
        metrics = parse_metrics(given["metrics"], errors, folder)
        changes["metrics"] = tuple(map(to_spec, metrics))
        names = _list_names(metrics)
        # -m replaces the config's metrics; gates on those left out cannot be decided and would end
        # the run with exit code 3.
        notes += _list_unchecked(gates, names)
        gates = {name: rule for name, rule in gates.items() if name in names}
    if "gates" in given:
        known = _list_names(resolve_metrics(plan.metrics)) if names is None else names
        gates |= _parse_gates(given["gates"], known, errors)
    if errors:
        raise ConfigError(errors)
    return replace(plan, gates=gates, **changes), notes


def _list_names(metrics: Sequence[Metric]) -> list[str]:
    return [metric.name for metric in metrics]


def load_plan_file(path: str) -> Plan:
    """The plan in a JSON file that `ragstone slurm` wrote."""
    try:
        return Plan.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError) as broken:
        raise RagstoneError(f"cannot read the plan {path!r}: {broken}") from None


def parse_metrics(
    texts: Sequence[str], errors: list[str], folder: Path | None = None
) -> list[Metric]:
    """The metrics of all `-m`, each of which may name several with commas; mistakes are appended to `errors`."""
    metrics: dict[str, Metric] = {}
    errors += [
        f"-m {text!r} names no metric; write recall@5" for text in texts if not split_specs(text)
    ]
    for spec in (spec for text in texts for spec in split_specs(text)):
        try:
            family, options = parse_spec(spec)
            metric = from_spec({_anchor_code(family, folder): options})
        except RagstoneError as bad:
            errors.append(str(bad))
        else:
            metrics[metric.name] = metric
    return list(metrics.values())


def parse_fields(texts: Sequence[str], errors: list[str]) -> dict[str, str]:
    """Sample field → column, from `--field answer=output.text`; mistakes are appended to `errors`."""
    fields: dict[str, str] = {}
    for text in texts:
        name, equals, where = (part.strip() for part in text.partition("="))
        if not equals or not where:
            errors.append(f"--field {text!r}: write answer=output.text")
        elif name not in SAMPLE_FIELDS:
            errors.append(
                f"--field {text!r}: no field {name!r}{suggest_nearest(name, SAMPLE_FIELDS)}"
            )
        else:
            fields[name] = where
    return fields


def parse_setting(text: str) -> tuple[str, list[Any]]:
    """`top_k=5,3,10` as a name and its values."""
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise click.UsageError(f"{text!r} is no setting; write it as top_k=5,3,10")
    return name.strip(), [_parse_value(part.strip()) for part in values.split(",")]


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Name → value, from `--set top_k=5`."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not value:
            raise click.UsageError(f"{text!r} is no setting; write it as top_k=5")
        if name in settings:
            raise click.UsageError(f"--set {name} is given twice; keep one")
        settings[name] = _parse_value(value)
    return settings


def _parse_value(text: str) -> Any:
    """A number, true, false or null as JSON has them; any other text as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # Commas separate values, so that a list could only be a part of one.
    return text if isinstance(value, dict | list) else value


def _replace_data(data: Data, given: Mapping[str, Any], errors: list[str]) -> Data:
    changes = {key: given[key] for key in ("format", "limit", "skip_bad_rows") if key in given}
    if "data" in given:
        changes["path"] = given["data"]
    fields = {**data.fields, **parse_fields(given.get("fields", ()), errors)}
    return replace(data, fields=fields, **changes)


def _replace_system(system: SystemPlan | None, given: Mapping[str, Any]) -> SystemPlan | None:
    settings = parse_settings(given.get("settings", ()))
    if "system" in given:
        return SystemPlan(given["system"], settings)
    if settings and system is None:
        raise click.UsageError("--set needs the system whose setting it is; add --system")
    return system if system is None else replace(system, settings={**system.settings, **settings})


def _anchor_code(family: str, folder: Path | None) -> str:
    """The name of a metric with its file as a path in the folder; for a module, the folder is put on sys.path."""
    source, colon, function = family.rpartition(":")
    if not colon or folder is None:
        return family
    if source.endswith(".py"):
        return f"{anchor_existing(source, folder)}:{function}"
    if str(folder) not in sys.path:
        # As Python does for the folder of a script: the module of a user's metric lies beside the
        # data, not in the environment.
        sys.path.insert(0, str(folder))
    return family


def _parse_gates(texts: Sequence[str], names: Sequence[str], errors: list[str]) -> dict[str, str]:
    """Gates named by `--gate`; `names` are the metrics of `-m`, else of the config: where neither names any, every metric may be named."""
    gates: dict[str, str] = {}
    for text in texts:
        try:
            spec, rule = split_gate(text)
            name = from_spec(spec).name
            parse_gate(rule)
        except (RagstoneError, ValueError) as bad:
            errors.append(f"--gate: {bad}")
            continue
        if names and name not in names:
            errors.append(f"--gate {text!r}: {name!r} is not among the metrics; add -m {name}")
        if name in gates:
            errors.append(f"--gate {text!r}: {name!r} has another gate already; keep one")
        gates[name] = rule
    return gates


def _list_unchecked(gates: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [
        f"not checked, because -m leaves the metric out: {name} {rule}"
        for name, rule in gates.items()
        if name not in names
    ]
