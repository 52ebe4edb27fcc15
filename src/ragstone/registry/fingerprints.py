"""Fingerprints of a user's code: a hash that changes with the code, its settings, or anything it refers to.

Taken from the code objects that run, not from files that may have been edited since. What cannot be compared (a
connection, a client of some service) has no fingerprint, and neither has a function that refers to it: such a function
gets one by stating it, `judge.identity = "my-model v3"`."""

from __future__ import annotations

import functools
import hashlib
import importlib
import logging
import re
import sys
import sysconfig
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path, PurePath
from secrets import token_hex
from typing import Any

from ragstone._version import __version__

UNPROVEN = "unproven "
"""Begins the fingerprint of what cannot be compared; a random number follows, so that it equals no other."""

_PACKAGE = f"{Path(__file__).parents[1]}/"
_INSTALLED = tuple(
    sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class _CannotCompare(Exception):
    """A value without a fingerprint."""


def fingerprint(value: Any) -> str:
    """Return the hash of a function, class, object or plain value; `UNPROVEN` and a random number where there is none."""
    stated = getattr(value, "identity", None)
    if isinstance(stated, str):
        return f"stated {stated}"
    try:
        described = repr(_describe(value, {}))
    except _CannotCompare:
        return UNPROVEN + token_hex(8)
    return hashlib.sha256(described.encode("utf-8", "backslashreplace")).hexdigest()


def is_ours(function: Any) -> bool:
    """Whether a function is the package's own code, wrapped around nobody else's."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(_PACKAGE) and not function.__closure__


def _describe(value: Any, seen: dict[int, int]) -> Any:
    """What a value is, as nested tuples of plain values; `seen` ends circles."""
    if type(value) in _PLAIN:
        return repr(value)
    if id(value) in seen:
        return ("seen", seen[id(value)])
    seen[id(value)] = len(seen)
    if isinstance(value, types.FunctionType):
        return _describe_function(value, seen)
    if isinstance(value, types.CodeType):
        return _describe_code(value, seen)
    if isinstance(value, types.ModuleType):
        return _describe_module(value, seen)
    if isinstance(value, type):
        return _describe_class(value, seen)
    if isinstance(value, list | tuple):
        return (type(value).__name__, *(_describe(item, seen) for item in value))
    if isinstance(value, set | frozenset):
        return (type(value).__name__, *sorted(repr(_describe(item, {})) for item in value))
    if isinstance(value, Mapping):
        items = ((_describe(key, seen), _describe(item, seen)) for key, item in value.items())
        return (type(value).__name__, *items)
    return _describe_object(value, seen)


def _describe_function(function: types.FunctionType, seen: dict[int, int]) -> Any:
    code = function.__code__
    cells = [_read_cell(cell, seen) for cell in function.__closure__ or ()]
    own = (function.__defaults__, function.__kwdefaults__, getattr(function, "__wrapped__", None))
    parts = (*cells, _describe(own, seen))
    if _is_installed(code.co_filename):
        return ("installed", _name(function), *parts)
    read = [
        (name, _describe(function.__globals__[name], seen))
        for name in sorted(_list_names(code))
        if name in function.__globals__
    ]
    return ("function", _describe(code, seen), *parts, *read)


def _read_cell(cell: types.CellType, seen: dict[int, int]) -> Any:
    try:
        return _describe(cell.cell_contents, seen)
    except ValueError:  # a variable that is not set yet
        return "empty"


def _describe_code(code: types.CodeType, seen: dict[int, int]) -> Any:
    constants = (_describe(item, seen) for item in code.co_consts)
    names = (*code.co_names, *code.co_varnames, *code.co_freevars)
    return ("code", sys.version_info[:2], code.co_code.hex(), code.co_flags, names, *constants)


def _list_names(code: types.CodeType) -> set[str]:
    inner = (_list_names(item) for item in code.co_consts if isinstance(item, types.CodeType))
    return set(code.co_names).union(*inner)


def _describe_module(module: types.ModuleType, seen: dict[int, int]) -> Any:
    file = getattr(module, "__file__", None)
    if file is None or _is_installed(file):
        return ("installed", module.__name__, _find_version(module.__name__))
    contents = sorted(
        (name, item) for name, item in vars(module).items() if not name.startswith("__")
    )
    return ("module", *((name, _describe(item, seen)) for name, item in contents))


def _describe_class(cls: type, seen: dict[int, int]) -> Any:
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if cls.__module__ != "__main__" and (file is None or _is_installed(file)):
        return ("installed", _name(cls))
    skipped = ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__")
    members = ((n, m) for n, m in sorted(vars(cls).items()) if n not in skipped)
    described = ((name, _describe(_unwrap(member), seen)) for name, member in members)
    return ("class", _name(cls), *(_describe(base, seen) for base in cls.__bases__), *described)


def _unwrap(member: Any) -> Any:
    if isinstance(member, staticmethod | classmethod):
        return member.__func__
    if isinstance(member, property):
        return (member.fget, member.fset)
    if isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
        return member.__name__
    return member


def _describe_object(value: Any, seen: dict[int, int]) -> Any:
    if isinstance(value, types.BuiltinFunctionType | types.MethodType):
        bound = value.__self__
        called = value.__func__ if isinstance(value, types.MethodType) else _name(value)
        return ("method", _describe((bound, called), seen))
    if isinstance(value, functools.partial):
        return ("partial", _describe((value.func, value.args, value.keywords), seen))
    if isinstance(value, functools._lru_cache_wrapper):
        return ("cached", _describe(value.__wrapped__, seen))
    if isinstance(value, re.Pattern | PurePath | Enum):
        return (type(value).__name__, repr(value))
    if isinstance(value, logging.Logger):  # it changes no result
        return ("logger", value.name)
    described = _describe_class(type(value), seen)
    if described[0] == "installed":
        raise _CannotCompare(_name(type(value)))
    slots = [n for cls in type(value).__mro__ for n in _to_names(vars(cls).get("__slots__", ()))]
    state = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return ("object", described, _describe({**state, **getattr(value, "__dict__", {})}, seen))


def _to_names(slots: str | Iterable[str]) -> list[str]:
    names = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _is_installed(file: str) -> bool:
    return file.startswith((_PACKAGE, "<frozen", *_INSTALLED))


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None) or ""
    return f"{module}.{getattr(value, '__qualname__', '')} {_find_version(module)}"


def _find_version(module: str) -> str:
    root = module.partition(".")[0]
    if root == "ragstone":
        return __version__
    return str(getattr(sys.modules.get(root) or importlib.import_module(root), "__version__", ""))
