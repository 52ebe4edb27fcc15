"""What macOS and Windows lack, taken away: modules and functions of POSIX, and consoles without UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone import scale
from ragstone.errors import RagstoneError

WITHOUT_POSIX = """
import os, signal, sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "readline", "syslog"):
            raise ImportError(name)

sys.meta_path.insert(0, Lacking())
for module in ("fcntl", "resource", "pwd", "grp", "termios", "tty"):
    sys.modules.pop(module, None)
for owner, names in (
    (os, "fork register_at_fork sched_getaffinity killpg geteuid setsid fchmod chown getpgid"),
    (signal, "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGCHLD SIGQUIT SIGPIPE pthread_sigmask alarm setitimer"),
):
    for name in names.split():
        if hasattr(owner, name):
            delattr(owner, name)
"""
ROW = {
    "id": "1",
    "question": "What is it?",
    "answer": "A café → ½ good.",
    "contexts": ["A café."],
}


def run(code: str, folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, capture_output=True, env={**os.environ, "PYTHONUTF8": "0", **env},
    )  # fmt: skip


COMMAND = "from ragstone.cli import main; import sys; main(sys.argv[1:])"


def test_ragstone_is_imported_without_posix(tmp_path: Path) -> None:
    done = run(f"{WITHOUT_POSIX}\nimport ragstone; print(ragstone.__version__)", tmp_path)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "rows.jsonl", "--store", "s.db", "-o", "page.html"],
        ["doctor", "--store", "s.db"],
        ["monitor", "status", "--store", "s.db"],
    ],
)
def test_commands_run_without_posix(arguments: list[str], tmp_path: Path) -> None:
    done = run(f"{WITHOUT_POSIX}\n{COMMAND}", tmp_path, *arguments)
    assert b"a fault in ragstone" not in done.stderr, done.stderr.decode()
    assert done.returncode in (0, 2), done.stderr.decode()  # 2: the monitor has no interactions yet


def test_interactions_are_logged_without_file_locks(tmp_path: Path) -> None:
    code = """
from ragstone import Monitor
with Monitor("s.db") as monitor:
    monitor.log(question="When?", answer="At nine.", contexts=["It opens at nine."])
from ragstone.monitor import Archive
from ragstone.store import Store
print(len(list(Archive(Store.open("s.db")).interactions())))
"""
    done = run(WITHOUT_POSIX + code, tmp_path)
    assert done.stdout.split() == [b"1"], done.stderr.decode()


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
@pytest.mark.parametrize(
    "arguments", [["doctor"], ["metrics"], ["eval", "rows.jsonl", "--store", ":memory:"]]
)
def test_a_console_without_the_signs_shows_others(
    encoding: str, arguments: list[str], tmp_path: Path
) -> None:
    done = run(COMMAND, tmp_path, *arguments, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr.decode(encoding, "replace")


def test_a_sign_that_a_console_lacks_is_spelt_out(tmp_path: Path) -> None:
    done = run(COMMAND, tmp_path, "doctor", PYTHONIOENCODING="cp1252")
    assert done.stdout.decode("cp1252").startswith("+ ragstone")


def test_worker_processes_elsewhere_than_on_linux_are_refused_with_what_to_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(RagstoneError, match=r"need Linux; use --on dask"):
        scale.choose_worker_count(2, None, 10_000, None)
    assert scale.choose_worker_count(None, None, 10**7, 10**10) == 1
