"""The scales of a run's judge: what conclusions on its judged metrics rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ragstone.analysis.classes import Scales
from ragstone.store import load_scales

if TYPE_CHECKING:
    from ragstone.store import RunInfo, Store


class JudgedRun(Protocol):
    """What is read of a run to find its judge's scales."""

    @property
    def info(self) -> RunInfo: ...
    @property
    def store(self) -> Store: ...


def find_scales(run: JudgedRun) -> Scales:
    """The scales of the judge that scored a run, by language and metric; empty for a judge that was never measured."""
    return load_scales(run.store, run.info.facts.judge_identity)
