"""Construction of a system under test from its spec: a name, a URL, a path, a mapping of a config, or an object."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.registry.plugins import load_object
from ragstone.systems.command import CommandSystem
from ragstone.systems.frameworks import adapt_framework
from ragstone.systems.haystack import is_haystack_pipeline
from ragstone.systems.http import HTTP_OPTIONS, HttpSystem
from ragstone.systems.methods import choose_method, get_method
from ragstone.systems.predictions import PredictionsSystem
from ragstone.systems.protocol import System
from ragstone.systems.python import PythonSystem, hash_function, hash_source, make_process_version
from ragstone.systems.templates import ask_by_template

SYSTEM_KINDS = ("pipeline", "url", "predictions", "python", "command")
"""Keys of a mapping; exactly one is present and says which kind of system it describes."""
CALL_OPTIONS = ("concurrency", "warmup", "timeout")
"""Options of every kind of system about how it is asked: they do not change its replies, so are not in its identity."""
OPENAI_URL = "https://api.openai.com/v1"
_PREDICTION_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".gz")
_SETTINGS_SUFFIXES = (".yaml", ".yml")


def make_system(spec: Any, **parameters: Any) -> System:
    """Build the system that a spec names, with these values for its parameters.

    `pipeline`, `pipeline:FOLDER`, `module:function`, `file.py:function`, `https://…`, `openai:MODEL`, `command:PROGRAM …`, a file of
    predictions, a YAML file with a mapping, a function, an object of LangChain, LlamaIndex or Haystack, any object with
    `answer`, `query`, `ask`, `invoke`, `run`, `chat` or `__call__`, or a mapping: `{pipeline: FOLDER, top_k: 5}`,
    `{url: …, body: …, answer: …}`, `{command: …}`, `{predictions: FILE}`, `{python: module:function}`. `concurrency`,
    `warmup` and `timeout` say how any of them is asked. With functions and objects, `version` identifies what the
    source file does not show; `id_from` is the dotted path of a context's id."""
    if isinstance(spec, Path):
        spec = str(spec)
    if isinstance(spec, str) and spec.endswith(_SETTINGS_SUFFIXES):
        spec = _load_mapping(spec)
    options = {name: parameters.pop(name) for name in CALL_OPTIONS if name in parameters}
    if isinstance(spec, Mapping):
        options = {name: spec[name] for name in CALL_OPTIONS if name in spec} | options
        spec = {key: value for key, value in spec.items() if key not in CALL_OPTIONS}
        system = _from_mapping(spec, parameters)
    elif isinstance(spec, str):
        system = _from_text(spec, parameters)
    else:
        system = _from_object(spec, _build_qualified_name(spec), parameters)
    for name, value in options.items():
        _set_call_option(system, name, value)
    return system


def _set_call_option(system: System, name: str, value: Any) -> None:
    if name in system.parameters:
        raise RagstoneError(
            f"{name!r} is a parameter of the system and a setting of ragstone; for the parameter "
            f"write parameters: {{{name}: …}}"
        )
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if name == "timeout":
        fits, wanted = (is_whole or isinstance(value, float)) and value > 0, "seconds above 0"
    else:
        least = 0 if name == "warmup" else 1
        fits, wanted = is_whole and value >= least, f"a whole number from {least}"
    if not fits:
        raise RagstoneError(f"the system's {name} is {value!r}; give {wanted}")
    setattr(system, name, value)


def _load_mapping(path: str) -> Mapping[str, Any]:
    """Load the mapping of a system from a YAML file: the whole file, or its `system:`.

    A `system:` that is a text is a spec, as after `python:`; _from_text takes any spec there."""
    import yaml

    try:
        loaded = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as broken:
        raise RagstoneError(f"cannot read the system {path!r}: {broken}") from None
    inner = loaded.get("system") if isinstance(loaded, dict) else None
    mapping = loaded if inner is None else inner
    if isinstance(mapping, str):
        return {"python": mapping}
    if not isinstance(mapping, dict):
        raise RagstoneError(f"{path!r} describes no system; write url: or python: and its settings")
    return mapping


