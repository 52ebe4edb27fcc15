"""The registered metrics, how users name them, and how a user's own code is loaded by name."""

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
