"""The job of a worker: the run's metrics as specs, the settings of its judge, and how its rows are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.config.plan import StorableSpec


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """A run as a worker gets it, in plain JSON. It may hold an API key, so it goes from the driver to the worker directly, not through Dask's scheduler."""

    run: str
    metrics: tuple[StorableSpec, ...]
    judge: Mapping[str, Any] | None
    """Settings as `make_judge` takes them; None when no metric asks a judge."""
    shared: bool
    """Whether the driver keeps replies, budget and rate limit for all workers: True unless the judge is local."""
    limited: bool
    """Whether the driver must be asked before each call, because there is a budget or a rate limit."""
    shape: Mapping[str, Any]
    """How a row maps to a Sample (`compile_shape`)."""
    language: str | None
    """Language of the samples that name none."""
    concurrency: int | None
    """Questions in flight of one worker."""
    version: str
    """The driver's ragstone; a worker of another version refuses the job, as it might score differently."""
    code_folders: tuple[str, ...] = ()
    """Folders of the user's modules, added to `sys.path`."""

    def to_json(self) -> dict[str, Any]:
        """The job as it is sent to a worker."""
        return asdict(self)

    @classmethod
    def from_json(cls, sent: Mapping[str, Any]) -> WorkerJob:
        """The job that `to_json` wrote."""
        # msgpack has no tuples: every field that is one must be named here
        lists = {name: tuple(sent[name]) for name in ("metrics", "code_folders")}
        return cls(**{**sent, **lists})
