"""A PostgreSQL cluster on a socket of its own: thrown away, or kept in a folder for another time."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def programs() -> Path | None:
    """The folder of the server's programs, if it is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if found:
        return found[0]
    named = shutil.which("pg_ctl")
    return Path(named).parent if named else None


class Cluster:
    """The files of a cluster, and the programs that start and stop its server."""

    def __init__(self, folder: Path) -> None:
        tools = programs()
        assert tools is not None
        self.folder = folder
        self.url = f"postgresql://postgres@/{{}}?host={folder}"
        """Of a database; format it with the database's name."""
        self._tools = tools
        self._data = str(folder / "data")
        self._as_user: dict[str, Any] = {}
        folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:  # the server refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            self._as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        if not Path(self._data).exists():
            self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")  # fmt: skip

    def start(self) -> None:
        """Start the server; it is there when this returns."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "-w", "-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self, how: str = "immediate") -> None:
        """Stop the server: `immediate` as a power failure would, `fast` in good order."""
        self._run("pg_ctl", "-m", how, "stop")

    def _run(self, program: str, *words: str) -> None:
        command = [str(self._tools / program), "-D", self._data, *words]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **self._as_user
        )


@contextmanager
def cluster(kept: Path | None = None) -> Iterator[str]:
    """A running cluster, thrown away afterwards unless a folder to keep it in is given; the URL without the database's name."""
    one = Cluster(kept or Path(tempfile.mkdtemp(prefix="pg-")))
    one.start()
    try:
        yield one.url
    finally:
        one.stop("fast" if kept else "immediate")
        if kept is None:
            shutil.rmtree(one.folder, ignore_errors=True)
