"""A cluster of two machines: network namespaces with a cable between them, and TLS on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import ragstone
from dask_cluster import SILENT, kept, rows, written
from ragstone.experiments.run import Run
from waiting import wait_until

pytest.importorskip("distributed")

HOSTS = {"a": "10.79.13.1", "b": "10.79.13.2"}


@contextmanager
def two_machines() -> Iterator[dict[str, list[str]]]:
    """The words before a command that make it run on machine `a` or `b`."""
    names = {machine: f"ragstone-{machine}-{os.getpid()}" for machine in HOSTS}
    with ExitStack() as undo:
        for name in names.values():
            added = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
            if added.returncode:
                pytest.skip(f"no network namespaces here: {added.stderr.strip()}")
            undo.callback(subprocess.run, ["ip", "netns", "del", name], check=True)
        ends = [word for machine, name in names.items() for word in (machine, "netns", name)]
        cable = ["link", "add", "name", *ends[:3], "type", "veth", "peer", "name", *ends[3:]]
        subprocess.run(["ip", *cable], check=True)
        for machine, host in HOSTS.items():
            for words in (
                ["addr", "add", f"{host}/24", "dev", machine],
                ["link", "set", "dev", machine, "up"],
                ["link", "set", "dev", "lo", "up"],
            ):
                subprocess.run(["ip", "-n", names[machine], *words], check=True)
        yield {machine: ["ip", "netns", "exec", name] for machine, name in names.items()}


@pytest.mark.slow
@pytest.mark.skipif(
    not shutil.which("ip") or getattr(os, "geteuid", lambda: 1)() != 0,
    reason="needs the rights to make network namespaces",
)
def test_two_machines_give_what_one_process_gives(tmp_path: Path) -> None:
    path = written(tmp_path / "data.jsonl", rows(400))
    where = tmp_path / "where"
    where.mkdir()
    (tmp_path / "seen.py").write_text(
        "import os\ndef seen(answer: str) -> float:\n    'Notes on which machine it was called.'\n"
        f"    name = os.readlink('/proc/self/ns/net')\n    open(os.path.join({str(where)!r}, name), 'w').close()\n"
        "    return len(answer) / 100\n"
    )
    certificates = [sys.executable, "-m", "ragstone", "slurm", "certificates", str(tmp_path)]
    subprocess.run(certificates, check=True)
    environment = {**os.environ, "DASK_CONFIG": str(tmp_path / "dask.yaml")}
    dask, file = Path(sys.executable).parent / "dask", tmp_path / "scheduler.json"
    metrics = [f"{tmp_path / 'seen.py'}:seen", "faithfulness"]
    with two_machines() as on, ExitStack() as running:

        def start(machine: str, *words: str) -> None:
            process = subprocess.Popen(
                [*on[machine], str(dask), *words, "--no-dashboard"], env=environment, **SILENT
            )
            running.callback(process.wait)
            running.callback(process.terminate)

        start("a", "scheduler", "--host", HOSTS["a"], "--protocol", "tls", "--port", "8786",
              "--scheduler-file", str(file))  # fmt: skip
        wait_until(file.exists, "the scheduler has written its file")
        for machine, host in HOSTS.items():
            start(machine, "worker", f"tls://{HOSTS['a']}:8786", "--host", host, "--nthreads", "1")
        done = subprocess.run(
            [*on["a"], sys.executable, "-m", "ragstone", "eval", path, "-m", ",".join(metrics),
             "--judge", "offline", "--store", str(tmp_path / "far.db"), "--run", "r",
             "--on", f"dask://{HOSTS['a']}:8786"],
            env={**environment, "RAGSTONE_WORKERS": "2"}, capture_output=True, text=True, timeout=200,
        )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    assert len(list(where.iterdir())) == 2
    alone = ragstone.evaluate(
        path, metrics, judge="offline", store=tmp_path / "alone.db", workers=1
    )
    assert kept(Run.open("r", store=tmp_path / "far.db")) == kept(alone)
