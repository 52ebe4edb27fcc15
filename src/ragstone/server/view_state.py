"""What the viewer's handlers share: the store, summaries and indexes of its runs, and the thread that makes them."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import web

from ragstone.errors import RagstoneError
from ragstone.report.view.catalogue import NO_NOTES, RunEntry, load_entries
from ragstone.report.view.index import RunIndex
from ragstone.report.view.index_builder import build_index
from ragstone.report.view.sample_page import MAX_OTHER_RUNS
from ragstone.report.view.summaries import SummaryShelf
from ragstone.server.label_desk import LabelDesk
from ragstone.store import Store, StoredRun
from ragstone.store.experiments import load_trials
from ragstone.store.run_notes import load_run_notes
from ragstone.store.store import INDEX_ENDING

AT_ONCE_SECONDS = 0.4
"""Time that a list of runs may spend on summing up runs before it is shown without their figures."""


AT_ONCE_WAIT_SECONDS = 0.5
"""How long a page waits for an index before it shows the progress."""
MAX_OPEN_INDEXES = 4


@dataclass(slots=True)
class IndexJob:
    """A run whose index is being built."""

    total: int
    done: int = 0
    is_finished: threading.Event = field(default_factory=threading.Event)
    fault: Exception | None = None


class ViewState:
    """The viewer of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.shelf = SummaryShelf(store)
        self.desk = LabelDesk()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="ragstone-view")
        self._lock = threading.Lock()
        self._summing: set[str] = set()
        self._jobs: dict[str, IndexJob] = {}
        self._indexes: OrderedDict[str, RunIndex] = OrderedDict()
        """The last used one is the last."""
        self._is_closing = False

    def close(self) -> None:
        """Stop reading in the background."""
        self._is_closing = True
        self._worker.shutdown(wait=True, cancel_futures=True)
        for index in self._indexes.values():
            index.close()

    def load_entries(self) -> tuple[list[RunEntry], int]:
        """Every run, and how many of them are still to be summed up, which goes on in the background."""
        entries = load_entries(self.store, self.shelf, make=False)
        deadline = time.monotonic() + AT_ONCE_SECONDS
        whole, waiting = [], 0
        for entry in entries:
            # a run that is too large for the time left would hold up the page
            if entry.summary is None and time.monotonic() < deadline and self._is_small(entry):
                entry = RunEntry(entry.run, entry.notes, self.shelf.make(entry.run, entry.notes))
            if entry.summary is None:
                waiting += 1
                self._sum_up_later(entry)
            whole.append(entry)
        return whole, waiting

    def list_choices(self) -> list[RunEntry]:
        """The runs to choose from where one is to be compared or labelled."""
        return load_entries(self.store, self.shelf, make=False, left_out=load_trials(self.store))

    def open_bare_entry(self, run: StoredRun) -> RunEntry:
        """A run with its notes, without reading its scores."""
        return RunEntry(run, load_run_notes(self.store).get(run.id, NO_NOTES), None)

    def open_entry(self, run: StoredRun) -> RunEntry:
        """A run with its notes and its summary."""
        bare = self.open_bare_entry(run)
        return RunEntry(run, bare.notes, self.shelf.make(run, bare.notes))

    def find_in_other_runs(
        self, entry: RunEntry, sample: str, position: int
    ) -> list[tuple[StoredRun, int]]:
        """Other runs of the data set that have a sample of this id, newest first, with its position in each."""
        found = []
        for info in self.store.runs():
            if info.id == entry.info.id or (info.facts.source or info.source) != entry.data:
                continue
            with self._lock:
                index = self._indexes.get(info.id) or self._read_index(info.id)
            run = StoredRun(self.store, info)
            if index is not None:
                at = index.find_positions([sample]).get(sample)
            else:
                # a run that nobody opened yet has the same data, so most likely the sample at the same place
                at = position if _has_sample(run, position, sample) else None
            if at is not None:
                found.append((run, at))
            if len(found) == MAX_OTHER_RUNS:
                break
        return found

    def open_index(self, entry: RunEntry) -> RunIndex | IndexJob:
        """The index of a run, or the job that is building it, for a page that shows its progress."""
        stamp = get_index_stamp(entry)
        with self._lock:
            index = self._find_index(entry.run.id, stamp)
            if index is not None:
                return index
            job = self._jobs.get(entry.run.id)
            if job is None:
                job = self._jobs[entry.run.id] = IndexJob(entry.run.count())
                self._worker.submit(self._build, entry, stamp, job)
        if not job.is_finished.wait(AT_ONCE_WAIT_SECONDS):
            return job
        with self._lock:
            self._jobs.pop(entry.run.id, None)
            if job.fault is not None:
                raise job.fault
            return self._find_index(entry.run.id, None) or job

    def _find_index(self, run: str, stamp: int | None) -> RunIndex | None:
        """The open index of a run, or the one in its folder; with a stamp, only of that state of the run."""
        index = self._indexes.get(run) or self._read_index(run)
        if index is None:
            return None
        if stamp is not None and index.stamp != stamp:
            self._forget(run)
            return None
        self._indexes[run] = index
        self._indexes.move_to_end(run)
        while len(self._indexes) > MAX_OPEN_INDEXES:
            self._forget(next(iter(self._indexes)))
        return index

    def _forget(self, run: str) -> None:
        # not closed here: a page that was asked for before may still read it; it closes when it is collected
        self._indexes.pop(run, None)

    def _read_index(self, run: str) -> RunIndex | None:
        return RunIndex.open(self._get_folder(run), self.store.open_texts(run))

    def _get_folder(self, run: str) -> Path:
        return self.store.view_path(run, INDEX_ENDING)

    def _build(self, entry: RunEntry, stamp: int, job: IndexJob) -> None:
        try:
            build_index(
                entry.run, self._get_folder(entry.run.id), stamp, partial(self._advance, job)
            )
        except Exception as fault:  # raised again for whoever waits, see `open_index`
            job.fault = fault
        finally:
            job.is_finished.set()

    def _advance(self, job: IndexJob, done: int) -> bool:
        job.done = done
        return not self._is_closing

    def _is_small(self, entry: RunEntry) -> bool:
        return entry.run.count() <= 5000

    def _sum_up_later(self, entry: RunEntry) -> None:
        with self._lock:
            if entry.run.id in self._summing or self._is_closing:
                return
            self._summing.add(entry.run.id)
        self._worker.submit(self._sum_up, entry)

    def _sum_up(self, entry: RunEntry) -> None:
        try:
            if not self._is_closing:
                self.shelf.make(entry.run, entry.notes)
        except RagstoneError:
            # the store is gone for the moment: the next look at the page asks again
            return
        finally:
            with self._lock:
                self._summing.discard(entry.run.id)


def _has_sample(run: StoredRun, position: int, sample: str) -> bool:
    try:
        return run.row(position).id == sample
    except IndexError:
        return False


def get_index_stamp(entry: RunEntry) -> int:
    """Which state of the run an index must be of: an unfinished run is read anew when it has grown."""
    return -entry.run.count() if entry.is_partial else entry.notes.finished


VIEW_STATE = web.AppKey("view", ViewState)
