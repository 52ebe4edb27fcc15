"""The scales of a run's judge: what conclusions on its judged metrics rest on."""

from __future__ import annotations

from typing import Any

from ragstone.analysis.classes import Scales
from ragstone.store import load_scales


def find_scales(run: Any) -> Scales:
    """The scales of the judge that scored a run, by language and metric; empty for a judge that was never measured."""
    return load_scales(run.store, run.info.facts.judge_identity)
