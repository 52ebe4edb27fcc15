"""What the viewer's handlers share: the store, summaries of its runs, and the thread that makes what its pages filter by."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from aiohttp import web

from ragstone.errors import RagstoneError
from ragstone.report.view.catalogue import NO_NOTES, RunEntry, load_entries
from ragstone.report.view.review_pane import MAX_OTHER_RUNS
from ragstone.report.view.run_samples import RunSamples, has_same_ids
from ragstone.report.view.summaries import SummaryShelf
from ragstone.report.view.traits import find_stamp, write_traits
from ragstone.server.label_desk import LabelDesk
from ragstone.store import Store, StoredRun
from ragstone.store.experiments import load_trials
from ragstone.store.run_notes import load_run_notes

AT_ONCE_SECONDS = 0.4
"""Time that a list of runs may spend on summing up runs before it is shown without their figures."""


AT_ONCE_WAIT_SECONDS = 0.5
"""How long a page waits for the traits of a run before it is shown without them."""


@dataclass(slots=True)
class TraitsJob:
    """A run whose traits are being written."""

    total: int
    done: int = 0
    is_finished: threading.Event = field(default_factory=threading.Event)
    fault: RagstoneError | None = None


class ViewState:
    """The viewer of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.shelf = SummaryShelf(store)
        self.desk = LabelDesk()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="ragstone-view")
        self._lock = threading.Lock()
        self._summing: set[str] = set()
        self._jobs: dict[tuple[str, int], TraitsJob] = {}
        """Run and stamp → the job that writes the traits of that state of the run."""
        self._aligned: dict[tuple[str, int, str, int], bool] = {}
        """Two runs with their numbers of samples → whether they have the same ids in the same order."""
        self._is_closing = False

    def close(self) -> None:
        """Stop reading in the background."""
        self._is_closing = True
        self._worker.shutdown(wait=True, cancel_futures=True)

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

    def find_in_other_runs(self, entry: RunEntry, sample: str) -> list[tuple[StoredRun, int]]:
        """Other runs of the data set that have a sample of this id, newest first, with its position in each."""
        found = []
        for info in self.store.runs():
            if info.id == entry.info.id or (info.facts.source or info.source) != entry.data:
                continue
            at = self.store.find_positions(info.id, [sample]).get(sample)
            if at is not None:
                found.append((StoredRun(self.store, info), at))
            if len(found) == MAX_OTHER_RUNS:
                break
        return found

    def open_samples(
        self, entry: RunEntry, peers: Sequence[RunEntry] = (), *, is_baseline: bool = False
    ) -> tuple[RunSamples, TraitsJob | None]:
        """The samples of a run beside other runs, and the job that is writing what they can be filtered by, if one is."""
        job = self._start_job(entry)
        for peer in peers:  # their failure classes are shown; nobody waits for them
            self._start_job(peer)
        if job is not None:
            job.is_finished.wait(AT_ONCE_WAIT_SECONDS)
            if job.is_finished.is_set() and not job.fault:
                job = None
        is_aligned = all(self._has_same_ids(entry, peer) for peer in peers)
        others = [peer.run for peer in peers]
        return RunSamples(entry.run, others, is_aligned=is_aligned, is_baseline=is_baseline), job

    def _start_job(self, entry: RunEntry) -> TraitsJob | None:
        """The job that writes the traits of a run, unless they are there."""
        # an unfinished run is read anew when it has grown
        stamp = -entry.run.count() if entry.is_partial else entry.notes.finished
        if find_stamp(entry.run) == stamp:
            return None
        key = (entry.run.id, stamp)
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = TraitsJob(entry.run.count())
                self._worker.submit(self._write_traits, entry, stamp, job)
        return job

    def _has_same_ids(self, entry: RunEntry, peer: RunEntry) -> bool:
        key = (entry.info.id, entry.run.count(), peer.info.id, peer.run.count())
        if key not in self._aligned:
            self._aligned[key] = has_same_ids(entry.run, peer.run)
        return self._aligned[key]

    def _write_traits(self, entry: RunEntry, stamp: int, job: TraitsJob) -> None:
        try:
            write_traits(entry.run, stamp, partial(self._advance, job))
        except RagstoneError as fault:  # a store that cannot be written: the page says so
            job.fault = fault
        finally:
            job.is_finished.set()
            if job.fault is None:
                with self._lock:
                    self._jobs.pop((entry.run.id, stamp), None)

    def _advance(self, job: TraitsJob, done: int) -> bool:
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


VIEW_STATE = web.AppKey("view", ViewState)
