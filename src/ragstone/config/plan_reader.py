"""Reader of a config file's tree into a Plan, key by key; it goes on after a mistake, so that all are reported."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.config.checks import SCALAR_CHECKS
from ragstone.config.document import ConfigValue
from ragstone.config.paths import anchor_system
from ragstone.config.plan import (
    DATA_KEYS,
    PLAN_KEYS,
    SLURM_KEYS,
    Data,
    Plan,
    Slurm,
    StorableSpec,
    SystemPlan,
)
from ragstone.config.secrets import Secret
from ragstone.errors import RagstoneError, suggest_nearest

if TYPE_CHECKING:
    from ragstone.config.monitor import MonitorPlan
    from ragstone.registry import Metric


SLURM_DIRECTIVES = (
    "partition", "account", "qos", "memory", "time", "mail", "environment", "interface",
)  # fmt: skip
"""Keys that become one line of the launcher each: a line break would add a directive."""


class PlanReader:
    """Reads the tree key by key and collects all errors.

    A method that finds a mistake adds an error and returns None or what it could read; the default then stands in."""

    def __init__(self, file: Path, errors: list[str]) -> None:
        self.folder = file.parent
        self.errors = errors
        self.gates_read: list[tuple[str, ConfigValue]] = []
        """The metric of each gate, with the rule and its line."""
        self.metric_names: list[str] = []
        """Names of the plan's metrics."""
        self.imports_modules = False
        """Whether a metric is code of a module beside the config."""

    def read_plan(self, tree: ConfigValue) -> Plan:
        entries = self.read_entries(tree, "the config", PLAN_KEYS)
        # keys that are not here are single values: `read_scalar` looks them up in SCALAR_CHECKS
        read: dict[str, Callable[[ConfigValue], Any]] = {
            "data": self.read_data,
            "system": self.read_system,
            "metrics": self.read_metric_specs,
            "judge": self.read_model,
            "embeddings": self.read_model,
            "prompts": self.read_prompts_folder,
            "gates": self.read_gates,
            "store": self.read_store,
            "output": self.read_output,
            "slurm": self.read_slurm,
            "monitor": self.read_monitor_section,
        }
        values: dict[str, Any] = {
            key: read[key](value) if key in read else self.read_scalar(key, value)
            for key, value in entries.items()
            if value.value is not None  # `key:` without a value counts as absent
        }
        if self.imports_modules:
            values["code_folders"] = (str(self.folder.resolve()),)
        # without `metrics` the data decide which there are, so a gate cannot be checked yet
        if "metrics" in entries:
            self.check_gates_have_metrics(self.metric_names)
        return Plan(**{key: value for key, value in values.items() if value is not None})

    def read_entries(
        self, value: ConfigValue, what: str, known: tuple[str, ...]
    ) -> dict[str, ConfigValue]:
        """The entries of a mapping whose keys are known."""
        if not isinstance(value.value, dict):
            self.complain(value, f"{what} is {value.plain!r}; give key: value lines")
            return {}
        for key, item in value.value.items():
            if key not in known:
                self.complain(item, f"unknown key {key!r}{suggest_nearest(key, known)}")
        return {key: item for key, item in value.value.items() if key in known}

    def read_scalar(self, key: str, value: ConfigValue) -> Any:
        """The value if it passes the check of its key, else None and an error."""
        wanted = SCALAR_CHECKS[key](value.value)
        if wanted is None:
            return value.value
        shown = value.plain
        if wanted == "give a text" and isinstance(shown, bool | int | float):
            wanted += " (in quotes)"  # YAML reads no, on and 1.10 as something else
        self.complain(value, f"{key!r} is {shown!r}; {wanted}")
        return None

    def read_data(self, value: ConfigValue) -> Data | None:
        if isinstance(value.value, str):
            return Data(path=self.anchor_path(value.value))
        entries = self.read_entries(value, "'data'", DATA_KEYS)
        if isinstance(value.value, dict) and "path" not in value.value:
            self.complain(value, "'data' has no path; add path: FILE")
        read: dict[str, Any] = {}
        for key, item in entries.items():
            if key == "path":
                read[key] = self.anchor_path(item.value) if self.is_text(key, item) else None
            elif key == "fields":
                read[key] = self.read_fields(item)
            else:
                read[key] = self.read_scalar(key, item)
        return Data(**{key: item for key, item in read.items() if item is not None})

    def read_fields(self, value: ConfigValue) -> dict[str, str]:
        from ragstone.types import SAMPLE_FIELDS

        entries = self.read_entries(value, "'fields'", SAMPLE_FIELDS)
        return {key: item.value for key, item in entries.items() if self.is_text(key, item)}

    def read_system(self, value: ConfigValue) -> SystemPlan | None:
        """The system under test: a text or a mapping, whose files are looked for beside the config."""
        spec = value.plain
        if not (isinstance(spec, dict) and spec) and not self.is_text("system", value):
            return None
        return SystemPlan(anchor_system(spec, self.folder))

    def read_metric_specs(self, value: ConfigValue) -> tuple[StorableSpec, ...]:
        from ragstone.config.metric_specs import to_spec

        metrics = self.read_metrics(value)
        self.metric_names = [metric.name for metric in metrics]
        return tuple(map(to_spec, metrics))

    def read_metrics(self, value: ConfigValue) -> tuple[Metric, ...]:
        from ragstone.registry import split_specs

        metrics: dict[str, Metric] = {}
        items = self.list_items(value)
        if isinstance(value.value, str):
            items = [ConfigValue(value.location, spec) for spec in split_specs(value.value)]
        for item in items:
            metric = self.read_metric(item)
            if metric is None:
                continue
            if metric.name in metrics:
                self.complain(item, f"the metric {metric.name!r} stands twice; keep one")
            metrics[metric.name] = metric
        return tuple(metrics.values())

    def read_metric(self, value: ConfigValue) -> Metric | None:
        from ragstone import metrics as _every_metric  # noqa: F401  registers them
        from ragstone.registry import bind_options, parse_spec, resolve

        spec = value.plain
        if not isinstance(spec, str | dict):
            self.complain(value, f"{spec!r} is not a metric; write a name such as recall@5")
            return None
        try:
            # the user's own code is loaded from beside the config, not from the current folder as
            # `resolve` would
            name, options = self.split_own_code(spec)
            if name is None:
                return resolve(spec)
            family, written = parse_spec(name)
            source, _, function = family.rpartition(":")
            return bind_options(self.load_own_metric(source, function), {**written, **options})
        except RagstoneError as bad:
            self.complain(value, str(bad))
            return None

    def split_own_code(self, spec: str | dict[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
        """The name and options of a spec such as `file.py:function`; a name of None for any other metric."""
        name, options = (spec, {}) if isinstance(spec, str) else next(iter(spec.items()), ("", {}))
        family = name.split("(")[0].split("@")[0]
        if ":" not in family or (isinstance(spec, dict) and len(spec) != 1):
            return None, {}
        return name, options or {}

    def load_own_metric(self, source: str, function: str) -> Metric:
        """A user's metric, from a file or module beside the config."""
        from ragstone.registry import resolve
        from ragstone.registry.plugins import load_object as load_code

        if source.endswith(".py"):
            source = self.anchor_path(source)
        else:
            self.imports_modules = True
            if str(self.folder.resolve()) not in sys.path:
                sys.path.insert(0, str(self.folder.resolve()))
        return resolve(load_code(f"{source}:{function}", "metric"))

    def read_model(self, value: ConfigValue) -> str | dict[str, Any] | None:
        """A judge or embeddings: a text, a mapping of settings, or a list of judges (a jury)."""
        if isinstance(value.value, str) and value.value.strip():
            return value.value
        if isinstance(value.value, list) and value.value:
            self.check_settings(*value.value)
            return {"jury": value.plain}
        if isinstance(value.value, dict) and value.value:
            self.check_settings(value)
            return dict(value.plain)
        self.complain(
            value, f"{value.plain!r} is not a model; write offline, openai:MODEL or model: …"
        )
        return None

    def check_settings(self, *models: ConfigValue) -> None:
        """Add an error for each setting that no judge has."""
        from ragstone.judges.cascade_settings import check_cascade
        from ragstone.judges.factory import SETTINGS

        for model in models:
            if isinstance(model.value, dict):
                entries = self.read_entries(model, "a judge", SETTINGS)
                if "jury" in entries and isinstance(entries["jury"].value, list):
                    self.check_settings(*entries["jury"].value)
                self.check_settings(*(entries[n] for n in ("first", "then") if n in entries))
                try:
                    check_cascade(dict(model.plain))
                except RagstoneError as bad:
                    self.complain(model, str(bad))

    def read_prompts_folder(self, value: ConfigValue) -> str | None:
        if not self.is_text("prompts", value):
            return None
        path = self.anchor_path(value.value)
        if not Path(path).is_dir():
            self.complain(value, f"there is no folder {path!r} with prompts")
        return path

    def read_gates(self, value: ConfigValue) -> dict[str, str]:
        from ragstone.config.gates import parse_gate

        if not isinstance(value.value, dict):
            self.complain(value, f"'gates' is {value.plain!r}; write metric: \">= 0.8\" lines")
            return {}
        read: dict[str, str] = {}
        for key, item in value.value.items():
            metric = self.read_metric(ConfigValue(item.location, key))
            try:
                parse_gate(str(item.plain))
            except (RagstoneError, ValueError) as bad:
                self.complain(item, f"the gate on {key!r}: {bad}")
            if metric is not None:
                read[metric.name] = str(item.plain)
                self.gates_read.append((metric.name, item))
        return read

    def check_gates_have_metrics(self, names: list[str]) -> None:
        for metric, item in self.gates_read:
            if metric not in names:
                self.complain(
                    item,
                    f"a gate on {metric!r}, which is not among the metrics{suggest_nearest(metric, names)}",
                )

    def read_store(self, value: ConfigValue) -> str | Secret | None:
        if isinstance(value.value, Secret):
            return value.value
        if not self.is_text("store", value):
            return None
        return value.value if "://" in value.value else self.anchor_path(value.value)

    def read_output(self, value: ConfigValue) -> tuple[str, ...]:
        texts = [item for item in self.list_items(value) if self.is_text("output", item)]
        return tuple(self.anchor_path(item.value) for item in texts)

    def read_slurm(self, value: ConfigValue) -> Slurm:
        read: dict[str, Any] = {}
        for key, item in self.read_entries(value, "'slurm'", SLURM_KEYS).items():
            if key in ("modules", "setup", "options"):
                lines = [line.value for line in self.list_items(item) if self.is_text(key, line)]
                bad = [line for line in lines if "\n" in line]
                if bad:
                    self.complain(item, f"{key!r} holds a line break in {bad[0]!r}; one line each")
                read[key] = tuple(lines)
            elif key == "folder":
                read[key] = self.anchor_path(item.value) if self.is_text(key, item) else None
            else:
                read[key] = self.read_scalar(key, item)
        for key in SLURM_DIRECTIVES:
            if re.search(r"[\n\r]", str(read.get(key, ""))):
                self.complain(value, f"{key!r} holds a line break; write it on one line")
        return Slurm(**{key: item for key, item in read.items() if item is not None})

    def read_monitor_section(self, value: ConfigValue) -> MonitorPlan | None:
        from ragstone.config.monitor import read_monitor

        return read_monitor(self, value)

    def list_items(self, value: ConfigValue) -> list[ConfigValue]:
        """The items of a list; a single value counts as a list of one."""
        return value.value if isinstance(value.value, list) else [value]

    def is_text(self, key: str, value: ConfigValue) -> bool:
        """Whether a value is a text that is not blank; adds an error if not."""
        if isinstance(value.value, str) and value.value.strip():
            return True
        self.complain(value, f"{key!r} is {value.plain!r}; give a text")
        return False

    def anchor_path(self, text: str) -> str:
        """A path relative to the config file's folder; `-` (standard input) stays."""
        return text if text == "-" else str(self.folder / Path(text).expanduser())

    def complain(self, value: ConfigValue, sentence: str) -> None:
        """Add an error with the line of the value."""
        self.errors.append(f"{value.location}: {sentence}")
