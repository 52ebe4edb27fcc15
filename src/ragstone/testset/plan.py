"""A TestsetPlan: the options of one generation of a test set, as plain data that its unfinished file keeps for
--resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ragstone.config.paths import anchor_existing, anchor_model
from ragstone.config.storable import from_storable, is_storable, to_storable
from ragstone.engine import Progress
from ragstone.errors import RagstoneError
from ragstone.store import Store
from ragstone.testset.sources import Source, is_document_text

TESTSET_PLAN_VERSION = 1
"""Version of the JSON that `TestsetPlan.to_json` writes."""
DEFAULT_ITEMS = 100
"""Items that are made when no number is asked for, or fewer when the documents do not yield as many."""


@dataclass(frozen=True, slots=True)
class TestsetPlan:
    """What one generation of a test set is to do."""

    __test__ = False  # else pytest would collect the class because of its name

    documents: tuple[str, ...] = ()
    """Folders and files to ask about, or that may answer what people asked."""
    n: int | None = None
    """Items to make; None: DEFAULT_ITEMS, or as many as there are."""
    kinds: Mapping[str, float] | str | None = None
    """Kind of question that a judge writes → weight, or `factual=3,unanswerable=1`; None: the default mix
    (from_judge.py)."""
    languages: tuple[str, ...] = ()
    """Only documents in these languages are asked about; empty: all."""
    judge: str | Mapping[str, Any] | None = None
    """Who writes questions; None and `offline`: those that the documents ask themselves are taken."""
    seed: int = 0
    """The same seed gives the same test set."""
    styles: tuple[str, ...] = ()
    """Persons whom the judge asks as, in any words; empty: a list of our own."""
    out: str | None = None
    """The file to write."""
    format: str = "ragstone"
    """The format of that file."""
    resume: bool = False
    """Resume the unfinished generation of the same plan."""
    store: str | None = None
    """Where the judge's replies are kept."""
    concurrency: int | None = None
    """Questions to the judge in flight at once."""
    max_usd: float | None = None
    """Stop asking the judge before this much is spent."""
    max_calls: int | None = None
    """Stop asking the judge after so many calls."""
    log: str | None = None
    """File of questions that people asked."""
    from_monitor: bool = False
    """Take the questions that the monitor of the store has logged."""
    redact: str = "on"
    """Take personal data out of a log: `on`, `off`, or a hook as `module:function`."""
    checker: str | Mapping[str, Any] | None = None
    """Who proves what the judge wrote; None: the judge itself."""

    @property
    def item_count(self) -> int:
        """How many items are wanted; an impossible `n` is an error."""
        if self.n is not None and (isinstance(self.n, bool) or self.n < 1):
            raise RagstoneError(f"{self.n!r} items cannot be made; give 1 or more")
        return DEFAULT_ITEMS if self.n is None else self.n

    def to_json(self) -> dict[str, Any]:
        """What differs from the defaults, as plain JSON without secrets."""
        stored: dict[str, Any] = {"version": TESTSET_PLAN_VERSION}
        for item in fields(self):
            value = getattr(self, item.name)
            if value != item.default:
                stored[item.name] = to_storable(value, item.name)
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> TestsetPlan:
        """The plan that `to_json` wrote."""
        if stored.get("version") != TESTSET_PLAN_VERSION:
            raise RagstoneError("another ragstone wrote this plan; name the documents again")
        names = [item.name for item in fields(cls) if item.name in stored]
        values = {name: from_storable(stored[name], name) for name in names}
        for item in fields(cls):
            # JSON has no tuples
            if isinstance(item.default, tuple):
                values[item.name] = tuple(values.get(item.name, ()))
        return cls(**values)

    def anchor(self, folder: Path) -> TestsetPlan:
        """The plan with absolute paths: relative ones are seen from this folder."""
        return replace(
            self,
            documents=tuple(anchor_existing(path, folder) for path in self.documents),
            log=None if self.log is None else anchor_existing(self.log, folder),
            judge=anchor_model(self.judge, folder),
            checker=anchor_model(self.checker, folder),
            out=None if self.out is None else str(folder / self.out),
            store=self.store
            if self.store is None or "://" in self.store
            else str(folder / self.store),
        )


@dataclass(frozen=True, slots=True)
class TestsetInputs:
    """Python objects given to a generation, each instead of what its plan names; None: what the plan names."""

    __test__ = False

    documents: Source | None = None
    log: Any = None
    """What `ragstone.read` takes, or a list of texts."""
    redact: Any = None
    """A hook: text and field → the text to keep."""
    judge: Any = None
    checker: Any = None
    store: Store | None = None
    watch: Callable[[Progress], None] | None = None
    """Called with a Progress now and then."""


def plan_testset(
    documents: Source | None = None,
    n: int | None = None,
    *,
    log: Any = None,
    redact: Any = True,
    languages: Any = (),
    judge: Any = None,
    checker: Any = None,
    styles: Any = (),
    out: str | Path | None = None,
    store: str | Path | Store | None = None,
    watch: Callable[[Progress], None] | None = None,
    **options: Any,
) -> tuple[TestsetPlan, TestsetInputs]:
    """The plan of a `generate` call, and the objects in it that cannot be written to a file.

    `options` are the other fields of TestsetPlan: from_monitor, kinds, seed, format, resume, concurrency, max_usd,
    max_calls."""
    is_path = isinstance(documents, str | PathLike) and not is_document_text(documents)
    is_log_path = isinstance(log, str | PathLike)
    spec, judge_object = _split_judge(judge)
    checker_spec, checker_object = _split_judge(checker)
    plan = TestsetPlan(
        documents=(str(documents),) if is_path else (),
        n=n,
        log=str(log) if is_log_path else None,
        redact=redact if isinstance(redact, str) else "on" if redact else "off",
        languages=tuple(languages),
        judge=spec,
        checker=checker_spec,
        styles=tuple(styles),
        out=None if out is None else str(out),
        store=None if store is None or isinstance(store, Store) else str(store),
        **options,
    )
    inputs = TestsetInputs(
        documents=None if is_path else [documents] if isinstance(documents, str) else documents,
        log=None if is_log_path else log,
        redact=redact if callable(redact) else None,
        judge=judge_object,
        checker=checker_object,
        store=store if isinstance(store, Store) else None,
        watch=watch,
    )
    return plan, inputs


def _split_judge(judge: Any) -> tuple[Any, Any]:
    """A judge as a plan names it, or the object; several judges are a jury."""
    if not is_storable(judge):
        return None, judge
    return ({"jury": list(judge)} if isinstance(judge, list | tuple) else judge), None
