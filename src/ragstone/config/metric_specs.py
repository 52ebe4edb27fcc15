"""Metrics as storable specs, from which another process, or a later one, builds the same metric."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ragstone.config.plan import StorableSpec
from ragstone.errors import RagstoneError, UnknownMetric
from ragstone.registry import Metric, bind_options, resolve
from ragstone.registry.plugins import load_object


class NoSpec(RagstoneError):
    """The metric is defined where no other process can import it."""


def to_spec(metric: Metric) -> StorableSpec:
    """The metric's name, or a mapping with its options when the name does not say them all.

    The user's own code is named by its file or module; NoSpec when it has none."""
    module, name = _locate(metric.function)
    if module.startswith("ragstone."):
        # the printed name of a rubric leaves its other options out; such a metric needs the mapping
        if _is_same(metric, metric.name):
            return metric.name
        return {metric.family: _plain_options(metric)}
    # `<locals>` and `<lambda>` cannot be imported by name
    if module == "__main__" or "<" in name:
        raise NoSpec(
            f"the metric {metric.name!r} is defined in {module}:{name}, where workers cannot find it; "
            "put it into a file of its own and name it file.py:function"
        )
    file = getattr(sys.modules.get(module), "__file__", None)
    # `load_object` gives the module of a user's file this prefix; it cannot be imported by that name
    source = file if module.startswith("ragstone_user_") and file else module
    return {f"{source}:{name}": _plain_options(metric)}


def _locate(function: Any) -> tuple[str, str]:
    """The module that a function stands in, and its name there.

    `functools.wraps` gives a function the module and name of the one that it wraps; that one must not be found."""
    own = getattr(function, "__globals__", {}).get("__name__")
    modules = [name for name in (function.__module__, own) if name in sys.modules]
    for module in modules:
        members = vars(sys.modules[module])
        for name in (function.__qualname__, *members):
            if members.get(name) is function:
                return module, name
    is_wrapper = hasattr(function, "__wrapped__")
    return function.__module__, "<wrapped>" if is_wrapper else function.__qualname__


def from_spec(spec: StorableSpec) -> Metric:
    """The metric that a spec names."""
    from ragstone import metrics as _every_metric  # noqa: F401  registers them

    if not isinstance(spec, str) and len(spec) == 1:
        ((name, options),) = spec.items()
        if ":" in name:  # a path may hold what the typed form of a metric cannot
            return bind_options(resolve(load_object(name, "metric")), options or {})
    return resolve(spec)


def resolve_metrics(specs: Iterable[StorableSpec]) -> list[Metric]:
    """The metrics that specs name, in order."""
    return [from_spec(spec) for spec in specs]


def _plain_options(metric: Metric) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in metric.options.items()}


def _is_same(metric: Metric, name: str) -> bool:
    try:
        return resolve(name) == metric
    except UnknownMetric:
        return False