def _from_mapping(spec: Mapping[str, Any], parameters: Mapping[str, Any]) -> System:
    kinds = [kind for kind in SYSTEM_KINDS if kind in spec]
    if len(kinds) != 1:
        keys = ", ".join(map(str, spec)) or "nothing"
        raise RagstoneError(f"a system has one of {', '.join(SYSTEM_KINDS)}; found {keys}")
    (kind,) = kinds
    rest = {key: value for key, value in spec.items() if key != kind}
    values = {**(rest.pop("parameters", None) or {}), **parameters}
    if kind == "url":
        return _build_http(str(spec["url"]), values, rest)
    if kind == "command":
        return CommandSystem(spec["command"], parameters=values, **rest)
    if kind == "python":
        target = spec["python"]
        if isinstance(target, str):
            return _from_text(target, {**rest, **values})
        return _from_object(target, _build_qualified_name(target), {**rest, **values})
    if kind == "predictions":
        return _build_predictions(str(spec["predictions"]), {**rest, **values})
    return _build_pipeline(spec["pipeline"], {**rest, **values})


def _from_text(spec: str, parameters: dict[str, Any]) -> System:
    if spec == "pipeline" or spec.startswith("pipeline:"):
        return _build_pipeline(spec.partition(":")[2] or None, parameters)
    if spec.startswith(("http://", "https://")):
        return _build_http(spec, parameters, {})
    if spec.startswith("command:"):
        return CommandSystem(spec.removeprefix("command:"), parameters=parameters)
    if spec.startswith("openai:"):
        return _build_chat_server(spec.removeprefix("openai:"), parameters)
    # before the colon is looked for: a path of Windows has one, and `file.py:function` names no
    # existing file
    if spec.endswith(_PREDICTION_SUFFIXES) or Path(spec).is_file():
        return _build_predictions(spec, parameters)
    if ":" not in spec:
        raise RagstoneError(
            f"{spec!r} is no system; give pipeline, module:function, file.py:function, a URL, "
            "command:PROGRAM, a file of predictions or a YAML file"
        )
    module = spec.rpartition(":")[0]
    return _from_object(load_object(spec, "system"), spec, parameters, module)


