"""Experiments as they are stored: the runs of a benchmark, an ablation or a search for settings, and what it found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from ragstone.errors import RunNotFound
from ragstone.store.store import Store

ExperimentKind = Literal["bench", "ablation", "tuning"]


@dataclass(frozen=True, slots=True)
class StoredExperiment:
    """One experiment."""

    id: str
    kind: ExperimentKind
    name: str
    """The data set as it is shown."""
    created: str
    """ISO 8601, UTC."""
    runs: tuple[str, ...]
    """Ids of its runs; some may be deleted since."""
    body: Mapping[str, Any]


def save_experiment(
    store: Store, kind: ExperimentKind, name: str, runs: Sequence[str], body: Mapping[str, Any]
) -> str:
    """Keep an experiment; returns its id, which follows from its runs: what has the same ones replaces it."""
    id = sha256("\n".join(runs).encode()).hexdigest()[:12]
    now = datetime.now(UTC).isoformat(timespec="seconds")
    # settings may be of any type that a system takes
    row = (id, kind, name, now, json.dumps(list(runs)), json.dumps(body, default=str))
    sql = (
        "INSERT INTO experiments (id, kind, name, created, runs, body) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name,"
        " created = excluded.created, body = excluded.body"
    )
    store.write(lambda db: db.execute_many(sql, [row])).result()
    return id


def load_experiments(store: Store) -> list[StoredExperiment]:
    """Every experiment, the newest first."""
    rows = store.read(f"{_SELECT} ORDER BY created DESC, id")
    return [_to_experiment(row) for row in rows]


def load_experiment(store: Store, id: str) -> StoredExperiment:
    """The experiment with an id."""
    rows = store.read(f"{_SELECT} WHERE id = ?", (id,))
    if not rows:
        raise RunNotFound(f"no experiment {id!r} in {store.place}")
    return _to_experiment(rows[0])


def load_trials(store: Store) -> set[str]:
    """Ids of the runs of searches for settings, which are listed with their search."""
    kept = load_experiments(store)
    return {run for experiment in kept if experiment.kind == "tuning" for run in experiment.runs}


_SELECT = "SELECT id, kind, name, created, runs, body FROM experiments"


def _to_experiment(row: tuple[Any, ...]) -> StoredExperiment:
    id, kind, name, created, runs, body = row
    return StoredExperiment(id, kind, name, created, tuple(json.loads(runs)), json.loads(body))
