"""What a worker must know of a run: its metrics as specs, its judge's settings, how its rows are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.config.plan import StorableSpec


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """A run as a worker gets it, in plain JSON. It may hold a key, so it goes from the driver to the worker directly."""

    run: str
    metrics: tuple[StorableSpec, ...]
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
    code_folders: tuple[str, ...] = ()
    """Folders from which the user's own modules are imported."""

    def to_json(self) -> dict[str, Any]:
        """As it is sent."""
        return asdict(self)

    @classmethod
    def from_json(cls, sent: Mapping[str, Any]) -> WorkerJob:
        """The job that `to_json` wrote."""
        # msgpack has no tuples
        lists = {name: tuple(sent[name]) for name in ("metrics", "code_folders")}
        return cls(**{**sent, **lists})
