"""Dialects: the HTTP APIs of vendors, one class in one file each.

Every module of this package is imported, so that a new dialect is a new file here and nothing else."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ragstone.judges.dialects.dialect import DIALECTS as DIALECTS
from ragstone.judges.dialects.dialect import CompletionReply as CompletionReply
from ragstone.judges.dialects.dialect import Dialect as Dialect
from ragstone.judges.dialects.dialect import OutputMode as OutputMode
from ragstone.judges.dialects.dialect import Parameters as Parameters
from ragstone.judges.dialects.dialect import UnknownDialect as UnknownDialect
from ragstone.judges.dialects.dialect import find_dialect as find_dialect
from ragstone.judges.dialects.dialect import register_dialect as register_dialect

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def collect_key_variables() -> dict[str, tuple[str, ...]]:
    """Return host → environment variables that may hold its key, of all dialects."""
    return {
        host: names
        for dialect in DIALECTS.values()
        for host, names in dialect.key_variables.items()
    }
