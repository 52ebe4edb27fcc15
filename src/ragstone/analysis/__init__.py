"""What a run's scores add up to."""

from ragstone.analysis.labels import LabelRate, label_rates
from ragstone.analysis.summary import MetricSummary, ScoredRun, Summary, summarise
from ragstone.config.gates import GateResult

__all__ = [
    "GateResult",
    "LabelRate",
    "MetricSummary",
    "ScoredRun",
    "Summary",
    "label_rates",
    "summarise",
]
