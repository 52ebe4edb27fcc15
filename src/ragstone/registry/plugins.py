"""A user's own code by name: `module:function`, `file.py:function` or a dotted import path."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ragstone.errors import RagstoneError


class LoadError(RagstoneError):
    """The named code is not there or does not import."""


def load_object(name: str, what: str) -> Any:
    """The object that a name points at; `what` is the word for it in an error ("metric", "judge")."""
    place, _, attribute = name.rpartition(":") if ":" in name else name.rpartition(".")
    if not place or not attribute:
        raise LoadError(f"{name!r} does not name a {what}; write module:name or file.py:name")
    module = _load_file(place, what) if place.endswith(".py") else _import_module(place, name, what)
    target: Any = module
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise LoadError(f"{place!r} has no {attribute!r}, wanted as a {what}")
        target = getattr(target, part)
    return target


def _import_module(place: str, name: str, what: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m` does: a user's file stands beside the config
        sys.path.insert(0, here)
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as missing:
        raise LoadError(
            f"cannot import {missing.name!r} for the {what} {name!r}; "
            "run in its folder, or write file.py:name"
        ) from None
    except Exception as broken:
        raise LoadError(
            f"importing {place!r} for the {what} {name!r} raised {type(broken).__name__}: {broken}"
        ) from broken


def _load_file(place: str, what: str) -> ModuleType:
    path = Path(place).resolve()
    if not path.is_file():
        raise LoadError(f"there is no file {place!r} to load the {what} from")
    name = f"ragstone_user_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{place!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as broken:
        del sys.modules[name]
        raise LoadError(
            f"running {place!r} for the {what} raised {type(broken).__name__}: {broken}"
        ) from broken
    return module
