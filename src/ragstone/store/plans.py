"""The plan of a run as its row in the store keeps it, with the facts that the run found out; rows of ragstone 0.1 are read too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ragstone._version import __version__
from ragstone.config import Data, Plan, SystemPlan


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What became known only when the plan was carried out."""

    source: str = ""
    """The data: the absolute path of a file, else as shown to the user."""
    system: str | None = None
    """The system under test as it was named, or the name it gives itself."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """All parameters of the system, defaults included."""
    system_identity: str | None = None
    """Hash of everything that can change the system's answers."""
    benchmark: str | None = None
    """Hash of the benchmark that the run is a part of: its configurations, metrics and rows."""
    cold_start: float | None = None
    """Seconds of the first call of the system, which its latency leaves out."""
    judge_identity: str | None = None
    """Fingerprint of the judge, by which its scales are found (`store/scales.py`)."""
    identity: Mapping[str, str] = field(default_factory=dict)
    """Everything besides its rows that can change a run's scores, part by part (`engine/identity.py`)."""
    scores_identity: str | None = None
    """Hash of that, by which a later run finds scores that it may take over (`engine/reuse.py`)."""
    in_memory: tuple[str, ...] = ()
    """Parts of the run that were Python objects and are not in the plan: samples, metrics, judge, system."""
    metrics_by_data: bool = False
    """Whether nobody named the metrics: those that fit the data were chosen."""
    lost: tuple[str, ...] = ()
    """Keys of the plan whose secret is not stored."""
    command: tuple[str, ...] = ()
    """What was typed after the program's name; for display only."""
    folder: str | None = None
    """The working directory of the command."""
    legacy: bool = False
    """Whether ragstone 0.1 wrote the row: only `command` then says which judge and outputs were asked for."""
    # A new fact defaults to empty, not to what this process knows: rows written before it would be read with that.
    # Its value is set in `experiments/resume.py`.
    ragstone: str = __version__
    """The version that started the run."""
    calibration: Mapping[str, Any] = field(default_factory=dict)
    """How the judge's probabilities were fitted to labels (`judges/calibration.py`); empty where they were not."""
    value_version: int = 1
    """What the values of claim metrics mean (`types.VALUE_VERSION`); rows written before there was one have the first."""

    def to_json(self) -> dict[str, Any]:
        """The facts as plain JSON, without the empty ones."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value or name == "ragstone"  # `from_json` would take the version of the reader
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RunFacts:
        """The facts that `to_json` wrote; what a newer version added is passed over."""
        values = {item.name: stored[item.name] for item in fields(cls) if item.name in stored}
        for name in ("in_memory", "lost", "command"):  # every field that is a tuple: JSON has lists
            values[name] = tuple(values.get(name) or ())
        return cls(**values)


def encode_plan(plan: Plan, facts: RunFacts) -> dict[str, Any]:
    """Plan and facts as one JSON object."""
    lost: list[str] = []
    stored = plan.to_json(lost)  # appends to `lost` the keys whose secrets it leaves out
    secrets = tuple(dict.fromkeys((*facts.lost, *lost)))
    return {**stored, "facts": {**facts.to_json(), **({"lost": list(secrets)} if secrets else {})}}


def decode_plan(stored: Mapping[str, Any]) -> tuple[Plan, RunFacts]:
    """The plan and facts of a row, also of one that ragstone 0.1 wrote."""
    if "version" not in stored:
        return _decode_unversioned(stored)
    return Plan.from_json(stored), RunFacts.from_json(stored.get("facts") or {})


def _decode_unversioned(stored: Mapping[str, Any]) -> tuple[Plan, RunFacts]:
    """Plan and facts from the flat object of ragstone 0.1, which repeated a run by its `command` in its `folder`."""
    system = stored.get("system")
    source = str(stored.get("source") or "")
    plan = Plan(
        data=Data(
            path=source or None,
            format=stored.get("format"),
            fields=stored.get("fields") or {},
            limit=stored.get("limit"),
            skip_bad_rows=bool(stored.get("skip_bad_rows")),
        ),
        system=None if system is None else SystemPlan(system, stored.get("settings") or {}),
        metrics=tuple(stored.get("metrics") or ()),
        language=stored.get("language"),
        gates=stored.get("gates") or {},
        floor=stored.get("floor", 0.95),
    )
    facts = RunFacts(
        source=source,
        system=system,
        parameters=stored.get("parameters") or {},
        system_identity=stored.get("system_identity"),
        command=tuple(stored.get("command") or ()),
        folder=stored.get("folder"),
        legacy=True,
        ragstone=stored.get("ragstone") or __version__,
    )
    return plan, facts
