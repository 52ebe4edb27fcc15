"""How a run is carried out: by this process, by processes of this machine, or by the workers of a Dask cluster, here, on
other machines or under Slurm."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.engine import Execution
from ragstone.errors import RagstoneError
from ragstone.judges import sends_jobs
from ragstone.scale.progress import follow_progress

if TYPE_CHECKING:
    from ragstone.config import Plan
    from ragstone.engine import ProgressCallback
    from ragstone.judges import Judge
    from ragstone.registry import Metric
    from ragstone.store import StoredRun


MIN_JUDGED_SAMPLES = 64
"""With fewer samples for an embedded judge one process is as fast."""
MIN_FILE_BYTES = 8_000_000
"""Files up to this size are scored by one process where no judge is asked."""


@asynccontextmanager
async def open_execution(
    plan: Plan,
    run: StoredRun,
    metrics: Sequence[Metric],
    judge: Judge | None,
    *,
    total: int | None = None,
    watch: ProgressCallback | None = None,
    size: int | None = None,
) -> AsyncIterator[Execution]:
    """The run as the plan says that it is to be carried out; `size` is that of its file in bytes, where known."""
    common: dict[str, Any] = {"total": total, "watch": follow_progress(watch)}
    if plan.on is not None:
        async with _open_on_cluster(plan.on, plan, run, metrics, judge, common) as execution:
            yield execution
        return
    workers = choose_worker_count(plan.workers, judge, total, size)
    if workers == 1:
        # a job takes as many questions as there are, whatever may be in flight at once
        concurrency = None if sends_jobs(judge) else plan.concurrency
        yield Execution(run, metrics, judge, concurrency, **common)
        return
    from ragstone.scale.execution import ShardedExecution
    from ragstone.scale.processes import open_processes

    yield ShardedExecution(
        run, metrics, judge, open_pool=partial(open_processes, workers), **common
    )


@asynccontextmanager
async def _open_on_cluster(
    on: str,
    plan: Plan,
    run: StoredRun,
    metrics: Sequence[Metric],
    judge: Judge | None,
    common: Mapping[str, Any],
) -> AsyncIterator[Execution]:
    from ragstone.config.metric_specs import to_spec
    from ragstone.judges.factory import to_public_spec
    from ragstone.scale.cluster import open_cluster, parse_location
    from ragstone.scale.execution import ShardedExecution
    from ragstone.scale.judging import open_worker_judge
    from ragstone.scale.worker import WorkerJob

    parse_location(on)  # a bad location stops the run before it starts
    settings = plan.judge_settings()
    job = WorkerJob(
        secrets.token_hex(16),
        tuple(map(to_spec, metrics)),
        to_public_spec(settings) if judge is not None else None,
        dict(run.info.shape),
        plan.language,
        plan.code_folders,
        __version__,
    )
    if judge is None or judge.local:
        pool = partial(open_cluster, on, job)
        yield ShardedExecution(run, metrics, judge, open_pool=lambda *_: pool(), **common)
        return
    async with open_worker_judge(on, job, judge, settings) as (moved, concurrency):
        yield Execution(run, metrics, moved, concurrency, **common)


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
