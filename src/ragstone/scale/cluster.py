"""A Dask cluster: one of this machine's processes, or one that is running already."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from ragstone._version import __version__
from ragstone.asks import Answered
from ragstone.errors import ClusterError, MissingExtra
from ragstone.judges.local.gguf import count_processors
from ragstone.judges.secrets import is_loopback
from ragstone.scale.batches import Batch
from ragstone.scale.pools import WorkerDied
from ragstone.scale.shards import ShardResult
from ragstone.scale.worker import (
    Questions,
    Refusal,
    WorkerJob,
    answer_questions,
    close_session,
    score_shard,
)

LOCATION_FORMS = "dask, dask:WORKERS, dask://HOST:PORT, tls://HOST:PORT, tcp://HOST:PORT, or the scheduler's file.json"

CONNECT_SECONDS = 20


WORKERS_VARIABLE = "RAGSTONE_WORKERS"
"""Says how many workers a launcher starts: all of them are waited for."""

QUIET_DASK_SETTINGS: Mapping[str, Any] = {
    # looks at every thread's stack a hundred times a second
    "distributed.worker.profile.enabled": False,
    # fifty times a second each part would take the interpreter from the judge to see how long that takes
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    # would give memory back to the system after each computation, which then asks for it again
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}
"""Dask's self-monitoring turned down: it costs a worker about a fifth of its time."""

LOCAL_CLUSTER_SETTINGS: Mapping[str, Any] = {
    # a batch that kills its worker is halved at once instead of killing three more
    "distributed.scheduler.allowed-failures": 0,
    # a worker that is down at the wrong moment would be given up for good after 15 s
    "distributed.deploy.lost-worker-timeout": "1d",
    "distributed.logging.distributed": "critical",
}
"""Settings of a local cluster, which nobody else uses."""


def format_exports(settings: Mapping[str, Any]) -> list[str]:
    """Settings of Dask as `export` lines of a shell script, for schedulers and workers that a launcher starts."""
    lines = []
    for key, value in settings.items():
        parent, _, last = key.rpartition(".")
        # Dask turns names from the environment into small letters: a key with capitals goes into
        # the value instead, as a dict that Dask parses
        if last != last.lower():
            key, value = parent, {last: value}
        name = key.upper().replace(".", "__").replace("-", "_")
        lines.append(f'export DASK_{name}="{value}"')
    return lines