def _build_http(url: str, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> System:
    """Build an HTTP system: parameters named in HTTP_OPTIONS become options, the others fill placeholders."""
    http_options = {name: value for name, value in parameters.items() if name in HTTP_OPTIONS}
    if isinstance(http_options.get("body"), str):  # from the command line
        http_options["body"] = _parse_body(http_options["body"])
    values = {name: value for name, value in parameters.items() if name not in http_options}
    return HttpSystem(url, parameters=values, **{**options, **http_options})


def _build_chat_server(model: str, parameters: Mapping[str, Any]) -> System:
    """Build the system behind an API of OpenAI's form: a model alone, or an assistant that retrieves by itself.

    `base_url`, `system` (the instruction) and `key_env` are settings; others go into the request, as `temperature`."""
    values = dict(parameters)
    url = str(values.pop("base_url", OPENAI_URL)).rstrip("/")
    instruction, key_env = values.pop("system", None), values.pop("key_env", None)
    if url == OPENAI_URL or key_env:
        values.setdefault(
            "headers", {"Authorization": f"Bearer ${{{key_env or 'OPENAI_API_KEY'}}}"}
        )
    options = {name: values.pop(name) for name in HTTP_OPTIONS if name in values}
    body: dict[str, Any] = {"model": model, "messages": "{messages}"}
    if instruction is not None:
        body["messages"] = [
            {"role": "system", "content": str(instruction)},
            {"role": "user", "content": "{question}"},
        ]
    body |= {name: f"{{{name}}}" for name in values}
    paths = {"answer": "choices.0.message.content", "tokens": "usage.total_tokens"}
    options = {"body": body, **paths, **options}
    return HttpSystem(f"{url}/chat/completions", parameters=values, **options)


def _parse_body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise RagstoneError(
            f'the body {text!r} is no JSON; write body={{"query": "{{question}}"}}'
        ) from None


def _from_object(
    target: Any, name: str, parameters: Mapping[str, Any], module: str | None = None
) -> System:
    """Build a system from a user's object; `module` is the module or file that it was loaded from, if by name."""
    options = dict(parameters)
    nested = options.pop("parameters", None)
    options |= nested if isinstance(nested, Mapping) else {}
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
        taken, attributes = _split_options(target, options)
        try:
            built = target(**taken)
        except TypeError as bad:
            raise RagstoneError(f"the system {name!r} cannot be made: {bad}") from None
        # the source of the factory stands for what it builds, together with the options it was
        # called with
        version = version or (
            hash_source(target) if isinstance(target, type) else hash_function(target)
        )
        # what a factory built may itself be a System, a framework's object or a function
        system = _from_object(
            built,
            name,
            {"version": version, "id_from": id_from, **_drop_unset(call_options), **attributes},
            module,
        )
        if isinstance(system, PythonSystem):
            system.add_parameters(taken)
        return system
    # elsewhere it may be a parameter of the system's own
    answer = options.pop("answer", None) if is_haystack_pipeline(target) else None
    adapted = adapt_framework(target, **call_options, answer=answer)
    if adapted is not None:
        _reject_options(options, name)
        framework, ask = adapted
        shown = name if module else f"{framework}:{type(target).__name__}"
        return PythonSystem(ask, shown, version=version or _hash_file(module), id_from=id_from)
    return _from_answerer(target, name, options, call_options, (version, id_from, module))


def _from_answerer(
    target: Any,
    name: str,
    options: Mapping[str, Any],
    call_options: Mapping[str, Any],
    origin: tuple[str | None, str | None, str | None],
) -> System:
    """Wrap a function, or an object with a method that answers; `origin` is version, id_from and module."""
    version, id_from, module = origin
    method, inputs = call_options["method"], call_options["inputs"]
    answer_with = None
    ask: Callable[..., Any] = target
    if inspect.isroutine(target):
        if method is not None:
            raise RagstoneError(f"the system {name!r} is a function; leave `method` out")
        attributes: dict[str, Any] = {}
    else:
        ask = choose_method(target) if method is None else get_method(target, str(method))
        options, others = _split_options(ask, options)
        attributes = {k: v for k, v in others.items() if _find_holder(target, k) is not None}
        options |= {key: value for key, value in others.items() if key not in attributes}
        target = _copy_with(target, attributes)
        ask = choose_method(target) if method is None else get_method(target, str(method))
        answer_with = getattr(target, "answer_with", None)
        # an object loaded by name is as its file builds it, so a hash of the file is its version;
        # by default PythonSystem would trust no version of an object
        version = version or _hash_file(module)
    if inputs is not None:
        template = {inputs: "{question}"} if isinstance(inputs, str) else inputs
        ask = ask_by_template(template, ask)
        version = version or _hash_file(module)
    system = PythonSystem(
        ask,
        name,
        parameters=options,
        version=version,
        id_from=id_from,
        answer_with=answer_with if callable(answer_with) else None,
    )
    system.add_parameters(attributes)
    return system


def _split_options(
    function: Callable[..., Any], options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that a function has parameters for, and the others."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin has no signature
        return dict(options), {}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(options), {}
    names = {parameter.name for parameter in parameters}
    taken = {key: value for key, value in options.items() if key in names}
    return taken, {key: value for key, value in options.items() if key not in names}


CONFIG_NAMES = ("config", "settings")


def _find_holder(target: Any, key: str) -> str | None:
    """Where an object keeps a setting: "" for itself, the attribute with its configuration, None for nowhere."""
    if hasattr(target, key) and not callable(getattr(target, key)):
        return ""
    for name in CONFIG_NAMES:
        config = getattr(target, name, None)
        if key in config if isinstance(config, Mapping) else hasattr(config, key):
            return name
    return None


def _copy_with(target: Any, values: Mapping[str, Any]) -> Any:
    """A copy of an object with other settings: the user's own stays as it is, and configurations do not meet."""
    for key, value in values.items():
        holder = _find_holder(target, key)
        if holder:
            changed = _copy_with_value(getattr(target, holder), key, value)
            target = _copy_with_value(target, holder, changed)
        else:
            target = _copy_with_value(target, key, value)
    return target


def _copy_with_value(target: Any, key: str, value: Any) -> Any:
    if isinstance(target, Mapping):
        return {**target, key: value}
    if is_dataclass(target) and any(field.name == key for field in fields(target)):
        return replace(target, **{key: value})  # type: ignore[type-var]
    copied = copy(target)
    setattr(copied, key, value)
    return copied


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


def _hash_file(module: str | None) -> str:
    """Hash the file that an object was loaded from; without one its version is unknown, so replies are not reused."""
    if module is None:
        return make_process_version()
    path = Path(module)
    if not module.endswith(".py"):
        path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if not path.is_file():
        return make_process_version()
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _reject_options(options: Mapping[str, Any], name: str) -> None:
    for key in options:  # the first, if any
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

    # `pipeline:` and `pipeline: true` in a config mean the default documents
    if documents is not None and documents is not True:
        parameters = {"documents": documents, **parameters}
    return Pipeline(**parameters)
