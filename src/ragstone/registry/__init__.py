"""The registry of metrics, the specs by which users name them, and the loader of user code."""

from ragstone.registry.metrics import (
    REGISTERED,
    Metric,
    MetricSpec,
    bind_options,
    describe_options,
    metric,
    resolve,
)
from ragstone.registry.specs import parse_spec, split_specs

__all__ = [
    "REGISTERED",
    "Metric",
    "MetricSpec",
    "bind_options",
    "describe_options",
    "metric",
    "parse_spec",
    "resolve",
    "split_specs",
]
