"""A real Slurm of two nodes on loopback, in a folder of its own, stopped afterwards."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "srun", "sinfo")

CONFIG = """\
ClusterName=t
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
KillWait=1
SlurmdTimeout=10
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={first} CPUs=2
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={second} CPUs=2
PartitionName=main Nodes=ALL Default=YES
"""


def missing() -> list[str]:
    """The programs of Slurm that are not there."""
    return [name for name in PROGRAMS if _program(name) is None]


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """The cluster; what its users need in their environment."""
    folder.chmod(0o711)
    (folder / "state").mkdir()
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o600)
    first, second, port = _free_ports(3)
    text = CONFIG.format(
        folder=folder, user=getpass.getuser(), port=port, first=first, second=second
    )
    (folder / "slurm.conf").write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    munge = [
        f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
        f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log",
        f"--seed-file={folder}/munge.seed", "--foreground", "--force",
    ]  # fmt: skip
    started = [subprocess.Popen([str(_program("munged")), *munge], **quiet)]  # type: ignore[call-overload]
    wait_until(lambda: (folder / "munge.socket").exists(), "Slurm comes up", every_seconds=0.1)
    for words in (
        ["slurmctld", "-D", "-c"],
        ["slurmd", "-D", "-N", "n1"],
        ["slurmd", "-D", "-N", "n2"],
    ):
        started.append(subprocess.Popen([str(_program(words[0])), *words[1:]], **quiet))  # type: ignore[call-overload]
    try:
        wait_until(lambda: _idle(environment) == 2, "Slurm comes up", every_seconds=0.1)
        yield {"SLURM_CONF": environment["SLURM_CONF"]}
    finally:
        subprocess.run(["scancel", "--state=RUNNING", f"--user={getpass.getuser()}"], **quiet)  # type: ignore[call-overload]
        subprocess.run(["scancel", "--state=PENDING", f"--user={getpass.getuser()}"], **quiet)  # type: ignore[call-overload]
        time.sleep(1)
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(20)


def _idle(environment: dict[str, str]) -> int:
    done = subprocess.run(
        ["sinfo", "-h", "-N", "-t", "idle", "-o", "%N"],
        capture_output=True,
        text=True,
        env=environment,
    )
    return len(done.stdout.split())


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
