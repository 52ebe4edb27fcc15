"""The registered metrics, how users name them, and how a user's own code is loaded by name."""

from ragstone.registry.metrics import (
    REGISTERED,
    Metric,
    Spec,
    accepted,
    bind,
    metric,
    resolve,
)
from ragstone.registry.specs import parse, split_specs

__all__ = [
    "REGISTERED",
    "Metric",
    "Spec",
    "accepted",
    "bind",
    "metric",
    "parse",
    "resolve",
    "split_specs",
]
