"""Relative paths of a plan made absolute, so that the plan can be executed from any folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragstone.config.plan import Plan

SYSTEM_PATHS = ("pipeline", "predictions", "prompt", "documents")
"""Keys of a system's mapping or settings that may name a file or folder."""


def anchor_plan(plan: Plan, folder: Path) -> Plan:
    """The plan with absolute paths; relative ones are relative to this folder."""
    changes: dict[str, Any] = {
        "data": replace(plan.data, path=_anchor_data(plan.data.path, folder)),
        "judge": anchor_model(plan.judge, folder),
        "embeddings": anchor_model(plan.embeddings, folder),
        "prompts": _join_to_folder(plan.prompts, folder),
        "store": _anchor_store(plan.store, folder),
        "labels": None if plan.labels is None else str(folder / plan.labels),
        "output": tuple(str(folder / path) for path in plan.output),
    }
    if plan.system is not None:
        spec = anchor_system(plan.system.spec, folder)
        settings = anchor_system(dict(plan.system.settings), folder)
        changes["system"] = replace(plan.system, spec=spec, settings=settings)
    if plan.on is not None and plan.on.endswith(".json"):
        changes["on"] = _join_to_folder(plan.on, folder)
    if plan.slurm is not None:
        changes["slurm"] = replace(plan.slurm, folder=_join_to_folder(plan.slurm.folder, folder))
    # a module beside the config is importable only while its folder is on sys.path
    if _names_modules(plan) and str(folder) not in plan.code_folders:
        changes["code_folders"] = (*plan.code_folders, str(folder))
    return replace(plan, **changes)


def anchor_system(spec: Any, folder: Path) -> Any:
    """A system's spec or settings; names of files that exist in the folder become paths there."""
    if isinstance(spec, Mapping):
        anchored = {
            key: anchor_existing(value, folder)
            for key, value in spec.items()
            if key in SYSTEM_PATHS
        }
        if isinstance(spec.get("python"), str):
            anchored["python"] = anchor_system(spec["python"], folder)
        if spec.get("command"):
            anchored["command"] = _anchor_words(spec["command"], folder)
        return {**spec, **anchored}
    if not isinstance(spec, str):
        return spec
    kind, colon, rest = spec.partition(":")
    if kind == "command" and colon:
        return f"command:{shlex.join(_anchor_words(rest, folder))}"
    if kind == "pipeline" and colon:
        return f"pipeline:{anchor_existing(rest, folder)}"
    if kind.endswith(".py") and colon:
        return f"{anchor_existing(kind, folder)}:{rest}"
    return anchor_existing(spec, folder)


def anchor_existing(path: Any, folder: Path) -> Any:
    """The path of a file or folder in this folder, when there is one of that name."""
    if not isinstance(path, str) or not path or Path(path).is_absolute():
        return path
    # a name that is no file here may be a built-in corpus, a model of a hub or an importable module
    return str(folder / path) if (folder / path).exists() else path


def _anchor_words(command: Any, folder: Path) -> list[Any]:
    """The words of a command; names of files that exist in the folder become paths there."""
    words = shlex.split(command) if isinstance(command, str) else list(command)
    return [anchor_existing(word, folder) for word in words]


def _join_to_folder(path: str | None, folder: Path) -> str | None:
    return None if path is None else str(folder / Path(path).expanduser())


def _anchor_data(path: str | None, folder: Path) -> str | None:
    if path is None or path == "-":
        return path
    if "+" in path and not (folder / path).exists():  # run.trec+qrels.txt
        return "+".join(str(folder / part) for part in path.split("+"))
    return _join_to_folder(path, folder)


def _anchor_store(store: Any, folder: Path) -> Any:
    is_file = isinstance(store, str) and "://" not in store and store != ":memory:"
    return _join_to_folder(store, folder) if is_file else store


def anchor_model(model: Any, folder: Path) -> Any:
    """A judge or embeddings, whose model may be a folder of weights or a Python file."""
    if isinstance(model, Mapping):
        anchored = {
            key: anchor_model(model[key], folder)
            for key in ("model", "first", "then", "embeddings")
            if key in model
        }
        if isinstance(model.get("jury"), list | tuple):
            anchored["jury"] = [anchor_model(member, folder) for member in model["jury"]]
        return {**model, **anchored}
    if not isinstance(model, str):
        return model
    kind, _, rest = model.partition(":")
    if kind in ("gguf", "hf", "nli", "minicheck", "hhem", "lettucedetect"):
        return f"{kind}:{anchor_existing(rest, folder)}"
    if kind == "python" and ".py:" in rest:
        file, _, name = rest.rpartition(":")
        return f"python:{anchor_existing(file, folder)}:{name}"
    return model


def _names_modules(plan: Plan) -> bool:
    """Whether a metric, the judge or the system is code_name of an importable module."""
    code_names = [next(iter(spec), "") for spec in plan.metrics if not isinstance(spec, str)]
    code_names += [
        text.removeprefix("python:")
        for text in _list_model_names(plan.judge)
        if text.startswith("python:")
    ]
    spec = plan.system.spec if plan.system is not None else ""
    code_names.append(str(spec.get("python", "")) if isinstance(spec, Mapping) else spec)
    return any(_is_module(code_name) for code_name in code_names)


def _list_model_names(model: Any) -> list[str]:
    if isinstance(model, Mapping):
        return [
            name
            for member in (*map(model.get, ("model", "first", "then")), *(model.get("jury") or ()))
            for name in _list_model_names(member)
        ]
    return [model] if isinstance(model, str) else []


def _is_module(code_name: str) -> bool:
    """Whether it is `module:name`, not a file or another kind of system."""
    module, colon, _ = code_name.partition(":")
    if module.endswith(".py"):
        return False
    return (
        bool(colon)
        and all(part.isidentifier() for part in module.split("."))
        and module not in ("pipeline", "http", "https", "command")
    )
