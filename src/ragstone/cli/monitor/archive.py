"""The config and the archive that the `ragstone monitor` commands work with."""

from __future__ import annotations

from ragstone.config import Plan, load, reveal
from ragstone.config.monitor import MonitorPlan
from ragstone.monitor import Archive
from ragstone.store import Store


def load_plan(config: str | None) -> tuple[Plan, MonitorPlan]:
    """A config and its `monitor` section, or the defaults."""
    plan = load(config) if config is not None else Plan()
    return plan, plan.monitor or MonitorPlan()


def open_archive(store: str | None, plan: Plan | None = None) -> Archive:
    """The archive of an existing store: the one given, else the config's or the default one."""
    store_path = store or (reveal(plan.store) if plan is not None else None)
    return Archive(Store.open(store_path, must_exist=True))
