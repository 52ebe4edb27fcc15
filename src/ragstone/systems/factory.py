"""Construction of a system from its spec: a name, a URL, a path, a mapping of a config, or an object."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.registry.plugins import load_object
from ragstone.systems.frameworks import adapt_framework
from ragstone.systems.http import HttpSystem
from ragstone.systems.predictions import PredictionsSystem
from ragstone.systems.protocol import System
from ragstone.systems.python import PythonSystem, hash_source, make_process_version

SYSTEM_KINDS = ("pipeline", "url", "predictions", "python")
"""Keys of a mapping; exactly one is present and says which kind of system it describes."""
_PREDICTION_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".gz")


def make_system(spec: Any, **parameters: Any) -> System:
    """Build the system that a spec names, with these values for its parameters.

    `pipeline`, `pipeline:FOLDER`, `module:function`, `file.py:function`, `https://…`, a file of predictions, a
    function, an object of LangChain, LlamaIndex or Haystack, or a mapping: `{pipeline: FOLDER, top_k: 5}`,
    `{url: …, body: …, answer: …}`, `{predictions: FILE}`, `{python: module:function}`. With functions and objects,
    `version` identifies what the source file does not show; `id_from` is the dotted path of a context's id."""
    if isinstance(spec, Mapping):
        return _from_mapping(spec, parameters)
    if isinstance(spec, Path):
        spec = str(spec)
    if isinstance(spec, str):
        return _from_text(spec, parameters)
    return _from_object(spec, _build_qualified_name(spec), parameters)


def _from_mapping(spec: Mapping[str, Any], parameters: Mapping[str, Any]) -> System:
    kinds = [kind for kind in SYSTEM_KINDS if kind in spec]
    if len(kinds) != 1:
        keys = ", ".join(map(str, spec)) or "nothing"
        raise RagstoneError(f"a system has one of {', '.join(SYSTEM_KINDS)}; found {keys}")
    (kind,) = kinds
    rest = {key: value for key, value in spec.items() if key != kind}
    values = {**(rest.pop("parameters", None) or {}), **parameters}
    if kind == "url":
        return HttpSystem(str(spec["url"]), parameters=values, **rest)
    if kind == "python":
        return make_system(spec["python"], **rest, **values)
    if kind == "predictions":
        return _build_predictions(str(spec["predictions"]), {**rest, **values})
    return _build_pipeline(spec["pipeline"], {**rest, **values})


def _from_text(spec: str, parameters: dict[str, Any]) -> System:
    if spec == "pipeline" or spec.startswith("pipeline:"):
        return _build_pipeline(spec.partition(":")[2] or None, parameters)
    if spec.startswith(("http://", "https://")):
        return HttpSystem(spec, parameters=parameters)
    # before the colon is looked for: a path of Windows has one, and `file.py:function` names no
    # existing file
    if spec.endswith(_PREDICTION_SUFFIXES) or Path(spec).is_file():
        return _build_predictions(spec, parameters)
    if ":" not in spec:
        raise RagstoneError(
            f"{spec!r} is no system; give pipeline, module:function, file.py:function, a URL or a "
            "file of predictions"
        )
    place = spec.rpartition(":")[0]
    return _from_object(load_object(spec, "system"), spec, parameters, place)


def _from_object(
    target: Any, name: str, parameters: Mapping[str, Any], place: str | None = None
) -> System:
    options = dict(parameters)
    version, id_from = options.pop("version", None), options.pop("id_from", None)
    call_options = {"method": options.pop("method", None), "inputs": options.pop("inputs", None)}
    version = None if version is None else str(version)
    # a complete System first: such an object also has `answer`, which is tried last
    if all(hasattr(target, part) for part in ("answer", "identity", "shown", "parameters")):
        if isinstance(target, type):
            return target(**options)  # type: ignore[no-any-return]
        _reject_options(options, name)
        return target  # type: ignore[no-any-return]
    if isinstance(target, type) or _is_factory(target):
        try:
            built = target(**options)
        except TypeError as bad:
            raise RagstoneError(f"the system {name!r} cannot be made: {bad}") from None
        # the source of the factory stands for what it builds, together with the options it was
        # called with
        version = version or hash_source(target)
        system = _from_object(
            built,
            name,
            {"version": version, "id_from": id_from, **_drop_unset(call_options)},
            place,
        )
        if isinstance(system, PythonSystem):
            system.add_parameters(options)
        return system
    adapted = adapt_framework(target, **call_options)
    if adapted is not None:
        _reject_options(options, name)
        framework, ask = adapted
        shown = name if place else f"{framework}:{type(target).__name__}"
        return PythonSystem(ask, shown, version=version or _hash_file(place), id_from=id_from)
    _reject_options(_drop_unset(call_options), name)
    return _from_answerer(target, name, options, version, id_from, place)


def _from_answerer(
    target: Any,
    name: str,
    options: Mapping[str, Any],
    version: str | None,
    id_from: str | None,
    place: str | None,
) -> System:
    """Wrap a function, or an object with a method `answer`."""
    answer_with = getattr(target, "answer_with", None)
    method = getattr(target, "answer", None)
    if callable(method):
        return PythonSystem(
            method,
            name,
            parameters=options,
            version=version or _hash_file(place),
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
    """Whether a function builds a system instead of being one: it takes no question."""
    if not inspect.isfunction(target):
        return False
    kinds = {parameter.kind for parameter in inspect.signature(target).parameters.values()}
    return not kinds & {
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    }


def _hash_file(place: str | None) -> str:
    """Hash the file in which an object was named; without one its version is unknown."""
    if place is None:
        return make_process_version()
    path = Path(place)
    if not place.endswith(".py"):
        path = Path(getattr(sys.modules.get(place), "__file__", None) or "")
    if not path.is_file():
        return make_process_version()
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _reject_options(options: Mapping[str, Any], name: str) -> None:
    for key in options:
        raise RagstoneError(f"the system {name!r} has no parameter {key!r}; make it in a function")


def _build_qualified_name(target: Any) -> str:
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{getattr(named, '__module__', '')}:{named.__qualname__}"


def _build_predictions(path: str, options: Mapping[str, Any]) -> System:
    for key in options:
        if key != "format":
            raise RagstoneError(
                f"predictions have no parameter {key!r}{suggest_nearest(key, ['format'])}"
            )
    return PredictionsSystem(path, **options)


def _build_pipeline(documents: Any, parameters: dict[str, Any]) -> System:
    from ragstone.systems.pipeline import Pipeline  # imports numpy

    if documents is not None and documents is not True:
        parameters = {"documents": documents, **parameters}
    return Pipeline(**parameters)
