"""What a run is given beside its plan: Python objects, callbacks, and all that is prepared before it is scored."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any

from ragstone.config import Plan, SystemPlan
from ragstone.config.metric_specs import NoSpec, to_spec
from ragstone.config.storable import is_storable
from ragstone.data import Dataset
from ragstone.engine import ProgressCallback
from ragstone.judges import Judge
from ragstone.registry import Metric
from ragstone.store import Store, StoredRun

if TYPE_CHECKING:
    from ragstone.experiments.answer import SystemUnderTest
    from ragstone.judges.batching import BatchJob
    from ragstone.systems import AnswerProgress


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run is given as Python objects, in the place of what its plan names."""

    samples: Any = None
    """Anything that `read` takes, or a Dataset; None: the plan's data."""
    metrics: tuple[Metric, ...] | None = None
    """None: those that the plan names, or that fit the data."""
    judge: Any = None
    """A Judge or a function; None: the plan's."""
    system: Any = None
    """An object that `make_system` takes; None: the plan's."""
    under_test: SystemUnderTest | None = None
    """The system, when it is built already; it is the one that `system` or the plan names."""
    store: Store | None = None
    """None: the plan's."""
    command: tuple[str, ...] = ()
    """What was typed, to be shown with the run."""
    benchmark: str | None = None
    """The hash of a benchmark that the run belongs to."""
    shares_answers: bool = False
    """Whether answers of the system are shared with every run of it, as the growing runs of a search do."""

    def list_in_memory(self, plan: Plan) -> tuple[str, ...]:
        """What of the run is not in its plan, so that no other process can do it again."""
        given = {
            "samples": self.samples is not None,
            "metrics": not all(map(has_spec, self.metrics or ())),
            "judge": self.judge is not None and plan.judge is None,
            "system": self.system is not None,
        }
        return tuple(name for name, is_given in given.items() if is_given)


@dataclass(frozen=True, slots=True)
class RunObserver:
    """Callbacks that follow a run; each may be None."""

    progress: ProgressCallback | None = None
    """Called with a Progress now and then."""
    answers: Callable[[AnswerProgress], None] | None = None
    """Called as the system under test answers."""
    metrics: Callable[[Sequence[Metric]], None] | None = None
    """Called once the metrics are chosen, before anything is paid for or stored; it may raise to refuse them."""
    started: Callable[[StoredRun, Dataset], None] | None = None
    """Called when the run stands in the store."""
    job_sent: Callable[[BatchJob], None] | None = None
    """Called from another thread when questions were sent to a provider as a job."""


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A plan with everything at hand that scoring needs."""

    plan: Plan
    inputs: RunInputs
    store: Store
    dataset: Dataset
    metrics: Sequence[Metric]
    judge: Judge | None
    run_id: str
    under_test: SystemUnderTest | None

    @property
    def source(self) -> Any:
        """The data as given: a path, or objects."""
        return self.plan.data.path if self.inputs.samples is None else self.inputs.samples


def with_system(
    plan: Plan, inputs: RunInputs, system: Any, settings: Mapping[str, Any] | None = None
) -> tuple[Plan, RunInputs]:
    """The plan with this system under test, which goes into the inputs when only this process has it."""
    if isinstance(system, PathLike):
        system = str(system)
    spec, given = (system, None) if is_storable(system) else ("", system)
    named = replace(plan, system=SystemPlan(spec, dict(settings or {})))
    return named, replace(inputs, system=given)


def new_run_id() -> str:
    """An id that tells when the run was made."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def is_judge(value: Any) -> bool:
    """Whether a value is a judge already, not the spec of one."""
    return hasattr(value, "answer") and hasattr(value, "identity")


def has_spec(metric: Metric) -> bool:
    """Whether a metric can be written into a plan, so that another process can make it again."""
    try:
        to_spec(metric)
    except NoSpec:
        return False
    return True
