"""Jobs of runs at the batch APIs of providers: what waits, and what another process must know to collect it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from ragstone.asks.fences import make_secret
from ragstone.judges.batching import BatchJob
from ragstone.store.store import Store

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class WaitingJobs:
    """The jobs of a run whose results nobody has read."""

    jobs: int
    requests: int
    since: float
    """When the oldest was sent, in seconds since 1970."""


class StoredJobs:
    """The ledger of one run's jobs, in its store; `watch` is told of each job that is sent."""

    def __init__(
        self, store: Store, run: str, watch: Callable[[BatchJob], None] | None = None
    ) -> None:
        self._store, self._run, self._watch = store, run, watch
        rows = store.read("SELECT secret FROM judge_jobs WHERE run = ?", (run,))
        self.secret = bytes.fromhex(rows[0][0]) if rows else make_secret()

    def load(self, place: str) -> list[BatchJob]:
        """The jobs that earlier processes sent."""
        rows = self._store.read(
            "SELECT job, requests, submitted FROM judge_jobs WHERE run = ? AND place = ?",
            (self._run, place),
        )
        return [
            BatchJob(job, place, tuple(json.loads(requests)), submitted / MICROSECONDS)
            for job, requests, submitted in rows
        ]

    def add(self, job: BatchJob) -> None:
        """Note a job durably."""
        at = int(job.submitted * MICROSECONDS)
        values = (self._run, job.id, job.place, at, 0, self.secret.hex(), json.dumps(job.keys))
        self._execute("INSERT INTO judge_jobs VALUES (?, ?, ?, ?, ?, ?, ?)", *values)
        if self._watch is not None:
            self._watch(job)

    def mark_collected(self, job: BatchJob) -> None:
        """Note that the results were read."""
        now = time.time_ns() // 1000
        self._execute("UPDATE judge_jobs SET collected = ? WHERE run = ? AND job = ?", now, self._run, job.id)  # fmt: skip

    def remove(self, job: BatchJob) -> None:
        """Forget a job."""
        self._execute("DELETE FROM judge_jobs WHERE run = ? AND job = ?", self._run, job.id)

    def remove_collected(self) -> None:
        """Forget the jobs that were read: their replies are stored, or their samples have failed."""
        self._execute("DELETE FROM judge_jobs WHERE run = ? AND collected > 0", self._run)

    def _execute(self, sql: str, *values: object) -> None:
        self._store.write(lambda db: db.execute_many(sql, [values])).result()


def load_waiting_jobs(store: Store) -> dict[str, WaitingJobs]:
    """What waits at providers, by run id."""
    waiting: dict[str, WaitingJobs] = {}
    rows = store.read("SELECT run, requests, submitted FROM judge_jobs WHERE collected = 0")
    for run, requests, submitted in rows:
        count, since = len(json.loads(requests)), submitted / MICROSECONDS
        sum_so_far = waiting.get(run, WaitingJobs(0, 0, since))
        waiting[run] = WaitingJobs(
            sum_so_far.jobs + 1, sum_so_far.requests + count, min(sum_so_far.since, since)
        )
    return waiting
