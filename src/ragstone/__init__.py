"""ragstone tells you how good your RAG system is.

    from ragstone import evaluate
    run = evaluate("answers.jsonl", metrics=["recall@5", "token_f1"])
    print(run)

Names are imported when they are first used, so that `import ragstone` costs next to nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ragstone import display
from ragstone._version import __version__

if TYPE_CHECKING:
    from ragstone.data import read
    from ragstone.errors import JudgeFailed, MissingField, NotApplicable, RagstoneError
    from ragstone.experiments.ablate import ablate
    from ragstone.experiments.bench import bench
    from ragstone.experiments.run import Run, aevaluate, evaluate
    from ragstone.integrations.guard import Guard, guard
    from ragstone.monitor import Monitor
    from ragstone.rankings import score_rankings
    from ragstone.registry import metric
    from ragstone.report.plot import plot
    from ragstone.store import Store
    from ragstone.testset.sets import generate
    from ragstone.types import Chunk, Finding, Ranked, Sample, Score, Usage

_HOMES = {
    "Chunk": "ragstone.types",
    "Finding": "ragstone.types",
    "Guard": "ragstone.integrations.guard",
    "JudgeFailed": "ragstone.errors",
    "MissingField": "ragstone.errors",
    "Monitor": "ragstone.monitor",
    "NotApplicable": "ragstone.errors",
    "RagstoneError": "ragstone.errors",
    "Ranked": "ragstone.types",
    "Run": "ragstone.experiments.run",
    "Sample": "ragstone.types",
    "Score": "ragstone.types",
    "Store": "ragstone.store",
    "Usage": "ragstone.types",
    "ablate": "ragstone.experiments.ablate",
    "aevaluate": "ragstone.experiments.run",
    "bench": "ragstone.experiments.bench",
    "evaluate": "ragstone.experiments.run",
    "generate": "ragstone.testset.sets",
    "guard": "ragstone.integrations.guard",
    "metric": "ragstone.registry",
    "plot": "ragstone.report.plot",
    "read": "ragstone.data",
    "score_rankings": "ragstone.rankings",
}

__all__ = [
    "Chunk",
    "Finding",
    "Guard",
    "JudgeFailed",
    "MissingField",
    "Monitor",
    "NotApplicable",
    "RagstoneError",
    "Ranked",
    "Run",
    "Sample",
    "Score",
    "Store",
    "Usage",
    "__version__",
    "ablate",
    "aevaluate",
    "bench",
    "evaluate",
    "generate",
    "guard",
    "metric",
    "plot",
    "read",
    "score_rankings",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


# results know nothing of reports; what shows them is loaded when one is shown
display.register(
    text=lambda result: str(import_module("ragstone.report").to_text(result)),
    html=lambda result: str(import_module("ragstone.report").to_cell(result)),
)
