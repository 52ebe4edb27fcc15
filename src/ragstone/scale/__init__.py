"""Beyond one process: the same run on the workers of a Dask cluster, on this machine, on others, or under Slurm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.engine import Execution, ProgressCallback
    from ragstone.judges import Judge
    from ragstone.registry import Metric
    from ragstone.store import StoredRun


def on_cluster(
    on: str,
    run: StoredRun,
    metrics: Sequence[Metric],
    judge: Judge | None,
    named: Any,
    concurrency: int | None,
    *,
    total: int | None,
    watch: ProgressCallback | None,
    source: Any,
) -> Execution:
    """The run as the workers of the cluster will carry it out; `named` is the judge as the user wrote it."""
    from ragstone.scale.cluster import place
    from ragstone.scale.driver import ClusterExecution

    place(on)
    return ClusterExecution(
        run, metrics, judge, concurrency, total, watch, on=on,
        settings=_settings(named) if judge is not None else None,
        source=source,
    )  # fmt: skip


def _settings(named: Any) -> dict[str, Any]:
    """The judge's settings; only what can be written down can be made again by each worker."""
    if named is None:
        return {"model": "offline"}
    if isinstance(named, str):
        return {"model": named}
    if isinstance(named, Mapping) and _plain(named):
        return dict(named)
    raise RagstoneError(
        f"{named!r} cannot be sent to workers; name the judge: offline, openai:MODEL, "
        "hf:PATH, python:file.py:function"
    )


def _plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, str | int | float | bool)
