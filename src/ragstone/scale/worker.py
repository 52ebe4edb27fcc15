"""What runs in a worker of a Dask cluster: metrics and judge are built once a run, then shards are scored or questions answered."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone._version import __version__
from ragstone.asks import Answered, Ask
from ragstone.config.metric_specs import resolve_metrics
from ragstone.config.plan import StorableSpec
from ragstone.engine.garbage import relax_garbage_collection
from ragstone.errors import RagstoneError
from ragstone.judges import Judge
from ragstone.scale.batches import Batch
from ragstone.scale.shards import ShardResult, ShardRunner

MAX_SESSIONS = 4
"""A worker may outlive many runs: with more than these the oldest idle one is closed."""


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """A run as a worker gets it; without keys, as it goes through Dask's scheduler: members of the judge that need one are
    asked by the driver."""

    token: str
    """A random name of this attempt at the run."""
    metrics: tuple[StorableSpec, ...]
    judge: Mapping[str, Any] | None
    """Settings as `make_judge` takes them; None when no metric asks a judge."""
    shape: Mapping[str, Any]
    """How a row maps to a Sample (`RowMapper`)."""
    language: str | None
    """Language of the samples that name none."""
    code_folders: tuple[str, ...]
    """Folders of the user's modules, added to `sys.path`."""
    version: str
    """The driver's ragstone; a worker of another version refuses the job, as it might score differently."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Asks for a judge that runs in the workers."""

    asks: tuple[Ask, ...]
    path: tuple[int, ...] = ()
    """Which member of the jury or cascade it is; empty for the judge itself."""

    @property
    def count(self) -> int:
        """Number of Asks."""
        return len(self.asks)

    def halve(self) -> tuple[Questions, Questions]:
        """Both halves, in order."""
        middle = self.count // 2
        return Questions(self.asks[:middle], self.path), Questions(self.asks[middle:], self.path)


class Refusal(NamedTuple):
    """Why a worker cannot take part in a run."""

    reason: str


def score_shard(job: WorkerJob, batch: Batch) -> ShardResult | Refusal:
    """Score a batch."""
    result: ShardResult | Refusal = _run_in_session(job, lambda session: session.runner.run(batch))
    return result


def answer_questions(job: WorkerJob, questions: Questions) -> list[Answered] | Refusal:
    """Answer Asks by the judge of this process."""
    answers: list[Answered] | Refusal = _run_in_session(
        job, lambda session: session.answer(questions)
    )
    return answers


class WorkerSession:
    """What a worker holds for one run: its metrics, its judge (a model is loaded once), and an event loop."""

    def __init__(self, job: WorkerJob) -> None:
        if job.version != __version__:
            raise RagstoneError(f"it has ragstone {__version__}, and the driver {job.version}; install the same")  # fmt: skip
        # before the metrics are resolved: they may be defined in the user's modules
        sys.path[:0] = [folder for folder in job.code_folders if folder not in sys.path]
        self._judge: Judge | None = None
        if job.judge is not None:
            from ragstone.judges.factory import make_judge

            self._judge = make_judge(dict(job.judge), missing_keys=[])
        self.runner = ShardRunner(
            resolve_metrics(job.metrics), self._judge, job.shape, job.language
        )
        self.lock = threading.Lock()
        """Held while it works: Dask may call from several threads, and one judge keeps a processor busy."""
        self.loop = asyncio.Runner()

    async def answer(self, questions: Questions) -> list[Answered]:
        """Answer Asks, in order."""
        assert self._judge is not None
        judge = self._judge
        for index in questions.path:
            judge = list_members(judge)[index]
        return await judge.answer(questions.asks)

    def close(self) -> None:
        """Close the judge and the loop."""
        if self._judge is not None:
            self.loop.run(self._judge.close())
        self.loop.close()


# Token of a run → its session. Module state, because Dask calls functions, and a model must be
# loaded once.
_sessions: dict[str, WorkerSession] = {}
_sessions_lock = threading.Lock()


def _run_in_session(
    job: WorkerJob, start: Callable[[WorkerSession], Coroutine[Any, Any, Any]]
) -> Any:
    try:
        session = _get_session(job)
    except RagstoneError as wrong:
        from distributed import get_worker

        return Refusal(f"{get_worker().address!r}: {wrong}")
    with session.lock:
        try:
            with relax_garbage_collection():
                return session.loop.run(start(session))
        finally:
            if job.token not in _sessions:  # its run ended meanwhile
                session.close()


def _get_session(job: WorkerJob) -> WorkerSession:
    with _sessions_lock:
        session = _sessions.get(job.token)
        if session is None:
            idle = [token for token, other in _sessions.items() if not other.lock.locked()]
            for token in idle[: len(_sessions) + 1 - MAX_SESSIONS]:
                _sessions.pop(token).close()
            session = _sessions[job.token] = WorkerSession(job)
        return session


async def close_session(token: str) -> None:
    """Release what this worker holds for a run that is over; one that still works is closed when it is done."""
    with _sessions_lock:
        session = _sessions.pop(token, None)
    if session is not None and session.lock.acquire(blocking=False):
        await asyncio.to_thread(session.close)


def list_members(judge: Judge) -> Sequence[Judge]:
    """The judges that a jury or a cascade asks, in order; empty for any other."""
    members: Sequence[Judge] = getattr(judge, "members", ())
    first, second = getattr(judge, "first", None), getattr(judge, "second", None)
    return (first, second) if first is not None and second is not None else members
