"""A throw-away PostgreSQL cluster on a socket of its own."""

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


@contextmanager
def cluster() -> Iterator[str]:
    """A running cluster; the URL of its `postgres` database without the database's name."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    tools = programs()
    assert tools is not None

    def run(*words: str) -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder, **as_user)

    data = str(folder / "data")
    run(str(tools / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")  # fmt: skip
    options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
    control = str(tools / "pg_ctl")
    run(control, "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
    try:
        yield f"postgresql://postgres@/{{}}?host={folder}"
    finally:
        run(control, "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
