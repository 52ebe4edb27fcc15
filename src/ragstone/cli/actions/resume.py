"""`ragstone eval --resume` without data: the plan of an unfinished run, from the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.cli.actions.flags import build_plan
from ragstone.cli.actions.messages import note
from ragstone.config import Plan
from ragstone.errors import RagstoneError, RunNotFound
from ragstone.store import RunInfo, Store

IN_ENVIRONMENT = ("store", "api_key")
"""Secrets that a resumed run has from elsewhere: its store is open, and keys are in the environment."""


def load_unfinished(flags: Mapping[str, Any], *, quiet: bool = False) -> tuple[Plan, Store]:
    """The plan of the named unfinished run, or of the newest one, with the flags applied to it; and its store."""
    store = Store.open(flags["store"], must_exist=True)
    name = flags["run_id"]
    # Newest first: the first that fits is the one the user means.
    runs = [store.run(name).info] if name else store.runs()
    for info in runs:
        # A named run is taken even if it cannot be resumed: `load_plan` then says why.
        if info.status == "running" and (name or _is_resumable(info)):
            plan, _ = build_plan({**flags, "run_id": info.id}, load_plan(info))
            note("resuming run {id} ({name})", id=info.id, name=info.name, quiet=quiet)
            return plan, store
    store.close()
    raise RunNotFound(
        f"no unfinished run in {store.place}; name the data of a new one: ragstone eval DATA"
    )


def load_plan(info: RunInfo) -> Plan:
    """The plan of a stored run; RagstoneError says what is missing to execute it again."""
    if info.facts.legacy:
        raise RagstoneError(
            f"run {info.id} was started by ragstone 0.1, which did not write down how it scores; "
            "start a new run by its command, without --resume"
        )
    if not _is_resumable(info):
        what = " and ".join(info.facts.in_memory) or "options"
        raise RagstoneError(
            f"run {info.id} was started from Python, and its {what} cannot be stored; resume it there: "
            f"evaluate(..., run_id={info.id!r}, resume=True)"
        )
    lost = [name for name in info.facts.lost if name not in IN_ENVIRONMENT]
    if lost:
        raise RagstoneError(
            f"run {info.id} was started with a secret that is not stored ({', '.join(lost)}); "
            "resume it by its own command with --resume at the end"
        )
    return info.plan


def _is_resumable(info: RunInfo) -> bool:
    return not info.facts.in_memory and not info.facts.legacy