def parse_location(on: str) -> int | str:
    """What `--on` names: how many workers to start on this machine, or the address of a running scheduler."""
    scheme, separator, rest = on.partition("://")
    if separator:
        if scheme not in ("dask", "tcp", "tls") or not rest.rpartition(":")[2].isdecimal():
            raise ClusterError(f"no cluster at {on!r}; write {LOCATION_FORMS}")
        if scheme == "dask":  # encrypted by default, except on the loopback of this machine
            scheme = "tcp" if _is_this_machine(rest.rpartition(":")[0]) else "tls"
        return f"{scheme}://{rest}"
    if on == "dask" or on.startswith("dask:"):
        count = on.partition(":")[2] or str(count_processors())
        if not count.isdecimal() or int(count) < 1:
            raise ClusterError(f"{on!r} names no number of workers; write dask:4")
        return int(count)
    if not on.endswith(".json"):
        raise ClusterError(f"{on!r} is no place to work on; write {LOCATION_FORMS}")
    if not Path(on).is_file():
        raise ClusterError(f"there is no scheduler file {on!r}; `dask scheduler` writes one")
    try:
        return str(json.loads(Path(on).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ClusterError(
            f"{on!r} is not a file that `dask scheduler --scheduler-file` wrote"
        ) from None


def _is_this_machine(host: str) -> bool:
    """Whether a host is this machine; a name is looked up, since a cluster names its machines."""
    try:
        return is_loopback(host) or is_loopback(socket.gethostbyname(host.strip("[]")))
    except OSError:
        return False


class DaskPool:
    """The workers of a cluster, for one run."""

    batch_seconds = 2.0

    def __init__(self, client: Any, job: WorkerJob) -> None:
        self._client = client
        self._job = job
        self.size = 0

    async def score(self, batch: Batch) -> ShardResult:
        """Score a batch on one of the workers."""
        result: ShardResult = await self._run(score_shard, batch)
        return result

    async def answer(self, questions: Questions) -> list[Answered]:
        """Put questions to the judge of one of the workers."""
        answers: list[Answered] = await self._run(answer_questions, questions)
        return answers

    async def _run(self, function: Callable[..., Any], work: Batch | Questions) -> Any:
        from distributed import KilledWorker

        # pure=False: Dask would otherwise answer an equal call from its cache
        future = self._client.submit(function, self._job, work, pure=False)
        try:
            result = await future
        except KilledWorker:
            raise WorkerDied from None
        except FutureCancelled:  # by nobody here: the client has lost its scheduler and given up
            raise ClusterError(
                f"the scheduler at {self._client.scheduler.address!r} is gone; what came back is kept, "
                "resume with --resume when there is one again"
            ) from None
        except Exception as raised:
            raise ClusterError(
                f"a worker raised {type(raised).__name__}: {raised}; is the same ragstone "
                f"({__version__}) installed on all of them, with the extra `dask`?"
            ) from raised
        finally:
            # else Dask would keep the result in the memory of the worker
            future.release()
        if isinstance(result, Refusal):
            raise ClusterError(f"on the worker at {result.reason}")
        return result

    async def count_workers(self) -> None:
        """Ask the scheduler how many workers there are."""
        self.size = len(await self._client.scheduler.ncores())

    async def watch_workers(self) -> None:
        """Keep `size` up to date."""
        while True:
            await asyncio.sleep(1)
            # a scheduler that is gone is reported by `_run`
            with suppress(OSError):
                await self.count_workers()

    async def close(self) -> None:
        """Release what the workers hold for this run; one that cannot be reached has nothing left."""
        with suppress(OSError, TimeoutError):
            await self._client.run(close_session, self._job.token, on_error="ignore")


def lift_message_limit() -> None:
    """Let this process receive messages of any size.

    Dask allows half of what RLIMIT_RSS says, which Linux does not enforce and which Slurm sets to a megabyte where a
    cluster's nodes declare no memory: a longer message would end the connection."""
    from distributed.comm import tcp

    tcp.MAX_BUFFER_SIZE = max(tcp.MAX_BUFFER_SIZE, 1 << 34)


@asynccontextmanager
async def open_cluster(on: str, job: WorkerJob) -> AsyncIterator[DaskPool]:
    """The workers of the cluster that `--on` names, once they are there."""
    try:
        import dask
        import distributed
    except ImportError:
        raise MissingExtra("working on a cluster", "dask") from None
    lift_message_limit()
    where = parse_location(on)
    is_ours = isinstance(where, int)
    async with AsyncExitStack() as stack:
        stack.enter_context(
            dask.config.set({**QUIET_DASK_SETTINGS, **(LOCAL_CLUSTER_SETTINGS if is_ours else {})})
        )
        if isinstance(where, int):
            cluster = await stack.enter_async_context(_start_local_cluster(distributed, where))
            client = await stack.enter_async_context(distributed.Client(cluster, asynchronous=True))
            expected = where
        else:
            stack.enter_context(_silence_loggers("distributed.client", "distributed.core"))
            client = await stack.enter_async_context(_connect(distributed, where, on))
            expected = int(os.environ.get(WORKERS_VARIABLE, "1"))
        # after a minute the run starts with the workers that are there
        with suppress(TimeoutError):
            await client.wait_for_workers(expected, timeout=60)
        pool = DaskPool(client, job)
        await pool.count_workers()
        if not pool.size:
            raise ClusterError(f"no worker has joined {on!r}; start `dask worker`")
        stack.push_async_callback(pool.close)
        watching = asyncio.create_task(pool.watch_workers())
        stack.callback(watching.cancel)
        yield pool


@asynccontextmanager
async def _connect(distributed: Any, address: str, on: str) -> AsyncIterator[Any]:
    """A client of a scheduler that is running."""
    security = distributed.Security()
    is_tls = address.startswith("tls://")
    if is_tls and security.get_connection_args("client").get("ssl_context") is None:
        raise ClusterError(
            f"there are no certificates to reach {address!r} with; set them in Dask's config "
            "(distributed.comm.tls), or say tcp:// if the line need not be encrypted"
        )
    client = distributed.Client(address, asynchronous=True, timeout=CONNECT_SECONDS)
    try:
        try:
            # a second limit besides the client's: for something that listens there and is no
            # scheduler, the client waits without end
            await asyncio.wait_for(client, 2 * CONNECT_SECONDS)
        # what is no scheduler may answer anything, which Dask fails on in many ways
        except (OSError, TimeoutError, TypeError, ValueError, RuntimeError) as broken:
            reason = str(broken).splitlines()[0] if str(broken) else "what is there is no scheduler"
            origin = f" (from {on!r})" if on.endswith(".json") else ""
            raise ClusterError(f"no scheduler answers at {address!r}{origin}: {reason}") from None
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def _start_local_cluster(distributed: Any, workers: int) -> AsyncIterator[Any]:
    """A cluster of this machine's processes."""
    try:
        # other users of this machine reach loopback too
        security = distributed.Security.temporary()
    except ImportError:
        raise MissingExtra("a cluster that only you can talk to", "dask") from None
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        # Windows has no signal masks; workers there are not shielded from Ctrl-C
        worker_class=_build_nanny(distributed) if hasattr(signal, "pthread_sigmask") else None,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        # no limit: Dask would kill a worker that holds a large model
        memory_limit=0,
        asynchronous=True,
        silence_logs=logging.CRITICAL,
        security=security,
    )
    try:
        try:
            await cluster
        except (RuntimeError, OSError) as broken:
            raise ClusterError(f"no workers could be started here: {broken}") from None
        yield cluster
    finally:
        await cluster.close()


def _build_nanny(distributed: Any) -> Any:
    """A subclass of Dask's Nanny, which starts a worker process and restarts it when it dies."""

    class Nanny(distributed.Nanny):  # type: ignore[misc]
        async def instantiate(self) -> Any:
            # A terminal sends Ctrl-C to the workers too, but only the driver may handle it: it then stops them. A worker
            # inherits the blocked signal; the driver gets a Ctrl-C of this moment when the signal is unblocked.
            # The resource tracker is started first: starting with the worker, it would unblock the signal.
            if sys.platform == "win32":  # it can block no signal
                return await super().instantiate()
            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                return await super().instantiate()
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    return Nanny


@contextmanager
def _silence_loggers(*names: str) -> Iterator[None]:
    """Silence Dask's loggers for a while: our ClusterError says the same in one sentence."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
