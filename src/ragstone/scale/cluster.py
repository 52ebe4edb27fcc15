"""A Dask cluster to work on: one of this machine's processes, or one that is running already."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.errors import MissingExtra, RagstoneError

WAYS = "dask, dask:WORKERS, dask://HOST:PORT, tls://HOST:PORT, tcp://HOST:PORT, or the scheduler's file.json"

CONNECT_SECONDS = 20

INTERFACE = "RAGSTONE_INTERFACE"
"""Names the network by which workers reach the driver, where the default route is not it."""


class NoCluster(RagstoneError):
    """There is no cluster where the user says."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to work, as `--on` says."""

    workers: int | None = None
    """Of a cluster on this machine; None: of one that runs already."""
    address: str = ""
    file: str = ""


WORKERS = "RAGSTONE_WORKERS"
"""Says how many workers a launcher starts, so that none is missing when the judge's places are shared out."""

QUIET: Mapping[str, Any] = {
    # looks at every thread's stack a hundred times a second
    "distributed.worker.profile.enabled": False,
    # fifty times a second each part would take the interpreter from the judge to see how long that takes
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    # would give memory back to the system after each computation, which then asks for it again
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}
"""Dask's looks at itself, turned down: together they cost a worker about a fifth of its time."""


def exported(settings: Mapping[str, Any]) -> list[str]:
    """The same settings of Dask as lines of a shell script, for parts that others start."""
    lines = []
    for key, value in settings.items():
        place, _, last = key.rpartition(".")
        if last != last.lower():  # Dask reads names from the environment in small letters
            key, value = place, {last: value}
        name = key.upper().replace(".", "__").replace("-", "_")
        lines.append(f'export DASK_{name}="{value}"')
    return lines


def place(on: str) -> Place:
    """What `--on` names, checked before anything is started."""
    scheme, separator, rest = on.partition("://")
    if separator:
        if scheme not in ("dask", "tcp", "tls") or ":" not in rest:
            raise NoCluster(f"no cluster at {on!r}; write {WAYS}")
        if scheme == "dask":  # encrypted by default, but for this machine's own loopback
            scheme = "tcp" if _loopback(rest.rpartition(":")[0]) else "tls"
        return Place(address=f"{scheme}://{rest}")
    if on == "dask" or on.startswith("dask:"):
        count = on.partition(":")[2] or str(len(os.sched_getaffinity(0)))
        if not count.isdecimal() or int(count) < 1:
            raise NoCluster(f"{on!r} names no number of workers; write dask:4")
        return Place(workers=int(count))
    if on.endswith(".json"):
        if not Path(on).is_file():
            raise NoCluster(f"there is no scheduler file {on!r}; `dask scheduler` writes one")
        return Place(file=on)
    raise NoCluster(f"{on!r} is no place to work on; write {WAYS}")


@asynccontextmanager
async def connected(where: Place, threads: int) -> AsyncIterator[Any]:
    """A Dask client of that cluster; one of our own is started, and stopped afterwards."""
    try:
        import dask
        import distributed
    except ImportError:
        raise MissingExtra("working on a cluster", "dask") from None
    if where.workers is None:
        with dask.config.set(QUIET):
            async with _client(distributed, where) as client:
                yield client
        return
    settings: Mapping[str, Any] = {
        # a piece that kills its worker is halved at once instead of killing three more
        "distributed.scheduler.allowed-failures": 0,
        # a worker that is down at the wrong moment would be given up for good after 15 s
        "distributed.deploy.lost-worker-timeout": "1d",
        "distributed.logging.distributed": "critical",
    }
    with dask.config.set({**QUIET, **settings}):
        async with (
            distributed.LocalCluster(
                n_workers=where.workers,
                threads_per_worker=threads,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
                asynchronous=True,
                silence_logs=50,
                # other users of this machine reach loopback too
                security=_own_certificates(),
            ) as cluster,
            distributed.Client(cluster, asynchronous=True) as client,
        ):
            yield client


def _own_certificates() -> Any:
    """Certificates for one cluster, known to its own processes only."""
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError:
        raise MissingExtra("a cluster that only you can talk to", "dask") from None


@asynccontextmanager
async def _client(distributed: Any, where: Place) -> AsyncIterator[Any]:
    named = where.address or where.file
    options = {"scheduler_file": where.file} if where.file else {"address": where.address}
    try:
        client = await distributed.Client(asynchronous=True, timeout=CONNECT_SECONDS, **options)
    except (OSError, TypeError, ValueError, RuntimeError) as broken:
        said = str(broken).splitlines()[0] if str(broken) else type(broken).__name__
        hint = ""
        if where.address.startswith("tls://"):
            hint = " (off this machine the line is encrypted: give Dask its certificates, or say tcp:// to do without)"
        raise NoCluster(f"no scheduler answers at {named!r}: {said}{hint}") from None
    try:
        yield client
    finally:
        await client.close()


def workers_expected(where: Place) -> int:
    """How many workers to wait for: all of our own, or as many as a launcher says it starts."""
    named = os.environ.get(WORKERS, "")
    return where.workers or (int(named) if named.isdecimal() else 1)


def host_for(client: Any) -> str:
    """The address of this machine as the cluster's workers see it."""
    from distributed.comm import get_address_host
    from distributed.utils import get_ip

    interface = os.environ.get(INTERFACE)
    if interface:
        from distributed.utils import get_ip_interface

        return str(get_ip_interface(interface))
    scheduler = get_address_host(client.scheduler.address)
    return "127.0.0.1" if _loopback(scheduler) else get_ip(scheduler)


def _loopback(host: str) -> bool:
    host = host.strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        try:
            return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
        except OSError:
            return False
