"""The example notebook: executed in a real kernel, whose event loop is running; what it shows is what people see."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "notebook.ipynb"


def execute(notebook: Any, folder: Path) -> None:
    """Run every cell in a kernel of this Python."""
    nbclient, manager = pytest.importorskip("nbclient"), pytest.importorskip("jupyter_client")
    pytest.importorskip("ipykernel")
    kernel = manager.AsyncKernelManager(kernel_name="python3")
    # the kernel of this environment, whichever are installed for the user
    kernel.kernel_spec.argv[0] = sys.executable
    client = nbclient.NotebookClient(
        notebook, km=kernel, timeout=600, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**os.environ, "RAGSTONE_STORE": str(folder / "store.db")})


def collect_outputs(notebook: Any, kind: str) -> list[str]:
    return [
        output["data"][kind]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if kind in output.get("data", {})
    ]


@pytest.mark.slow
def test_the_example_runs_and_shows_tables(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(EXAMPLE, as_version=4)
    kept = collect_outputs(notebook, "text/html")
    execute(notebook, tmp_path)
    shown = collect_outputs(notebook, "text/html")
    tables = [text for text in shown if "ragstone-summary" in text]
    assert len(tables) == 4  # run, comparison, diagnosis, benchmark
    for part, text in zip(("faithfulness", "version 1", "retriev", "keyword"), tables, strict=True):
        assert part in text
    # the file is kept with its outputs, for those who only look at it
    assert len([text for text in kept if "ragstone-summary" in text]) == 4
    printed = [o["text"] for c in notebook.cells for o in c.get("outputs", ()) if "text" in o]
    assert any("Scored/appl./all" in text for text in printed)  # print(run) prints


@pytest.mark.slow
def test_a_long_run_shows_one_progress_bar_that_reaches_its_end(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    source = """
import time
from ragstone import Score, evaluate, metric

@metric
def slow(answer: str) -> Score:
    time.sleep(0.05)
    return Score(1.0)

run = evaluate([{"question": "?", "answer": str(n)} for n in range(64)], [slow], store=":memory:")
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    execute(notebook, tmp_path)
    bars = [text for text in collect_outputs(notebook, "text/html") if "<progress" in text]
    assert len(bars) == 1  # updated in place
    assert "64 of 64 samples scored" in bars[0]
