"""The registry of metrics, the specs by which users name them, and the loader of user code.

Names are imported when they are first used: `score_rankings` reads specs and registers nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.registry.metrics import REGISTERED as REGISTERED
    from ragstone.registry.metrics import Metric as Metric
    from ragstone.registry.metrics import MetricSpec as MetricSpec
    from ragstone.registry.metrics import bind_options as bind_options
    from ragstone.registry.metrics import describe_options as describe_options
    from ragstone.registry.metrics import metric as metric
    from ragstone.registry.metrics import resolve as resolve
    from ragstone.registry.specs import parse_spec as parse_spec
    from ragstone.registry.specs import split_specs as split_specs

_SPECS = ("parse_spec", "split_specs")
_METRICS = (
    "REGISTERED", "Metric", "MetricSpec", "bind_options", "describe_options", "metric", "resolve",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _SPECS and name not in _METRICS:
        raise AttributeError(f"module 'ragstone.registry' has no attribute {name!r}")
    home = "specs" if name in _SPECS else "metrics"
    value = globals()[name] = getattr(import_module(f"ragstone.registry.{home}"), name)
    return value
