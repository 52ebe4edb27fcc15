"""Summaries of runs, kept in the store so that a list of runs does not read all their scores.

A kept summary holds for a finished run as it was when its scores became complete; an unfinished run is summed up
anew when it has grown by a share that could change what is shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from ragstone.analysis.percentiles import Percentile
from ragstone.analysis.summary import MetricSummary, Summary, summarise
from ragstone.config.gates import check_gate, parse_gate
from ragstone.locale.messages import message_from_json, message_to_json
from ragstone.store import Store, StoredRun
from ragstone.store.rows import dump_json
from ragstone.store.run_notes import RunNotes
from ragstone.types import Usage

KEPT_VERSION = 2
"""Raise it when a field of a kept summary keeps its name and changes its meaning; new and lost fields are noticed by name."""
SUMMARY = "summary"
"""The name under which `run_derived` has it."""
MAX_WORST = 100
"""Positions of the worst samples that are kept; only a report wants more."""
GROWTH = 0.02
"""Share by which an unfinished run must have grown to be summed up anew."""


_SELECT = "SELECT body FROM run_derived WHERE run = ? AND name = ? AND stamp = ?"
_INSERT = (
    "INSERT INTO run_derived VALUES (?, ?, ?, ?) ON CONFLICT (run, name)"
    " DO UPDATE SET stamp = excluded.stamp, body = excluded.body"
)


class SummaryShelf:
    """The summaries of a store's runs, from memory, from the store or made from the scores."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._made: dict[str, tuple[int, Summary]] = {}
        """Run → stamp and summary; the stamp of an unfinished run is minus its number of samples."""

    def find(self, run: StoredRun, notes: RunNotes) -> Summary | None:
        """The summary if it is at hand; None when the scores would have to be read."""
        stamp = self._get_stamp(run, notes)
        with self._lock:
            made = self._made.get(run.id)
        if made is not None and _holds(made[0], stamp):
            return replace(made[1], run=run.info)
        if stamp < 0:
            return None
        kept = _load(run, stamp)
        if kept is not None:
            self._remember(run.id, stamp, kept)
        return kept

    def make(self, run: StoredRun, notes: RunNotes) -> Summary:
        """The summary, made from the scores where it is not at hand."""
        summary = self.find(run, notes)
        if summary is not None:
            return summary
        stamp = self._get_stamp(run, notes)
        plan = run.info.plan
        summary = summarise(run, floor=plan.floor, gates=plan.gates)
        self._remember(run.id, stamp, summary)
        if stamp >= 0:
            _save(run, summary, stamp)
        return summary

    def _get_stamp(self, run: StoredRun, notes: RunNotes) -> int:
        # runs of earlier versions have no time of completion; their scores no longer change
        return notes.finished if run.info.status == "done" else -run.count() - 1

    def _remember(self, run: str, stamp: int, summary: Summary) -> None:
        with self._lock:
            # positions of the worst samples are a thousand numbers a run, and only a report wants them
            self._made[run] = (stamp, replace(summary, worst=summary.worst[:MAX_WORST]))


def _holds(stamp: int, now: int) -> bool:
    if stamp >= 0 or now >= 0:
        return stamp == now
    return -now <= -stamp * (1 + GROWTH)


def _save(run: StoredRun, summary: Summary, stamp: int) -> None:
    body = {
        "form": _describe_form(),
        "samples": summary.samples,
        "worst": list(summary.worst[:MAX_WORST]),
        "metrics": [_to_json(metric) for metric in summary.metrics],
    }
    row = (run.store.find_number(run.id), SUMMARY, stamp, dump_json(body))
    # not waited for: a store that cannot be written now costs time, not the list, since the scores are read again
    run.store.write(lambda db: db.execute_many(_INSERT, [row]))


def _describe_form() -> list[int | str]:
    """What a kept summary is made of: one of another form is made anew."""
    kinds = (MetricSummary, Usage, Percentile)
    return [KEPT_VERSION, *(item.name for kind in kinds for item in fields(kind))]


def _load(run: StoredRun, stamp: int) -> Summary | None:
    rows = run.store.read(_SELECT, (run.store.find_number(run.id), SUMMARY, stamp))
    body = json.loads(rows[0][0]) if rows else {}
    if body.get("form") != _describe_form():
        return None
    metrics = tuple(_from_json(item) for item in body["metrics"])
    plan = run.info.plan
    by_name = {metric.metric: metric for metric in metrics}
    gates = tuple(
        check_gate(parse_gate(rule), by_name[name])
        for name, rule in plan.gates.items()
        if name in by_name
    )
    return Summary(run.info, metrics, plan.floor, gates, tuple(body["worst"]), body["samples"])


_COUNTS = ("outcomes", "reasons", "labels")
"""Fields whose keys may be messages, which JSON takes as no key."""
_TUPLES = ("bounds", "histogram", "edges")


def _to_json(metric: MetricSummary) -> dict[str, Any]:
    plain: dict[str, Any] = {item.name: getattr(metric, item.name) for item in fields(metric)}
    del plain["corrected"]  # follows from the labels, which change after a run
    for name in _COUNTS:
        plain[name] = [[message_to_json(key), n] for key, n in plain[name].items()]
    plain["warnings"] = [message_to_json(text) for text in metric.warnings]
    plain["incomplete"] = message_to_json(metric.incomplete)
    plain["usage"] = asdict(metric.usage)
    plain["percentiles"] = {name: asdict(value) for name, value in metric.percentiles.items()}
    return plain


def _from_json(item: Mapping[str, Any]) -> MetricSummary:
    values = dict(item)
    for name in _COUNTS:
        values[name] = {message_from_json(key): n for key, n in item[name]}
    for name in _TUPLES:
        values[name] = None if item[name] is None else tuple(item[name])
    values["warnings"] = tuple(message_from_json(text) for text in item["warnings"])
    values["incomplete"] = message_from_json(item["incomplete"])
    values["usage"] = Usage(**item["usage"])
    percentiles: Mapping[str, Mapping[str, Any]] = item["percentiles"]
    values["percentiles"] = {name: Percentile(**value) for name, value in percentiles.items()}
    return MetricSummary(**values)


def choose_headline(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    """The metrics of a run in the order of what tells most, resources last."""
    from ragstone.analysis.columns import RESOURCES
    from ragstone.analysis.headline import LEADING_FAMILIES

    def rank(metric: Mapping[str, Any]) -> tuple[bool, int]:
        family = str(metric["family"])
        known = LEADING_FAMILIES.index(family) if family in LEADING_FAMILIES else 99
        return family in RESOURCES, known

    return [str(metric["name"]) for metric in sorted(metrics, key=rank)]
