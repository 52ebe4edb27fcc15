"""The config file of a benchmark: a plan, and the configurations of the system that it is executed for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.config.document import ConfigValue, read_document
from ragstone.config.paths import anchor_system
from ragstone.config.plan import PLAN_KEYS, Plan
from ragstone.config.plan_reader import PlanReader
from ragstone.config.secrets import expand_variables
from ragstone.errors import ConfigError, suggest_nearest

BENCHMARK_KEYS = ("configurations", "baseline", "primary")
"""What a benchmark has besides the keys of a plan."""
_REFUSED_KEYS = ("gates", "resume", "retry_errors")
"""Keys of a plan that make no sense here: a benchmark always resumes, and gates are about one run."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Named configurations of systems, and one plan for all of them."""

    plan: Plan
    """Its system is the one that configurations set parameters of, unless they name their own."""
    configurations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name → settings; `system` among them names another system."""
    baseline: str | None = None
    """The configuration that the others are compared with; by default the first."""
    primary: str | None = None
    """The metric that decides; by default the first metric of quality."""


def load_benchmark(path: str | Path) -> Benchmark:
    """The benchmark that a YAML file describes, or ConfigError with everything that is wrong in it."""
    file = Path(path)
    errors: list[str] = []
    tree = expand_variables(read_document(file, errors), errors)
    reader = PlanReader(file, errors)
    if not isinstance(tree.value, dict):
        raise ConfigError(errors or [f"{path}: give key: value lines, `configurations` among them"])
    known = tuple(key for key in PLAN_KEYS if key not in _REFUSED_KEYS)
    for key, item in tree.value.items():
        if key not in known and key not in BENCHMARK_KEYS:
            reader.complain(
                item, f"unknown key {key!r}{suggest_nearest(key, (*known, *BENCHMARK_KEYS))}"
            )
    plan = reader.read_plan(
        ConfigValue(tree.location, {key: item for key, item in tree.value.items() if key in known})
    )
    benchmark = Benchmark(
        plan,
        _read_configurations(tree, reader, file.parent, "system" in tree.value),
        _read_baseline(tree, reader),
        _read_primary(tree, reader),
    )
    if errors:
        raise ConfigError(list(dict.fromkeys(errors)))
    return benchmark


def _read_configurations(
    tree: ConfigValue, reader: PlanReader, folder: Path, has_system: bool
) -> dict[str, Mapping[str, Any]]:
    value = tree.value.get("configurations")
    if value is None or not isinstance(value.value, dict) or not value.value:
        reader.complain(
            value or tree,
            "no configurations; list them as `configurations:` with NAME: {setting: value}",
        )
        return {}
    configurations: dict[str, Mapping[str, Any]] = {}
    for name, item in value.value.items():
        settings = {} if item.value is None else item.plain
        if not isinstance(settings, dict):
            reader.complain(
                item, f"{name!r} is {settings!r}; give its settings as {{setting: value}}"
            )
            continue
        if "system" in settings:
            settings = {**settings, "system": anchor_system(settings["system"], folder)}
        elif not has_system:
            reader.complain(item, f"{name!r} has no system; add `system:` here or above")
        # settings such as `documents` or `prompt` may name files as well
        configurations[str(name)] = anchor_system(settings, folder)
    return configurations


def _read_baseline(tree: ConfigValue, reader: PlanReader) -> str | None:
    value = tree.value.get("baseline")
    if value is None:
        return None
    configurations = tree.value.get("configurations")
    names = [str(name) for name in configurations.value] if configurations is not None else []
    if str(value.value) not in names:
        reader.complain(
            value,
            f"the baseline {value.value!r} is no configuration{suggest_nearest(str(value.value), names)}",
        )
    return str(value.value)


def _read_primary(tree: ConfigValue, reader: PlanReader) -> str | None:
    value = tree.value.get("primary")
    if value is None:
        return None
    if not isinstance(value.value, str):
        reader.complain(value, f"the primary metric is {value.value!r}; give its name: recall@5")
        return None
    return value.value
