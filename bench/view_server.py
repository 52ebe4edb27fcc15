"""The viewer as its users meet it: a process that answers over HTTP, and a browser; and the report of a thousand samples.

    python -m bench.view                  first, which makes the run of 1,000,000 samples
    python -m bench.view_server           then

CPU is that of the server's process, so that a busy machine changes little; memory is its peak."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.view import MEMORY_MB, PAGE_KB, PAGE_MS, make_row
from ragstone.analysis.summary import summarise
from ragstone.report.formats import write_page
from ragstone.report.pages.run import RunPage
from ragstone.report.translator import load_translator
from ragstone.store import Store

TIMES = 5
"""Requests of each page that are averaged, after one that is not counted."""
INTERACTIVE_S, REPORT_MB, REPORT_NODES = 1.0, 3.0, 30_000
"""The bars."""
PAGES = {
    "first page": "review?run={run}",
    "sort by a metric": "review?run={run}&sort=token_f1&dir=down",
    "filter by range": "review?run={run}&range=faithfulness:0.2:0.4",
    "search a rare word": "review?run={run}&q=word4321",
    "search a word of every sample": "review?run={run}&q=what",
    "not labelled": "review?run={run}&is=labelled:no",
    "a sample": "review?run={run}&at=500",
    "runs": "runs",
}


@contextmanager
def start_viewer(store: Path) -> Iterator[tuple[str, int]]:
    """A viewer's address and process."""
    command = [sys.executable, "-m", "ragstone", "view", "--store", str(store), "--port", "0", "--no-browser"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            address = re.search(r"http://\S+?(?=/;)", said)
            assert address is not None, said
            yield address[0], process.pid
        finally:
            process.terminate()


def read_cpu(process: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_children_cpu() -> float:
    """Seconds of CPU of every process that this one has started: the server, the browser and what drives it."""
    parents = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # a process that has just ended
            if folder.name.isdigit():
                stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
                parents[int(folder.name)] = int(stat.rsplit(")", 1)[1].split()[1])
    own = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    total = 0.0
    for process in own - {os.getpid()}:
        with suppress(OSError):
            total += read_cpu(process)
    return total


def read_peak_mb(process: int) -> float:
    """The most memory that a process has held."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert peak is not None
    return int(peak[1]) / 1024


def fetch(url: str) -> bytes:
    """A page once it is there: the index of a run is waited for."""
    while True:
        with urllib.request.urlopen(url) as reply:
            body: bytes = reply.read()
        if b"<progress" not in body:
            return body
        time.sleep(1)


def measure_pages(address: str, process: int, run: str) -> None:
    """Print the CPU of the server for each page, the time of a request, and its weight."""
    for name, path in PAGES.items():
        url = f"{address}/{path.format(run=run)}"
        body = fetch(url)
        cpu, clock = read_cpu(process), time.perf_counter()
        for _ in range(TIMES):
            body = fetch(url)
        spent = (read_cpu(process) - cpu) / TIMES * 1000
        waited = (time.perf_counter() - clock) / TIMES * 1000
        print(f"{name:32} {spent:6.0f} ms CPU of the server, {waited:6.0f} ms on the clock (bar {PAGE_MS})  {len(body) / 1000:5.0f} kB (bar {PAGE_KB})")  # fmt: skip


def write_thousand(path: Path) -> None:
    """Write the report of a run of a thousand samples."""
    from ragstone import evaluate

    rows: list[Any] = [make_row(number)[0] for number in range(1, 1001)]
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "runs.db")
        run = evaluate(rows, ["faithfulness", "recall", "token_f1"], store=store).stored
        write_page(RunPage(load_translator("en"), run, summarise(run)), path)
        store.close()


def measure_browser(address: str, run: str, report: Path) -> None:
    """Print how soon pages can be used in Chromium, and how many nodes the report has."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        for name in ("first page", "a sample"):
            url = f"{address}/{PAGES[name].format(run=run)}"
            page.goto(url)
            cpu = read_children_cpu()
            page.goto(url)
            cpu = read_children_cpu() - cpu
            ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")  # fmt: skip
            print(f"{name}, interactive after {ready / 1000:.2f} s on the clock, {cpu:.2f} s CPU of server and browser (bar {INTERACTIVE_S})")  # fmt: skip
        page.goto(report.as_uri())
        page.locator("#list .sample").nth(150).wait_for()
        nodes = page.evaluate("document.querySelectorAll('*').length")
        print(f"report of 1,000 samples: {report.stat().st_size / 1e6:.2f} MB (bar {REPORT_MB}), {nodes:,} nodes (bar {REPORT_NODES:,})")  # fmt: skip
        browser.close()


def main() -> None:
    """Measure the pages of a store that `bench.view` has made."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--folder", default="bench-view")
    options = parser.parse_args()
    run, report = f"bench-{options.samples}", Path(options.folder) / "report.html"
    write_thousand(report.absolute())
    with start_viewer(Path(options.folder) / "runs.db") as (address, process):
        measure_pages(address, process, run)
        print(f"memory of the server at most {read_peak_mb(process):.0f} MB (bar {MEMORY_MB})")
        measure_browser(address, run, report.absolute())


if __name__ == "__main__":
    main()
