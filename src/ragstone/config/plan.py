"""A Plan: everything that one evaluation is to do. Config file, command line and `evaluate` build it, the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ragstone.config.secrets import Secret, reveal
from ragstone.config.storable import from_storable, to_storable
from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.config.monitor import MonitorPlan

StorableSpec = str | Mapping[str, Any]
"""A metric as a plan names it: `recall@5`, or `{name: {option: value}}` where the name alone does not say all."""

PLAN_VERSION = 1
"""Of the JSON that `Plan.to_json` writes."""


@dataclass(frozen=True, slots=True)
class Data:
    """Where the samples come from and how their rows are read."""

    path: str | None = None
    """A file, a folder (BEIR) or `-` for standard input."""
    format: str | None = None
    """The shape of the rows, if it is not detected."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Sample field → where it stands in a row: `answer: output.text`."""
    limit: int | None = None
    """Only the first N samples."""
    skip_bad_rows: bool = False
    """Exclude rows that cannot be read, and report how many."""


@dataclass(frozen=True, slots=True)
class SystemPlan:
    """The system under test, which answers the questions of the data."""

    spec: str | Mapping[str, Any]
    """As `make_system` takes it: `pipeline:FOLDER`, `module:function`, a URL, or a mapping."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Values of its parameters."""


@dataclass(frozen=True, slots=True)
class Slurm:
    """What a job asks of Slurm, and how its environment is made."""

    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    nodes: int = 1
    workers: int = 1
    """Workers on each node."""
    cpus: int = 1
    """CPUs of each worker."""
    gpus: int | None = None
    """GPUs of each node."""
    memory: str | None = None
    """Of each node, as Slurm writes it: 16G."""
    time: str | None = None
    """How long the job may run, as Slurm writes it: 2:00:00."""
    modules: tuple[str, ...] = ()
    """Environment modules to load."""
    environment: str | None = None
    """A virtual environment's folder, or `conda:NAME`, to activate."""
    setup: tuple[str, ...] = ()
    """Shell lines to run before anything else."""
    mail: str | None = None
    """Who gets a mail when the job ends or fails."""
    options: tuple[str, ...] = ()
    """Further lines for sbatch: --constraint=…"""
    interface: str | None = None
    """The network that scheduler, workers and driver use: ib0."""
    folder: str | None = None
    """Where launchers, logs and attempts are kept; all nodes must see it."""
    tls: bool = True
    """Whether scheduler, workers and driver speak encrypted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one evaluation is to do; a config file has a key for each field, flags of the command line replace them."""

    name: str | None = None
    """What the run is called in lists and reports."""
    data: Data = Data()
    system: SystemPlan | None = None
    """The system that answers: `pipeline:FOLDER`, `module:function`, a URL, `command:PROGRAM`, or a mapping with its settings (docs/systems.md). Without it, the answers are in the data."""
    metrics: tuple[StorableSpec, ...] = ()
    judge: str | Mapping[str, Any] | None = None
    """Who answers judged metrics: `offline`, `openai:MODEL`, or a mapping with `model` and settings."""
    embeddings: str | Mapping[str, Any] | None = None
    """Who embeds texts, if not the judge."""
    language: str | None = None
    """Language of the samples that do not name their own, and of the report."""
    prompts: str | None = None
    """A folder whose prompt files replace the bundled ones."""
    gates: Mapping[str, str] = field(default_factory=dict)
    """Metric → rule: `>= 0.8` for the cautious end of the interval, `mean >= 0.8` for the mean."""
    floor: float = 0.95
    """The share of the applicable samples that must be scored."""
    labels: str | None = None
    """A file of labels; means are corrected by them."""
    store: str | Secret | None = None
    """File or URL where runs are kept."""
    output: tuple[str, ...] = ()
    """Files to write, each in the format of its extension."""
    explain: bool = False
    """Write claims, verdicts and quotes into exported rows too."""
    concurrency: int | None = None
    """Judge calls in flight."""
    workers: int | None = None
    """Processes that score text metrics and the embedded judge. Default: all cores where that pays."""
    resume: bool = False
    """Resume the unfinished run of the same plan."""
    restart: bool = False
    """With `resume` or `retry_errors`: begin a new run if the earlier one was scored differently."""
    retry_errors: bool = False
    """Score failed samples again."""
    max_usd: float | None = None
    """Stop asking the judge before this much is spent."""
    max_calls: int | None = None
    """Stop asking the judge after N calls."""
    on: str | None = None
    """A cluster to score on: `dask`, `dask:4`, `dask://HOST:PORT`, a scheduler's file, or `slurm`."""
    slurm: Slurm | None = None
    """Resources and environment of a Slurm job."""
    monitor: MonitorPlan | None = None
    """Settings of the monitor."""
    run_id: str | None = None
    """The id of the run, new or to be resumed; no key of a config file."""
    code_folders: tuple[str, ...] = ()
    """Folders from which the user's own modules are imported; no key of a config file."""

    def judge_settings(self) -> dict[str, Any]:
        """The judge with all that the plan says about judging, as `make_judge` takes it; secrets in plain text."""
        judge = reveal(self.judge if self.judge is not None else "offline")
        # keys of the plan win over those inside `judge`, because flags of the command line set the
        # former
        settings = {"model": judge} if isinstance(judge, str) else dict(judge)
        plan_settings = {
            "embeddings": reveal(self.embeddings),
            "language": self.language,
            "prompts": self.prompts,
            "concurrency": self.concurrency,
            "max_usd": self.max_usd,
            "max_calls": self.max_calls,
        }
        return settings | {key: value for key, value in plan_settings.items() if value is not None}

    def to_json(self, lost: list[str] | None = None) -> dict[str, Any]:
        """What differs from the defaults, as plain JSON without secrets; the `monitor` section is no part of a run.

        A secret is written as its `${NAME}`; one without is left out, and its key is appended to `lost`."""
        stored: dict[str, Any] = {"version": PLAN_VERSION}
        for name in _STORED:
            value = getattr(self, name)
            if is_dataclass(value) and not isinstance(value, type):
                value = {item.name: getattr(value, item.name) for item in fields(value)}
                if name == "data" and self.data == Data():
                    continue
            # only differences are stored: changing a default here changes what old runs resume with
            elif value == getattr(_DEFAULTS, name):
                continue
            stored[name] = to_storable(value, name, lost)
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Plan:
        """The plan that `to_json` wrote."""
        version = stored.get("version")
        if not isinstance(version, int) or version > PLAN_VERSION:
            raise RagstoneError(
                f"the plan has version {version!r}, and this ragstone reads {PLAN_VERSION}; "
                "install the ragstone that wrote it, or a newer one"
            )
        values = {name: from_storable(stored[name], name) for name in _STORED if name in stored}
        for name, schema in (("data", Data), ("system", SystemPlan), ("slurm", Slurm)):
            if name in values:
                values[name] = _build_section(schema, values[name])
        for name in ("metrics", "output", "code_folders"):
            if name in values:
                values[name] = tuple(values[name])
        return cls(**values)


def _build_section(schema: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass from its stored fields, whose tuples JSON has turned into lists."""
    lists = {"modules", "setup", "options"}
    return schema(**{key: tuple(v) if key in lists else v for key, v in values.items()})


_DEFAULTS = Plan()
# Names in the stored JSON are the names of the fields: renaming one needs a new PLAN_VERSION and a
# way to read the old.
_STORED = tuple(item.name for item in fields(Plan) if item.name != "monitor")

DATA_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Data))
SLURM_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Slurm))
NO_KEYS = ("run_id", "code_folders")
"""Fields of a plan that a config file cannot set."""
# A new field of Plan is a new key of config files at once: it needs an entry in SCALAR_CHECKS or
# PlanReader.read_plan.
PLAN_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Plan) if item.name not in NO_KEYS)
