"""What to run after an evaluation: commands that can be pasted as they are printed."""

from __future__ import annotations

import shlex
from pathlib import Path

from ragstone.cli.actions.init import CONFIG_NAME
from ragstone.experiments.run import Run
from ragstone.report.figures import name_store
from ragstone.store import RunInfo


def list_next_commands(run: Run) -> list[tuple[str, str]]:
    """Each command with the key of the reason to run it."""
    info = run.info
    if not info.place:  # a store in memory ends with this process
        return []
    store_flag = name_store(info)
    commands = [
        ("report", f"ragstone report {info.id}{store_flag} -o report.html"),
        ("diagnose", f"ragstone diagnose {info.id}{store_flag}"),
    ]
    earlier = next((old for old in run.stored.store.runs() if _is_earlier(old, info)), None)
    if earlier is not None:
        commands.append(("compare", f"ragstone compare {earlier.id} {info.id}{store_flag}"))
    data = info.plan.data.path
    is_configured = {"-c", "--config"} & set(info.facts.command) or Path(CONFIG_NAME).exists()
    if data and data != "-" and Path(data).is_file() and not is_configured:
        commands.append(("init", f"ragstone init {shlex.quote(_shorten_path(data))}"))
    return commands


def _shorten_path(path: str) -> str:
    """The path as it is typed here, for a file below this folder."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _is_earlier(old: RunInfo, info: RunInfo) -> bool:
    """Whether `old` is an earlier, finished run of the same file with a metric in common."""
    names = {metric["name"] for metric in info.metrics}
    return (
        old.id != info.id
        and old.created <= info.created
        and old.status == "done"
        and old.facts.source == info.facts.source
        and any(metric["name"] in names for metric in old.metrics)
    )
