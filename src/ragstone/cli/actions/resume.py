"""`ragstone eval --resume` without data: the plan of an unfinished run, from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.cli.actions.flags import build_plan
from ragstone.cli.actions.messages import note
from ragstone.cli.eval import command as eval_command
from ragstone.config import Plan
from ragstone.config.paths import anchor_plan
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
    if info.facts.legacy:
        # Version 0.1 stored the typed command instead of a plan.
        return plan_from_command(info.facts.command, Path(info.facts.folder or "."))
    return info.plan


def plan_from_command(arguments: Sequence[str], folder: Path) -> Plan:
    """The plan of a command line that ragstone 0.1 stored, with its paths relative to `folder`."""
    context = eval_command.make_context(
        "eval", list(arguments[list(arguments).index("eval") + 1 :])
    )
    flags = dict(context.params)
    files = flags.pop("files")
    flags["data"] = files[0] if files else None
    flags["store"] = None  # it is open, and its password was not stored
    if flags["config"] is not None:
        flags["config"] = str(folder / flags["config"])
    plan, _ = build_plan(flags, folder=folder)
    return anchor_plan(plan, folder)


def _is_resumable(info: RunInfo) -> bool:
    if info.facts.legacy:
        return "eval" in info.facts.command
    return not info.facts.in_memory
