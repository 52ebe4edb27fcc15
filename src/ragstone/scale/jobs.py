"""What a worker must know of a run: its metrics by name, its judge's settings, how its rows are read."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.registry import Metric


@dataclass(frozen=True, slots=True)
class Job:
    """A run as told to a worker; plain JSON. It may hold a key, so it goes from the driver to the worker directly."""

    run: str
    metrics: tuple[Mapping[str, Any], ...]
    judge: Mapping[str, Any] | None
    """Settings as `make_judge` takes them; None when no metric asks."""
    shared: bool
    """Whether replies, budget and pace are the driver's: for judges whose replies are worth keeping."""
    limited: bool
    """Whether there is a budget or a pace to ask for before each call."""
    shape: Mapping[str, Any]
    language: str | None
    concurrency: int | None
    """Questions in flight of one worker."""
    version: str
    """Of the driver; another one might score otherwise."""

    def to_json(self) -> dict[str, Any]:
        """As it is sent."""
        return asdict(self)

    @classmethod
    def from_json(cls, sent: Mapping[str, Any]) -> Job:
        """The job that `to_json` wrote."""
        return cls(**{**sent, "metrics": tuple(sent["metrics"])})


def told(metrics: Sequence[Metric]) -> tuple[dict[str, Any], ...]:
    """The metrics so that another process finds them: by name, or by the file or module of the user's code."""
    return tuple(_told(metric) for metric in metrics)


def _told(metric: Metric) -> dict[str, Any]:
    function = metric.function
    module, name = function.__module__, function.__qualname__
    options = dict(metric.options)
    if module.startswith("ragstone."):
        return {"family": metric.family, "options": options}
    if module == "__main__" or "<" in name:
        raise RagstoneError(
            f"the metric {metric.name!r} is defined in {module}:{name}, where workers cannot find it; "
            "put it into a file of its own and name it file.py:function"
        )
    file = getattr(sys.modules.get(module), "__file__", None)
    place = file if module.startswith("ragstone_user_") and file else module
    return {"family": f"{place}:{name}", "options": options}


def found(told: Sequence[Mapping[str, Any]]) -> list[Metric]:
    """The metrics again, in the process of a worker."""
    from ragstone import metrics as _every_metric  # noqa: F401  registers them
    from ragstone.registry import bind_options, resolve
    from ragstone.registry.plugins import load_object

    return [
        bind_options(resolve(load_object(one["family"], "metric") if ":" in one["family"] else one["family"]), one["options"])
        for one in told
    ]  # fmt: skip
