"""Beyond one process: the same run on the workers of a Dask cluster, on this machine, on others, or under Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.config import Plan
    from ragstone.engine import Execution, ProgressCallback
    from ragstone.judges import Judge
    from ragstone.registry import Metric
    from ragstone.store import StoredRun


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
