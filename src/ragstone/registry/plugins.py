"""Loading of user code by name: `module:function`, `file.py:function` or a dotted import path."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ragstone.errors import RagstoneError


class LoadError(RagstoneError):
    """The named object does not exist or its module cannot be imported."""


def load_object(name: str, role: str) -> Any:
    """Load the object of a name; `role` is its kind for error messages ("metric", "judge")."""
    location, _, attribute = name.rpartition(":") if ":" in name else name.rpartition(".")
    if not location or not attribute:
        raise LoadError(f"{name!r} does not name a {role}; write module:name or file.py:name")
    module = (
        _load_file(location, role)
        if location.endswith(".py")
        else _import_module(location, name, role)
    )
    target: Any = module
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise LoadError(f"{location!r} has no {attribute!r}, wanted as a {role}")
        target = getattr(target, part)
    return target


def _import_module(module: str, name: str, role: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:  # as `python -m` does: a user's module lies beside the config
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise LoadError(
            f"cannot import {error.name!r} for the {role} {name!r}; "
            "run in its folder, or write file.py:name"
        ) from None
    except Exception as error:
        raise LoadError(
            f"importing {module!r} for the {role} {name!r} raised {type(error).__name__}: {error}"
        ) from error


def _load_file(file: str, role: str) -> ModuleType:
    path = Path(file).resolve()
    if not path.is_file():
        raise LoadError(f"there is no file {file!r} to load the {role} from")
    # a prefix, so that a file called `json.py` hides no module
    name = f"ragstone_user_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{file!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # before it runs: dataclasses and pickles of its own look their module up by name
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        # else the next attempt would find half a module
        del sys.modules[name]
        raise LoadError(
            f"running {file!r} for the {role} raised {type(error).__name__}: {error}"
        ) from error
    return module
