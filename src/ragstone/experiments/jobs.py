"""The jobs of a run at the batch API of its judge's provider, noted in the run's store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.judges.batching import BatchJob, keep_jobs
from ragstone.store import Store
from ragstone.store.judge_jobs import StoredJobs


@contextmanager
def keep_run_jobs(
    store: Store, run: str, watch: Callable[[BatchJob], None] | None
) -> Iterator[None]:
    """Note the jobs of a run; once it is scored, those whose results were read are forgotten."""
    jobs = StoredJobs(store, run, watch)
    with keep_jobs(jobs):
        yield
    jobs.remove_collected()
