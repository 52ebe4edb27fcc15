"""A system from what a user writes: a name, a URL, a path, a mapping from a config, or an object."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError, nearest
from ragstone.registry.plugins import load
from ragstone.systems.frameworks import framework_call
from ragstone.systems.protocol import System
from ragstone.systems.python import PythonSystem, source_hash, unknown_version

KINDS = ("pipeline", "url", "predictions", "python")
"""The key of a mapping that says what kind of system it describes."""
_FILES = (".jsonl", ".json", ".csv", ".parquet", ".gz")


def make_system(spec: Any, **parameters: Any) -> System:
    """The system that a spec names, with these values for its parameters.

    `pipeline`, `pipeline:FOLDER`, `module:function`, `file.py:function`, `https://…`, a file of predictions, a
    function, an object of LangChain, LlamaIndex or Haystack, or a mapping: `{pipeline: FOLDER, top_k: 5}`,
    `{url: …, body: …, answer: …}`, `{predictions: FILE}`, `{python: module:function}`. With functions and objects,
    `version` names what the source file does not tell; `id_from` is the dotted path of a context's id."""
    if isinstance(spec, Mapping):
        return _of_mapping(spec, parameters)
    if isinstance(spec, Path):
        spec = str(spec)
    if isinstance(spec, str):
        return _of_text(spec, parameters)
    return _of_object(spec, _shown_name(spec), parameters)


def _of_mapping(spec: Mapping[str, Any], parameters: Mapping[str, Any]) -> System:
    kinds = [kind for kind in KINDS if kind in spec]
    if len(kinds) != 1:
        found = ", ".join(map(str, spec)) or "nothing"
        raise RagstoneError(f"a system has one of {', '.join(KINDS)}; found {found}")
    (kind,) = kinds
    rest = {key: value for key, value in spec.items() if key != kind}
    given = {**(rest.pop("parameters", None) or {}), **parameters}
    if kind == "url":
        from ragstone.systems.http import HttpSystem

        return HttpSystem(str(spec["url"]), parameters=given, **rest)
    if kind == "python":
        return make_system(spec["python"], **rest, **given)
    if kind == "predictions":
        return _predictions(str(spec["predictions"]), {**rest, **given})
    return _pipeline(spec["pipeline"], {**rest, **given})


def _of_text(spec: str, parameters: dict[str, Any]) -> System:
    if spec == "pipeline" or spec.startswith("pipeline:"):
        return _pipeline(spec.partition(":")[2] or None, parameters)
    if spec.startswith(("http://", "https://")):
        from ragstone.systems.http import HttpSystem

        return HttpSystem(spec, parameters=parameters)
    if spec.endswith(_FILES) or Path(spec).is_file():
        return _predictions(spec, parameters)
    if ":" not in spec:
        raise RagstoneError(
            f"{spec!r} is no system; give pipeline, module:function, file.py:function, a URL or a "
            "file of predictions"
        )
    place = spec.rpartition(":")[0]
    return _of_object(load(spec, "system"), spec, parameters, place)


def _of_object(
    target: Any, name: str, parameters: Mapping[str, Any], place: str | None = None
) -> System:
    options = dict(parameters)
    version, id_from = options.pop("version", None), options.pop("id_from", None)
    about = {"method": options.pop("method", None), "inputs": options.pop("inputs", None)}
    version = None if version is None else str(version)
    if all(hasattr(target, part) for part in ("answer", "identity", "shown", "parameters")):
        if isinstance(target, type):
            return target(**options)  # type: ignore[no-any-return]
        _refuse(options, name)
        return target  # type: ignore[no-any-return]
    if isinstance(target, type) or _is_factory(target):
        try:
            made = target(**options)
        except TypeError as bad:
            raise RagstoneError(f"the system {name!r} cannot be made: {bad}") from None
        version = version or source_hash(target)
        system = _of_object(
            made, name, {"version": version, "id_from": id_from, **_given(about)}, place
        )
        return _with_parameters(system, options)
    found = framework_call(target, **about)
    if found is not None:
        _refuse(options, name)
        kind, call = found
        shown = name if place else f"{kind}:{type(target).__name__}"
        return PythonSystem(call, shown, version=version or _file_hash(place), id_from=id_from)
    _refuse(_given(about), name)
    answer_with = getattr(target, "answer_with", None)
    method = getattr(target, "answer", None)
    if callable(method):
        return PythonSystem(
            method,
            name,
            parameters=options,
            version=version or _file_hash(place),
            id_from=id_from,
            answer_with=answer_with if callable(answer_with) else None,
        )
    if not callable(target):
        raise RagstoneError(
            f"{type(target).__name__} is no system; give a function, or an object with answer(), "
            "invoke(), query(), retrieve() or run()"
        )
    return PythonSystem(target, name, parameters=options, version=version, id_from=id_from)


def _is_factory(target: Any) -> bool:
    """Whether a function makes a system instead of being one: it takes no question."""
    if not inspect.isfunction(target):
        return False
    kinds = {one.kind for one in inspect.signature(target).parameters.values()}
    return not kinds & {
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    }


def _with_parameters(system: System, options: Mapping[str, Any]) -> System:
    if isinstance(system, PythonSystem):
        system.made_with(options)
    return system


def _file_hash(place: str | None) -> str:
    """A hash of the file that an object was named in; without one, nothing is known of it."""
    if place is None:
        return unknown_version()
    path = Path(place)
    if not place.endswith(".py"):
        import sys

        path = Path(getattr(sys.modules.get(place), "__file__", None) or "")
    if not path.is_file():
        return unknown_version()
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _given(about: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in about.items() if value is not None}


def _refuse(options: Mapping[str, Any], name: str) -> None:
    for key in options:
        raise RagstoneError(f"the system {name!r} has no parameter {key!r}; make it in a function")


def _shown_name(target: Any) -> str:
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{getattr(named, '__module__', '')}:{named.__qualname__}"


def _predictions(path: str, options: Mapping[str, Any]) -> System:
    from ragstone.systems.predictions import Predictions

    for key in options:
        if key != "format":
            raise RagstoneError(f"predictions have no parameter {key!r}{nearest(key, ['format'])}")
    return Predictions(path, **options)


def _pipeline(documents: Any, parameters: dict[str, Any]) -> System:
    from ragstone.systems.pipeline import Pipeline

    if documents is not None and documents is not True:
        parameters = {"documents": documents, **parameters}
    return Pipeline(**parameters)
