"""Beyond one process: the same run by processes of this machine, or by the workers of a Dask cluster, here, on other machines or under Slurm."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.config import Plan
    from ragstone.engine import Execution, ProgressCallback
    from ragstone.judges import Judge
    from ragstone.registry import Metric
    from ragstone.store import StoredRun


MIN_JUDGED_SAMPLES = 64
"""With fewer samples for an embedded judge one process is as fast."""
MIN_FILE_BYTES = 8_000_000
"""Files up to this size are scored by one process where no judge is asked."""


def build_cluster_execution(
    plan: Plan,
    run: StoredRun,
    metrics: Sequence[Metric],
    judge: Judge | None,
    *,
    total: int | None,
    watch: ProgressCallback | None,
    source: Any,
) -> Execution:
    """The run as the workers of the plan's cluster will carry it out."""
    from ragstone.scale.cluster import parse_location
    from ragstone.scale.driver import ClusterExecution

    assert plan.on is not None  # the caller comes here only for a plan that names a cluster
    # called for its ClusterError: a bad location stops the run before it starts
    parse_location(plan.on)
    return ClusterExecution(
        run, metrics, judge, plan.concurrency, total, watch, on=plan.on, plan=plan, source=source
    )


def choose_worker_count(
    wanted: int | None, judge: Judge | None, total: int | None, size: int | None
) -> int:
    """How many processes are to score; `wanted` is what the user says, else it is as many as pay.

    `total` is the number of samples and `size` that of the file in bytes, where known."""
    if judge is None:
        is_large = size is not None and size > MIN_FILE_BYTES
    else:
        is_large = total is None or total >= MIN_JUDGED_SAMPLES
    if wanted == 1 or (not wanted and not is_large):
        return 1
    obstacle = _find_obstacle(judge)
    if obstacle and wanted:
        raise RagstoneError(f"--workers {wanted}: {obstacle}")
    if obstacle:
        return 1
    return wanted or len(os.sched_getaffinity(0))


def _find_obstacle(judge: Judge | None) -> str:
    """Why this run cannot be scored by several processes; empty when it can."""
    if sys.platform != "linux":
        return "worker processes need Linux; use --on dask:N, or leave it out"
    import multiprocessing

    if multiprocessing.current_process().daemon:
        return "this process may not start others; leave it out"
    if judge is not None and not getattr(judge, "can_fork", False):
        return f"the judge {judge.name} works in one process; see --concurrency for more at once"
    return ""
