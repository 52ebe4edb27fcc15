"""The wheel: builds, holds every file of the package and nothing else, and runs where only it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip(
        "hatchling", reason="the build backend is not installed: pip install hatchling"
    )
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(ROOT),
        "--no-deps",
        "-q",
        "-w",
        str(folder),
    ]
    done = subprocess.run([*command, "--no-build-isolation"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def list_sources() -> set[str]:
    tracked = subprocess.run(
        ["git", "ls-files", "src/ragstone"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {line.removeprefix("src/") for line in tracked.stdout.splitlines()}


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= list_sources()
    others = {name for name in names if not name.startswith("ragstone/")}
    assert all(".dist-info/" in name for name in others), others
    assert not [name for name in names if name.endswith((".pyc", ".db"))]


@pytest.mark.slow
def test_the_metadata_is_what_an_index_takes(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (place,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    fields = message_from_bytes(archive.read(place))
    assert fields["Name"] == "ragstone"
    assert fields["Requires-Python"] == ">=3.11"
    assert fields["Description-Content-Type"] == "text/markdown"
    assert fields["License-Expression"] == "Apache-2.0"
    extras = fields.get_all("Provides-Extra")
    assert extras is not None
    assert {"parquet", "postgres", "local"} <= set(extras)


@pytest.mark.slow
def test_it_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    rows = '{"question": "Who?", "answer": "It was Ada.", "contexts": ["It was Ada."]}\n'
    (tmp_path / "answers.jsonl").write_text(rows)
    places = {"PYTHONPATH": str(tmp_path / "installed"), "RAGSTONE_STORE": str(tmp_path / "s.db")}
    where = "import ragstone; print(ragstone.__file__)"
    for command in (
        ["-c", where],
        ["-m", "ragstone", "eval", "answers.jsonl", "-m", "faithfulness", "-o", "r.html"],
        ["-m", "ragstone", "--help"],
        ["-m", "ragstone", "demo", "--lang", "es"],
    ):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env={**os.environ, **places}, capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        if command[-1] == where:
            assert done.stdout.startswith(str(tmp_path)), done.stdout
    assert (tmp_path / "r.html").stat().st_size > 10_000
