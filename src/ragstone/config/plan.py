"""A Plan: what an evaluation is to do, checked whole before anything is paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ragstone.config.secrets import Secret

if TYPE_CHECKING:
    from ragstone.config.monitor import MonitorPlan
    from ragstone.registry import Metric


@dataclass(frozen=True, slots=True)
class Data:
    """Where the samples come from and how their rows are read."""

    path: str | None = None
    """A file, a folder (BEIR) or `-` for standard input."""
    format: str | None = None
    """The shape of the rows, when detection should not decide."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Sample field → where it stands in a row: `answer: output.text`."""
    limit: int | None = None
    """Only the first so many samples."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be read, and count them."""


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
    """Who is told when the job ends or fails."""
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
    """A validated config file; flags of the command line replace its fields."""

    name: str | None = None
    """What the run is called in lists and reports."""
    data: Data = Data()
    metrics: tuple[Metric, ...] = ()
    judge: str | Mapping[str, Any] | None = None
    """Who answers judged metrics: `offline`, `openai:MODEL`, or a mapping with `model` and settings."""
    embeddings: str | Mapping[str, Any] | None = None
    """Who embeds texts, when it is not the judge."""
    language: str | None = None
    """Language of the samples that do not name their own, and of the report."""
    prompts: str | None = None
    """A folder whose prompt files replace the bundled ones."""
    gates: Mapping[str, str] = field(default_factory=dict)
    """Metric → rule: `>= 0.8` for the cautious end of the interval, `mean >= 0.8` for the mean."""
    floor: float = 0.95
    """The share of the applicable samples that must be scored."""
    store: str | Secret | None = None
    """File or URL where runs are kept."""
    output: tuple[str, ...] = ()
    """Files to write, each in the format of its extension."""
    concurrency: int | None = None
    """Questions to the judge in flight at once."""
    resume: bool = False
    """Go on with the unfinished run of the same plan."""
    retry_errors: bool = False
    """Score again what ended in a failure."""
    max_usd: float | None = None
    """Stop asking the judge before this much is spent."""
    max_calls: int | None = None
    """Stop asking the judge after so many calls."""
    on: str | None = None
    """A cluster to score on: `dask`, `dask:4`, `dask://HOST:PORT`, a scheduler's file, or `slurm`."""
    slurm: Slurm | None = None
    """What a job under Slurm is to ask for."""
    monitor: MonitorPlan | None = None
    """How a live system is watched."""


DATA_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Data))
SLURM_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Slurm))
PLAN_KEYS: tuple[str, ...] = tuple(item.name for item in fields(Plan))

Check = Callable[[Any], str | None]
"""What is wanted instead of a value, or None when it fits."""


def text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "give a text"


def flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "give true or false"


def count(value: Any) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return None if fits else "give a whole number from 1"


def share(value: Any) -> str | None:
    return None if _number(value) and 0 <= value <= 1 else "give a number from 0 to 1"


def amount(value: Any) -> str | None:
    return None if _number(value) and value >= 0 else "give a number from 0"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SCALARS: Mapping[str, Check] = {
    "name": text,
    "language": text,
    "floor": share,
    "concurrency": count,
    "resume": flag,
    "retry_errors": flag,
    "max_usd": amount,
    "max_calls": count,
    "format": text,
    "limit": count,
    "on": text,
    "partition": text,
    "account": text,
    "qos": text,
    "nodes": count,
    "workers": count,
    "cpus": count,
    "gpus": count,
    "memory": text,
    "time": text,
    "environment": text,
    "interface": text,
    "mail": text,
    "tls": flag,
    "skip_bad_rows": flag,
}
"""Keys that hold one plain value, with what it must be."""
